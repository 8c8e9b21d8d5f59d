"""Numeric types, loss scale and accumulation must be what the device and the training cell compute."""

from collections.abc import Iterator

from compiler.diagnostics import Diagnostic
from compiler.source import SourceTree
from compiler.spec import Spec
from compiler.validate.rules.registry import Rules
from compiler.validate.rules.train import trainings

RULES = Rules()

_NO_BFLOAT16 = {
    "cpu": "MindSpore's CPU kernels have no bfloat16 matrix product",
    "gpu": "the CUDA kernels of this MindSpore have no bfloat16 matrix product",
}


@RULES.needing()
def loss_scale_is_complete(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    reads = {"none": (), "static": ("initial",), "dynamic": ("initial", "window")}
    for stage, training in trainings(spec):
        scale = training.loss_scale
        for field in ("initial", "window"):
            if getattr(scale, field) is not None and field not in reads[scale.kind]:
                yield Diagnostic(
                    "MS0350",
                    f"a loss scale of kind {scale.kind} has no {field}",
                    path=(stage, "loss_scale", field),
                    reason="the value would be ignored",
                    fix=f"remove {field}, or set kind to {'static or dynamic' if field == 'initial' else 'dynamic'}",
                )


@RULES.needing()
def accumulation_is_built(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    for stage, training in trainings(spec):
        if training.accumulation > 1:
            yield Diagnostic(
                "MS0352",
                f"{training.accumulation} forward passes an update are not built in this version",
                path=(stage, "accumulation"),
                reason="mindformers resets gradient_accumulation_steps to 1 outside semi-automatic parallel mode, without a word",
                fix=f"use 1, and a micro_batch of {training.micro_batch * training.accumulation} for the same effective batch",
                suggestion="1",
            )


@RULES.needing()
def loss_scale_is_built(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    for stage, training in trainings(spec):
        if training.loss_scale.kind != "none":
            yield Diagnostic(
                "MS0353",
                f"a {training.loss_scale.kind} loss scale is not built in this version",
                path=(stage, "loss_scale", "kind"),
                reason="training would run without it",
                fix="use none, with model.dtype.compute float32",
                suggestion="none",
            )


@RULES.needing("model")
def float16_is_scaled(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    for stage, training in trainings(spec):
        if spec.model.dtype.compute == "float16" and training.loss_scale.kind == "none":
            yield Diagnostic(
                "MS0350",
                "model.dtype.compute is float16, which needs a loss scale",
                path=(stage, "loss_scale", "kind"),
                reason="gradients below 6.0e-8 become zero and training stalls without a word",
                fix="set model.dtype.compute to float32: loss scaling is not built in this version",
            )


@RULES.needing("model", "device")
def device_computes_the_type(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    reason = _NO_BFLOAT16.get(spec.device.target)
    for part, dtype in spec.model.dtype.model_dump().items():
        if dtype == "bfloat16" and reason:
            yield Diagnostic(
                "MS0305",
                f"a {spec.device.target} cannot compute in bfloat16",
                path=("model", "dtype", part),
                reason=f"{reason}; the first step would fail",
                fix="use float32",
                suggestion="float32",
            )


@RULES.needing("model")
def norms_do_not_overflow(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    if spec.model.dtype.layernorm == "float16":
        yield Diagnostic(
            "MS0305",
            "float16 cannot hold the gradient of a normalisation layer",
            path=("model", "dtype", "layernorm"),
            reason="it divides by the third power of small activations; weights are NaN after the first update",
            fix="use float32",
            suggestion="float32",
        )
