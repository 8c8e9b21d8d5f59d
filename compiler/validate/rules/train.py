"""Training must reach its peak, keep its checkpoints and train something."""

import struct
from collections.abc import Iterator
from typing import Literal

from compiler.diagnostics import Diagnostic
from compiler.families import CELLS
from compiler.source import Path, SourceTree
from compiler.spec import Spec
from compiler.spec.train import Finetune, Training
from compiler.validate import suggest
from compiler.validate.rules.registry import Rules

RULES = Rules()

_LARGEST_RATE = 1.0
_LARGEST_FLOAT32 = (2 - 2**-23) * 2.0**127
_SMALLEST_FLOAT32 = 2.0**-126  # smaller ones are flushed to zero

Stage = Literal["pretrain", "finetune"]
_STAGES: tuple[Stage, Stage] = ("pretrain", "finetune")


def trainings(spec: Spec) -> Iterator[tuple[Stage, Training]]:
    """The training sections that are sound."""
    for stage in _STAGES:
        if stage in spec.model_fields_set:
            yield stage, getattr(spec, stage)


@RULES.needing()
def warm_up_ends(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    for stage, training in trainings(spec):
        warmup = training.schedule.warmup_steps
        if warmup > training.steps:
            yield Diagnostic(
                "MS0341",
                f"{warmup} steps of warm-up, but {training.steps} steps in all",
                path=(stage, "schedule", "warmup_steps"),
                reason="the learning rate would never reach its peak; the loss falls slowly and nothing says why",
                fix=f"choose at most {training.steps}; a tenth of the steps is usual: {max(1, training.steps // 10)}",
            )


@RULES.needing()
def rate_is_positive(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    for stage, training in trainings(spec):
        for field, value, lowest in (("peak", training.schedule.peak, "0"), ("final", training.schedule.final, "0")):
            if value < 0 or (field == "peak" and value == 0):
                yield Diagnostic(
                    "MS0342",
                    f"{value} is not {'above' if field == 'peak' else 'at least'} {lowest}",
                    path=(stage, "schedule", field),
                    reason="a negative rate climbs the loss and a zero one learns nothing; mindformers takes both",
                    fix="choose a positive rate such as 1.0e-3",
                )


@RULES.needing()
def rate_decays(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    for stage, training in trainings(spec):
        schedule = training.schedule
        if schedule.final > schedule.peak > 0:
            yield Diagnostic(
                "MS0343",
                f"the final rate {schedule.final} is above the peak {schedule.peak}",
                path=(stage, "schedule", "final"),
                reason="the rate would rise until the end of training",
                fix="choose a final rate of at most the peak; a tenth of it is usual",
            )


@RULES.needing()
def rate_is_sane(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    for stage, training in trainings(spec):
        if training.schedule.peak >= _LARGEST_RATE:
            yield Diagnostic(
                "MS0344",
                f"{training.schedule.peak} is far above any rate that AdamW learns with",
                path=(stage, "schedule", "peak"),
                reason="the loss becomes NaN within a few steps",
                fix="choose a rate between 1.0e-5 and 1.0e-2; the minus sign of the exponent may be missing",
            )


@RULES.needing()
def two_checkpoints(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    for stage, training in trainings(spec):
        if training.checkpoint.keep < 2:
            yield Diagnostic(
                "MS0345",
                "at least 2 must be kept",
                path=(stage, "checkpoint", "keep"),
                reason="the oldest is deleted before the next is written: a kill in between would leave none",
                fix="write 2 or more",
                suggestion="2",
            )


@RULES.needing()
def some_checkpoint(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    for stage, training in trainings(spec):
        if training.checkpoint.every > training.steps:
            yield Diagnostic(
                "MS0346",
                f"a save every {training.checkpoint.every} steps, but {training.steps} steps in all",
                path=(stage, "checkpoint", "every"),
                reason="nothing would be saved before the end",
                fix=f"choose at most {training.steps}",
            )


@RULES.needing()
def float32_holds_the_numbers(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    for stage, training in trainings(spec):
        for path, value, below in _in_float32(training):
            if fault := _lost(value, below):
                yield Diagnostic(
                    "MS0391",
                    f"{value} {fault} in float32",
                    path=(stage, *path),
                    reason="the optimizer computes in float32: it would divide by zero, learn nothing, or end in NaN",
                    fix="choose a value between 1.0e-37 and 1.0e+38" if below is None else "choose a smaller value, such as 0.999",
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


def _lost(value: float, below: float | None) -> str:
    """What float32 makes of a number that it cannot hold; empty where it can."""
    if abs(value) > _LARGEST_FLOAT32:
        return "is infinite"
    if value and abs(value) < _SMALLEST_FLOAT32:
        return "is 0"
    rounded: float = struct.unpack("f", struct.pack("f", value))[0]
    return f"is {rounded}" if below is not None and rounded >= below else ""


@RULES.needing("finetune")
def method_is_built(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    if spec.finetune.method == "full":
        yield Diagnostic(
            "MS0347",
            "full fine-tuning is not built in this version",
            path=("finetune", "method"),
            reason="the stages after it merge an adapter; there would be none",
            fix="use lora",
            suggestion="lora",
        )
    elif spec.finetune.lora is None:
        yield Diagnostic(
            "MS0349",
            "method lora needs the section lora",
            path=("finetune", "lora"),
            reason="rank, alpha and targets decide what is trained",
            fix="add `lora: {rank: 8, alpha: 16, targets: [q_proj, v_proj]}`",
        )


@RULES.needing("finetune")
def targets_exist(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    known = {*CELLS, *CELLS.values()}
    seen: dict[str, str] = {}
    for index, target in enumerate(spec.finetune.lora.targets if spec.finetune.lora else ()):
        path = ("finetune", "lora", "targets", index)
        layer = CELLS.get(target, target)
        if target not in known:
            meant = suggest.closest(target, known)
            yield Diagnostic(
                "MS0348",
                f"no layer is named {target}",
                path=path,
                reason="a name that matches nothing is passed over, and the layer gets no adapter",
                fix=f"did you mean {meant}?" if meant else f"known: {', '.join(CELLS)}",
                suggestion=meant or "",
            )
        elif layer in seen:
            yield Diagnostic(
                "MS0330",
                f"{target} is the layer {seen[layer]} written before",
                path=path,
                reason="it changes nothing but the key of the stage",
                fix="remove it",
            )
        seen.setdefault(layer, target)


@RULES.needing("finetune", "model")
def rank_is_low(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    lora, width = spec.finetune.lora, spec.model.hidden_size
    if lora is not None and lora.rank > width:
        yield Diagnostic(
            "MS0351",
            f"rank {lora.rank} is above the width {width}",
            path=("finetune", "lora", "rank"),
            reason="an adapter of full rank holds more numbers than the layer it adapts",
            fix="choose a rank such as 8",
        )
