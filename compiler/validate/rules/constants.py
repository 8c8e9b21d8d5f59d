"""Constants of optimizer, network and adapter must be numbers that can be computed with, and that leave something to learn."""

import struct
from collections.abc import Iterator

from compiler.diagnostics import Diagnostic
from compiler.source import Path, SourceTree
from compiler.spec import Spec
from compiler.spec.train import Finetune, Optimizer, Training
from compiler.validate.rules.registry import Rules
from compiler.validate.rules.train import trainings
from compiler.wording import Said, said

RULES = Rules()

_LARGEST_FLOAT32 = (2 - 2**-23) * 2.0**127
_LARGEST_FLOAT16, _SMALLEST_FLOAT16 = 65504.0, 2.0**-24
_SMALLEST_FLOAT32 = 2.0**-126  # smaller ones are flushed to zero


@RULES.needing()
def float32_holds_the_numbers(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    for stage, training in trainings(spec):
        for path, value, below in _in_float32(training):
            if fault := _lost(value, below):
                yield Diagnostic(
                    "MS0391",
                    said(f"{value} {fault} in float32", f"{value} 在 float32 中{fault.zh}"),
                    path=(stage, *path),
                    reason=said(
                        "the optimizer computes in float32: it would divide by zero, learn nothing, or end in NaN",
                        "优化器以 float32 计算：会除以零、学不到东西，或得到 NaN",
                    ),
                    fix=said("choose a value between 1.0e-37 and 1.0e+38", "在 1.0e-37 与 1.0e+38 之间选取")
                    if below is None
                    else said("choose a smaller value, such as 0.999", "取更小的值，例如 0.999"),
                )


def _in_float32(training: Training) -> Iterator[tuple[Path, float, float | None]]:
    """Path, value and the bound that the value must stay below after rounding."""
    optimizer, schedule = training.optimizer, training.schedule
    for name in ("eps", "weight_decay", "clip_norm"):
        yield ("optimizer", name), getattr(optimizer, name), None
    for name in ("peak", "final"):
        yield ("schedule", name), getattr(schedule, name), None
    for index, beta in enumerate(optimizer.betas):
        yield ("optimizer", "betas", index), beta, 1.0
    lora = training.lora if isinstance(training, Finetune) else None
    if lora is not None:
        yield ("lora", "alpha"), lora.alpha, None
        yield ("lora", "dropout"), lora.dropout, 1.0


def _lost(value: float, below: float | None) -> Said | None:
    """What float32 makes of a number that it cannot hold."""
    if abs(value) > _LARGEST_FLOAT32:
        return said("is infinite", "是无穷大")
    if value and abs(value) < _SMALLEST_FLOAT32:
        return said("is 0", "等于 0")
    rounded: float = struct.unpack("f", struct.pack("f", value))[0]
    return said(f"is {rounded}", f"等于 {rounded}") if below is not None and rounded >= below else None


@RULES.needing("finetune", "model")
def float16_holds_the_scale_of_the_adapter(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    """mindformers computes alpha / rank in the type of matrix products."""
    lora = spec.finetune.lora
    if lora is None or spec.model.dtype.compute != "float16":
        return
    scale = lora.alpha / lora.rank
    if not _SMALLEST_FLOAT16 <= scale <= _LARGEST_FLOAT16:
        fault = said("is infinite", "是无穷大") if scale > 1 else said("is 0", "等于 0")
        yield Diagnostic(
            "MS0391",
            said(
                f"alpha / rank = {lora.alpha:g} / {lora.rank} {fault} in float16",
                f"alpha / rank = {lora.alpha:g} / {lora.rank} 在 float16 中{fault.zh}",
            ),
            path=("finetune", "lora", "alpha"),
            reason=said(
                "the adapter would turn every answer into NaN, or never be added",
                "适配器会使所有结果变成 NaN，或从不叠加",
            ),
            fix=said(f"alpha is usually one or two times the rank: {2 * lora.rank}", f"alpha 通常为 rank 的一到两倍：{2 * lora.rank}"),
            suggestion=str(2 * lora.rank),
        )


@RULES.needing("model")
def float32_holds_the_network(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    for name in ("norm_eps", "rope_theta"):
        value = getattr(spec.model, name)
        if fault := _lost(value, None):
            yield Diagnostic(
                "MS0391",
                said(f"{value} {fault} in float32", f"{value} 在 float32 中{fault.zh}"),
                path=("model", name),
                reason=said("the network would compute NaN from its first row on", "网络从第一条样本起就会算出 NaN"),
                fix=said("the usual values are norm_eps 1.0e-6 and rope_theta 10000.0", "常用值为 norm_eps 1.0e-6、rope_theta 10000.0"),
            )


@RULES.needing()
def decay_leaves_the_weights(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    for stage, training in trainings(spec):
        peak, decay = training.schedule.peak, training.optimizer.weight_decay
        if peak * decay >= 1 > peak:
            yield Diagnostic(
                "MS0398",
                said(
                    f"peak x weight_decay = {peak} x {decay} = {peak * decay:.3g}",
                    f"peak x weight_decay = {peak} x {decay} = {peak * decay:.3g}",
                ),
                path=(stage, "optimizer", "weight_decay"),
                reason=said(
                    "an update multiplies each weight by 1 minus this product: at 1 every weight is erased, above 1 it changes its sign",
                    "每次更新先把权重乘以 1 减去该乘积：等于 1 时全部清零，大于 1 时正负翻转",
                ),
                fix=said("choose a weight decay between 0 and 0.1", "权重衰减在 0 与 0.1 之间选取"),
            )


@RULES.needing()
def constants_are_usual(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    for stage, training in trainings(spec):
        for path, message, reason, fix in _unusual(training.optimizer, training.schedule.peak):
            yield Diagnostic("MS0356", message, path=(stage, "optimizer", *path), reason=reason, fix=fix, severity="warning")


def _unusual(optimizer: Optimizer, peak: float) -> Iterator[tuple[Path, Said, Said, Said]]:
    """Path, message, reason and fix of each constant that is likely a slip."""
    first, second = optimizer.betas
    if first > second:
        yield (
            ("betas",),
            said(f"the first moment remembers longer than the second: {first} > {second}", f"一阶矩的衰减率大于二阶矩：{first} > {second}"),
            said(
                "Adam then divides a long average by a short one and can diverge; the two were likely written in the wrong order",
                "此时 Adam 用短期平均去除长期平均，可能发散；两者很可能写反了",
            ),
            said(f"write [{second}, {first}]", f"写成 [{second}, {first}]"),
        )
    if optimizer.weight_decay > 1 > peak * optimizer.weight_decay:
        yield (
            ("weight_decay",),
            said(f"{optimizer.weight_decay} is far above the usual 0 to 0.1", f"{optimizer.weight_decay} 远高于常用的 0 到 0.1"),
            said("the weights shrink faster than they learn, and the loss settles high", "权重收缩快于学习，损失停在高位"),
            said("choose a weight decay between 0 and 0.1", "权重衰减在 0 与 0.1 之间选取"),
        )
    if optimizer.eps > 1.0e-3:
        yield (
            ("eps",),
            said(f"{optimizer.eps} is far above the usual 1.0e-8", f"{optimizer.eps} 远高于常用的 1.0e-8"),
            said(
                "it exceeds the second moment of most weights: Adam turns into plain descent at a tiny rate",
                "它超过大多数权重的二阶矩：Adam 退化为学习率极小的普通梯度下降",
            ),
            said("choose 1.0e-8; the minus sign of the exponent may be missing", "取 1.0e-8；可能漏写了指数的负号"),
        )
    if optimizer.clip_norm < 0.01:
        yield (
            ("clip_norm",),
            said(f"{optimizer.clip_norm} is far below the usual 1.0", f"{optimizer.clip_norm} 远低于常用的 1.0"),
            said(
                "every gradient is cut to this length, also those that are sound; its entries come close to eps, and the updates vanish",
                "每个梯度都会被裁剪到这个长度，正常的也不例外；其分量接近 eps，更新几乎消失",
            ),
            said("choose 1.0", "取 1.0"),
        )


@RULES.needing("model")
def network_constants_are_usual(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    eps, theta = spec.model.norm_eps, spec.model.rope_theta
    if 1.0e-3 < eps <= _LARGEST_FLOAT32:
        yield Diagnostic(
            "MS0356",
            said(f"{eps} is far above the usual 1.0e-6", f"{eps} 远高于常用的 1.0e-6"),
            path=("model", "norm_eps"),
            reason=said(
                "it hides the variance that a norm divides by: activations fade from layer to layer",
                "它掩盖了归一化所除的方差：激活值逐层衰减",
            ),
            fix=said("choose 1.0e-6 or 1.0e-5; the minus sign of the exponent may be missing", "取 1.0e-6 或 1.0e-5；可能漏写了指数的负号"),
            severity="warning",
        )
    if _SMALLEST_FLOAT32 <= theta < 1000:
        yield Diagnostic(
            "MS0356",
            said(f"{theta} is far below the usual 10000.0", f"{theta} 远低于常用的 10000.0"),
            path=("model", "rope_theta"),
            reason=said("positions turn so fast that far tokens look like near ones", "位置旋转过快，远处的词元看起来与近处的无异"),
            fix=said("choose 10000.0, or the value of the published model", "取 10000.0，或公开模型的值"),
            severity="warning",
        )


@RULES.needing("finetune")
def most_of_the_input_is_kept(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    dropout = spec.finetune.lora.dropout if spec.finetune.lora else 0.0
    if dropout > 0.5:
        yield Diagnostic(
            "MS0356",
            said(f"{dropout:.0%} of what enters an adapter is dropped", f"进入适配器的输入有 {dropout:.0%} 被丢弃"),
            path=("finetune", "lora", "dropout"),
            reason=said("what is left is mostly noise: the adapter learns little", "剩下的多半是噪声：适配器学不到什么"),
            fix=said("choose 0.0 to 0.1; it is the share that is dropped, not kept", "取 0.0 到 0.1；这是丢弃的比例，而非保留的比例"),
            severity="warning",
        )
