"""A training must make its updates and keep its checkpoints."""

from collections.abc import Iterator
from typing import Literal

from compiler.diagnostics import Diagnostic
from compiler.planning.architecture import architecture
from compiler.planning.shape import counted
from compiler.source import SourceTree
from compiler.spec import Spec
from compiler.spec.train import Training
from compiler.validate.rules.registry import Rules
from compiler.wording import said

RULES = Rules()

_SAVED_VALUE = 3 * 4  # bytes: a float32 weight and Adam's two moments
_MANY_SAVES = 10
_MUCH_DISK = 10e9  # bytes

Stage = Literal["pretrain", "finetune"]
_STAGES: tuple[Stage, Stage] = ("pretrain", "finetune")


def trainings(spec: Spec) -> Iterator[tuple[Stage, Training]]:
    """The training sections that are sound."""
    for stage in _STAGES:
        if stage in spec.model_fields_set:
            yield stage, getattr(spec, stage)


@RULES.needing()
def two_checkpoints(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    for stage, training in trainings(spec):
        if training.checkpoint.keep < 2:
            yield Diagnostic(
                "MS0345",
                said("at least 2 must be kept", "至少要保留 2 个"),
                path=(stage, "checkpoint", "keep"),
                reason=said(
                    "the oldest is deleted before the next is written: a kill in between would leave none",
                    "写入新检查点之前会先删除最旧的：若恰在其间被终止，将一个不剩",
                ),
                fix=said("write 2 or more", "写 2 或更大的值"),
                suggestion="2",
            )


@RULES.needing()
def some_checkpoint(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    for stage, training in trainings(spec):
        every, steps = training.checkpoint.every, training.steps
        if every > steps:
            yield Diagnostic(
                "MS0346",
                said(
                    f"a save every {counted(every, 'step')}, but {counted(steps, 'step')} in all",
                    f"每 {every} 步保存一次，但总共只有 {steps} 步",
                ),
                path=(stage, "checkpoint", "every"),
                reason=said("nothing would be saved before the end", "训练结束之前什么也不会保存"),
                fix=said(f"choose at most {steps}", f"最大取 {steps}"),
            )


@RULES.needing("model", "tokenizer")
def checkpoints_leave_room(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    for stage, training in trainings(spec):
        saves = min(training.checkpoint.keep, training.steps // training.checkpoint.every)
        size = saves * architecture(spec).parameters * _SAVED_VALUE
        if saves > _MANY_SAVES and size > _MUCH_DISK:
            yield Diagnostic(
                "MS0395",
                said(
                    f"{saves} checkpoints are kept, about {size / 1e9:.0f} GB while training",
                    f"训练期间保留 {saves} 个检查点，约占 {size / 1e9:.0f} GB",
                ),
                path=(stage, "checkpoint", "keep"),
                reason=said(
                    "a full disk ends the training in the middle of a save; the stage itself keeps only its last weights",
                    "磁盘写满会使训练在保存中途终止；而阶段的结果只包含最后的权重",
                ),
                fix=said("keep 2 or 3, or save less often", "保留 2 到 3 个，或加大保存间隔"),
                suggestion="2",
                severity="warning",
            )
