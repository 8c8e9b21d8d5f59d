"""Numeric types, loss scale, accumulation and recomputation must be what the device and the training cell compute."""

import math
from collections.abc import Iterator

from compiler.diagnostics import Diagnostic
from compiler.planning.devices import devices
from compiler.planning.one_pass import OnePass, one_pass
from compiler.planning.study import works
from compiler.source import SourceTree
from compiler.spec import Spec
from compiler.spec.train import LossScale, Training
from compiler.validate.rules.registry import Rules
from compiler.validate.rules.train import Stage, trainings
from compiler.validate.sound import gap
from compiler.wording import Said, said

RULES = Rules()

_NO_BFLOAT16 = {
    "cpu": said("MindSpore's CPU kernels have no bfloat16 matrix product", "MindSpore 的 CPU 算子没有 bfloat16 矩阵乘"),
    "gpu": said("the CUDA kernels of this MindSpore have no bfloat16 matrix product", "此版本 MindSpore 的 CUDA 算子没有 bfloat16 矩阵乘"),
}
_GRADIENTS = ("compute", "params", "softmax", "rotary")  # float16 is refused for norms
_READS = {"none": (), "static": ("initial",), "dynamic": ("initial", "window")}
_SEVERAL = said("several devices with a parallel layout accumulate in semi-automatic mode", "多个设备配合并行布局时由半自动并行模式累积")
# A static scale never shrinks, so that it must leave room below 65504; a dynamic one halves its way down from any start.
_LARGEST_SCALE = {"static": 2.0**16, "dynamic": 2.0**32}


@RULES.needing()
def loss_scale_is_complete(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    for stage, training in trainings(spec):
        scale = training.loss_scale
        for field in ("initial", "window"):
            if getattr(scale, field) is not None and field not in _READS[scale.kind]:
                kinds = ("static or dynamic", "static 或 dynamic") if field == "initial" else ("dynamic", "dynamic")
                yield Diagnostic(
                    "MS0350",
                    said(f"a loss scale of kind {scale.kind} has no {field}", f"{scale.kind} 类型的损失缩放没有 {field}"),
                    path=(stage, "loss_scale", field),
                    reason=said("the value would be ignored", "该值会被忽略"),
                    fix=said(f"remove {field}, or set kind to {kinds[0]}", f"删除 {field}，或把 kind 设为 {kinds[1]}"),
                )


@RULES.needing()
def loss_scale_is_a_power_of_two(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    for stage, training in trainings(spec):
        scale, value = training.loss_scale, training.loss_scale.initial
        if value is None or scale.kind == "none":
            continue
        if not 2 <= value <= _LARGEST_SCALE[scale.kind]:
            yield _out_of_range(stage, scale, value)
        elif math.frexp(value)[0] != 0.5:
            near = 2 ** round(math.log2(value))
            yield Diagnostic(
                "MS0350",
                said(f"{value:.15g} is not a power of two", f"{value:.15g} 不是 2 的幂"),
                path=(stage, "loss_scale", "initial"),
                reason=said(
                    "scaling by a power of two is exact; another factor rounds every gradient twice",
                    "乘以 2 的幂没有误差；其他倍数会让每个梯度舍入两次",
                ),
                fix=said(f"use {near}", f"使用 {near}"),
                suggestion=str(near),
            )


def _out_of_range(stage: Stage, scale: LossScale, value: float) -> Diagnostic:
    most = _LARGEST_SCALE[scale.kind]
    return Diagnostic(
        "MS0350",
        said(f"{value:.15g} is not between 2 and {most:.0f}", f"{value:.15g} 不在 2 到 {most:.0f} 之间"),
        path=(stage, "loss_scale", "initial"),
        reason=said(
            "float16 ends at 65504: a scale above this range overflows in every step, and one below it lifts no gradient",
            "float16 的上限是 65504：超出此范围的缩放每一步都会溢出，低于此范围则不起作用",
        ),
        fix=said("leave it out for the default: 1024 static, 65536 dynamic", "省略该项即取默认值：static 为 1024，dynamic 为 65536"),
    )


@RULES.needing("device")
def accumulation_has_a_cell(spec: Spec, tree: SourceTree) -> Iterator[Diagnostic]:
    target = spec.device.target
    for stage, training in trainings(spec):
        if training.accumulation == 1 or devices(spec.device).accumulates:
            continue
        passes, chosen = training.accumulation, _chosen(tree, stage)
        yield Diagnostic(
            "MS0352",
            _unbuilt(stage, passes, target, chosen),
            path=("parallel",) if chosen else (stage, "accumulation"),
            reason=said(
                "mindformers resets gradient_accumulation_steps to 1 outside semi-automatic parallel mode, without a word; "
                "our own accumulating cell is proven on a cpu alone",
                "mindformers 在半自动并行模式之外会悄悄把 gradient_accumulation_steps 重置为 1；自带的累积训练单元只在 cpu 上验证过",
            ),
            fix=_in_one_pass(spec, stage, training, tree),
            suggestion="" if chosen else "1",
        )


def _unbuilt(stage: Stage, passes: int, target: str, chosen: bool) -> Said:
    if chosen:
        return said(
            f"what fits takes {stage} in {passes} forward passes an update, which on one {target} are not built in this version",
            f"能容纳的布局须把 {stage} 的每次更新分为 {passes} 次前向，而本版本未实现在单个 {target} 上这样训练",
        )
    return said(
        f"{passes} forward passes an update on one {target} are not built in this version",
        f"本版本未实现在单个 {target} 上每次更新做 {passes} 次前向",
    )


def _chosen(tree: SourceTree, stage: Stage) -> bool:
    """Whether the planner, not the spec, divides an update."""
    section: dict[str, object] = tree.values.get(stage) or {}
    return _auto(tree) and section.get("accumulation", 1) == 1


def _auto(tree: SourceTree) -> bool:
    return tree.values.get("parallel") == "auto"


def _in_one_pass(spec: Spec, stage: Stage, training: Training, tree: SourceTree) -> Said:
    """The update as one forward pass, if it fits; else the largest one that does."""
    rows, more = training.micro_batch * training.accumulation, _SEVERAL
    known, fitting = _fitting(spec, stage)
    if not known:
        return said(
            f"use 1, and a micro_batch of {rows} for the same effective batch; {more}",
            f"取 1，并把 micro_batch 设为 {rows} 以保持有效批大小；{more.zh}",
        )
    if fitting is None:
        return said(f"not even one row fits into its memory: {more}", f"显存连一行也容纳不下：{more.zh}")
    written = f"{stage}.accumulation: 1, {stage}.micro_batch: {fitting.rows}"
    if spec.parallel != "auto" and not _auto(tree) and fitting.recompute != spec.parallel.recompute:
        written = f"{written}, parallel.recompute: {fitting.recompute}"
    if fitting.rows == rows and _chosen(tree, stage):
        return said("it fits in one pass once the other training does", "另一个训练能在一次前向中容纳后，此训练即可容纳")
    if fitting.rows == rows:
        return said(f"write {written} for the same effective batch; {more}", f"写 {written}，有效批不变；{more.zh}")
    return said(
        f"in one pass at most {fitting.rows} of {rows} rows fit: write {written} for a smaller effective batch; {more}",
        f"一次前向最多容纳 {rows} 行中的 {fitting.rows} 行：写 {written}，有效批随之减小；{more.zh}",
    )


def _fitting(spec: Spec, stage: Stage) -> tuple[bool, OnePass | None]:
    """Whether it is known what fits in one pass, which a broken section hides; and what does."""
    try:
        layout = spec.parallel
        return True, one_pass(works(spec, stage)[0], devices(spec.device), "none" if layout == "auto" else layout.recompute)
    except AttributeError as error:
        if not gap(error):
            raise
        return False, None


@RULES.needing("device", "finetune")
def accumulation_weighs_tokens(spec: Spec, tree: SourceTree) -> Iterator[Diagnostic]:
    device, training = spec.device, spec.finetune
    if training.accumulation > 1 and device.target != "cpu" and device.count > 1:
        chosen = _chosen(tree, "finetune")
        yield Diagnostic(
            "MS0352",
            said(
                "in semi-automatic parallel mode each forward pass of an update weighs the same",
                "半自动并行模式下，一次更新中的每次前向权重相同",
            ),
            path=("parallel",) if chosen else ("finetune", "accumulation"),
            severity="warning",
            reason=said(
                "rows differ in trained tokens, so short answers count more than in one large batch and the loss differs from it",
                "各样本参与训练的 token 数不同，短回答的权重会高于整批训练，损失也与之不同",
            ),
            fix=said(
                "lower finetune.micro_batch, the effective batch here, or use more devices",
                "减小 finetune.micro_batch（此处即有效批），或增加设备",
            )
            if chosen
            else said("raise micro_batch as far as memory allows", "在内存允许的范围内增大 micro_batch"),
        )


def _float16_part(spec: Spec) -> str | None:
    """The part of the network whose gradients are float16: a gradient has the type of what it belongs to."""
    dtype = spec.model.dtype
    return next((part for part in _GRADIENTS if getattr(dtype, part) == "float16"), None)


@RULES.needing("model")
def float16_is_scaled(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    part = _float16_part(spec)
    for stage, training in trainings(spec):
        if part and training.loss_scale.kind == "none":
            yield Diagnostic(
                "MS0353",
                said(f"model.dtype.{part} is float16, which needs a loss scale", f"model.dtype.{part} 为 float16，需要损失缩放"),
                path=(stage, "loss_scale", "kind"),
                reason=said(
                    "gradients below 6.0e-8 become zero and training stalls without a word", "小于 6.0e-8 的梯度会变为零，训练会悄悄停滞"
                ),
                fix=said(
                    f"set kind to dynamic, or model.dtype.{part} to float32", f"把 kind 设为 dynamic，或把 model.dtype.{part} 设为 float32"
                ),
                suggestion="dynamic",
                severity="error" if part in ("compute", "params") else "warning",
            )


@RULES.needing("model")
def loss_scale_has_a_use(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    compute = spec.model.dtype.compute
    for stage, training in trainings(spec):
        if _float16_part(spec) is None and training.loss_scale.kind != "none":
            yield Diagnostic(
                "MS0359",
                said(f"a loss scale has no use with {compute}", f"{compute} 不需要损失缩放"),
                path=(stage, "loss_scale", "kind"),
                severity="warning",
                reason=said(
                    f"the gradients of {compute} reach down to 1.0e-38; a scale can only make them overflow, and skip steps",
                    f"{compute} 的梯度可小至 1.0e-38；缩放只可能使其溢出并跳过更新",
                ),
                fix=said("set kind to none", "把 kind 设为 none"),
                suggestion="none",
            )


@RULES.needing("device", "parallel")
def recompute_saves_memory(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    layout = spec.parallel
    if layout != "auto" and layout.recompute != "none" and spec.device.target == "cpu":
        yield Diagnostic(
            "MS0360",
            said(f"recompute {layout.recompute} saves no memory on a cpu", f"recompute {layout.recompute} 在 cpu 上不节省内存"),
            path=("parallel", "recompute"),
            severity="warning",
            reason=said(
                "the weights come out the same, but MindSpore's CPU kernels keep what they allocated, and computing again takes more of "
                "them: the measured peak rises by 9 to 28 %",
                "得到的权重相同，但 MindSpore 的 CPU 算子会一直占用已分配的内存，而重计算需要更多算子：实测峰值内存上升 9% 至 28%",
            ),
            fix=said(
                "use none; for less memory lower micro_batch and raise accumulation by the same factor",
                "使用 none；要减少内存，请减小 micro_batch 并按相同倍数增大 accumulation",
            ),
            suggestion="none",
        )


@RULES.needing("model", "device")
def device_computes_the_type(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    reason = _NO_BFLOAT16.get(spec.device.target)
    for part, dtype in spec.model.dtype.model_dump().items():
        if dtype == "bfloat16" and reason:
            yield Diagnostic(
                "MS0305",
                said(f"a {spec.device.target} cannot compute in bfloat16", f"{spec.device.target} 不能以 bfloat16 计算"),
                path=("model", "dtype", part),
                reason=said(f"{reason}; the first step would fail", f"{reason.zh}；第一步就会失败"),
                fix=said(
                    "use float32, or float16 with loss_scale.kind dynamic in both trainings",
                    "使用 float32；或使用 float16，并在两次训练中把 loss_scale.kind 设为 dynamic",
                ),
                suggestion="float32",
            )


@RULES.needing("model")
def norms_do_not_overflow(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    if spec.model.dtype.layernorm == "float16":
        yield Diagnostic(
            "MS0305",
            said("float16 cannot hold the gradient of a normalisation layer", "float16 容纳不下归一化层的梯度"),
            path=("model", "dtype", "layernorm"),
            reason=said(
                "it divides by the third power of small activations; weights are NaN after the first update",
                "该梯度要除以很小的激活值的三次方；第一次更新后权重即为 NaN",
            ),
            fix=said("use float32", "使用 float32"),
            suggestion="float32",
        )


_LOST_BELOW = {"bfloat16": 2**8, "float16": 2**11}


@RULES.needing("model", "device", "pretrain")
def small_updates_are_kept(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    """The AdamW of mindformers keeps its moments in float32 and no float32 copy of the weights."""
    params = spec.model.dtype.params
    if params not in _LOST_BELOW or (params == "bfloat16" and spec.device.target in _NO_BFLOAT16):
        return
    share = _LOST_BELOW[params]
    yield Diagnostic(
        "MS0373",
        said(f"pre-training on weights in {params} loses small updates", f"以 {params} 权重预训练会丢失小的更新"),
        path=("model", "dtype", "params"),
        severity="warning",
        reason=said(
            f"an update below 1/{share} of a weight is rounded away, and AdamW keeps no float32 copy: the loss stops falling early",
            f"小于权重 1/{share} 的更新会被舍去，因为 AdamW 不保留权重的 float32 副本：损失会过早停止下降",
        ),
        fix=said(
            f"write model.dtype.params=float32 and keep model.dtype.compute={spec.model.dtype.compute}",
            f"写 model.dtype.params=float32，model.dtype.compute={spec.model.dtype.compute} 不变",
        ),
        suggestion="float32",
    )
