"""The learning rate must rise to a peak that trains, and come down again."""

from collections.abc import Iterator

from compiler.diagnostics import Diagnostic
from compiler.planning.shape import counted
from compiler.source import SourceTree
from compiler.spec import Spec
from compiler.spec.train import Finetune, Training
from compiler.validate.rules.registry import Rules
from compiler.validate.rules.train import trainings
from compiler.wording import said

RULES = Rules()

_IMPOSSIBLE = 1.0
_UNUSUAL = 0.05
# A fresh network takes a full step of Adam badly; adapters start at a sum of zero and take more.
_SUDDEN = {"pretrain": 1.0e-4, "finetune": 2.0e-3}
_LOWEST_FRESH = 1.0e-5
_LOWEST_ADAPTER = 5.0e-5


@RULES.needing()
def warm_up_ends(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    for stage, training in trainings(spec):
        warmup, steps = training.schedule.warmup_steps, training.steps
        if warmup > steps:
            tenth = max(1, steps // 10)
            yield Diagnostic(
                "MS0341",
                said(
                    f"{counted(warmup, 'step')} of warm-up, but {counted(steps, 'step')} in all", f"预热 {warmup} 步，但总共只有 {steps} 步"
                ),
                path=(stage, "schedule", "warmup_steps"),
                reason=said(
                    "the learning rate would never reach its peak; the loss falls slowly and nothing says why",
                    "学习率永远到不了峰值；损失下降缓慢，却没有任何提示",
                ),
                fix=said(
                    f"choose at most {steps}; a tenth of the steps is usual: {tenth}", f"最大取 {steps}；通常取总步数的十分之一：{tenth}"
                ),
            )


@RULES.needing()
def rate_is_positive(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    for stage, training in trainings(spec):
        for field, value in (("peak", training.schedule.peak), ("final", training.schedule.final)):
            if value < 0 or (field == "peak" and value == 0):
                yield Diagnostic(
                    "MS0342",
                    said(f"{value} is not above 0", f"{value} 不大于 0")
                    if field == "peak"
                    else said(f"{value} is not at least 0", f"{value} 小于 0"),
                    path=(stage, "schedule", field),
                    reason=said(
                        "a negative rate climbs the loss and a zero one learns nothing; mindformers takes both",
                        "负的学习率会使损失上升，零则什么也学不到；mindformers 对两者都照单全收",
                    ),
                    fix=said("choose a positive rate such as 1.0e-3", "取正的学习率，例如 1.0e-3"),
                )


@RULES.needing()
def rate_decays(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    for stage, training in trainings(spec):
        schedule = training.schedule
        if schedule.final > schedule.peak > 0:
            yield Diagnostic(
                "MS0343",
                said(
                    f"the final rate {schedule.final} is above the peak {schedule.peak}",
                    f"最终学习率 {schedule.final} 高于峰值 {schedule.peak}",
                ),
                path=(stage, "schedule", "final"),
                reason=said("the rate would rise until the end of training", "学习率会一直上升到训练结束"),
                fix=said("choose a final rate of at most the peak; a tenth of it is usual", "最终学习率不得高于峰值；通常取峰值的十分之一"),
            )


@RULES.needing()
def rate_is_not_huge(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    for stage, training in trainings(spec):
        peak = training.schedule.peak
        if peak >= _UNUSUAL:
            certain = peak >= _IMPOSSIBLE
            yield Diagnostic(
                "MS0344",
                said(f"{peak} is far above any rate that AdamW learns with", f"{peak} 远高于 AdamW 能够学习的学习率"),
                path=(stage, "schedule", "peak"),
                reason=said("the loss becomes NaN within a few steps", "几步之内损失就会变成 NaN")
                if certain
                else said("the loss jumps, or stays where it is from the first steps on", "损失会剧烈跳动，或从最初几步起就停滞不降"),
                fix=said(
                    "choose a rate between 1.0e-5 and 1.0e-2; the minus sign of the exponent may be missing",
                    "在 1.0e-5 与 1.0e-2 之间选取；可能漏写了指数的负号",
                ),
                severity="error" if certain else "warning",
            )


@RULES.needing()
def rate_is_not_tiny(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    for stage, training in trainings(spec):
        peak, adapter = training.schedule.peak, _adapter(training)
        if 0 < peak < (_LOWEST_ADAPTER if adapter else _LOWEST_FRESH):
            yield Diagnostic(
                "MS0358",
                said(f"{peak} is a rate for whole networks, too low for adapters", f"{peak} 是训练全部权重的学习率，对适配器太低")
                if adapter
                else said(f"{peak} is too low for fresh weights", f"{peak} 对随机初始化的权重太低"),
                path=(stage, "schedule", "peak"),
                reason=said(
                    "B starts at zero and has few numbers to move: after hundreds of steps the answers are still those of the base",
                    "B 从零开始且参数很少：训练数百步之后，回答仍与基座相同",
                )
                if adapter
                else said(
                    "the loss barely moves: most of the training only looks like one", "损失几乎不动：训练看似在进行，实际上没有学到东西"
                ),
                fix=said("LoRA usually takes 1.0e-4 to 5.0e-3", "LoRA 通常取 1.0e-4 到 5.0e-3")
                if adapter
                else said("pre-training usually takes 1.0e-4 to 3.0e-3", "预训练通常取 1.0e-4 到 3.0e-3"),
                severity="warning",
            )


def _adapter(training: Training) -> bool:
    return isinstance(training, Finetune) and training.method == "lora"


@RULES.needing()
def rate_rises_slowly(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    for stage, training in trainings(spec):
        schedule = training.schedule
        if schedule.warmup_steps == 0 and _SUDDEN[stage] < schedule.peak < _IMPOSSIBLE:
            yield Diagnostic(
                "MS0354",
                said(f"the first update already uses the peak {schedule.peak}", f"第一次更新就使用峰值学习率 {schedule.peak}"),
                path=(stage, "schedule", "warmup_steps"),
                reason=said(
                    "Adam's moments are not yet estimates of anything: the loss may jump in the first steps and never come down as far",
                    "此时 Adam 的一阶、二阶矩尚无意义：最初几步损失可能跳升，之后再也降不到应有的水平",
                ),
                fix=said(
                    f"warm up for a tenth of the steps, or a few hundred: {_warm_up(training.steps)}",
                    f"预热总步数的十分之一，或数百步：{_warm_up(training.steps)}",
                ),
                suggestion=str(_warm_up(training.steps)),
                severity="warning",
            )


@RULES.needing()
def rate_has_time_to_fall(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    for stage, training in trainings(spec):
        warmup, steps = training.schedule.warmup_steps, training.steps
        if steps / 2 < warmup <= steps:
            left = steps - warmup
            yield Diagnostic(
                "MS0355",
                said(
                    f"{warmup} of {steps} steps are warm-up; {left} are left to come down in",
                    f"{steps} 步中有 {warmup} 步是预热，只剩 {left} 步用于衰减",
                ),
                path=(stage, "schedule", "warmup_steps"),
                reason=said(
                    "the loss falls most while the rate comes down; most of these updates are smaller than they could be",
                    "损失主要在学习率下降阶段降低；这样大部分更新都小于应有的幅度",
                )
                if left
                else said(
                    "the peak would come one step after the last one, and the loss falls most while the rate comes down from it",
                    "峰值要在最后一步之后才会到达，而损失主要在学习率从峰值下降时降低",
                ),
                fix=said(f"a tenth of the steps is usual: {_warm_up(steps)}", f"通常取总步数的十分之一：{_warm_up(steps)}"),
                suggestion=str(_warm_up(steps)),
                severity="warning",
            )


def _warm_up(steps: int) -> int:
    return max(1, min(steps // 10, 500))
