"""Whole numbers must be ones that mindformers takes as they are: positions in float32, rows in 32 bits, a seed that is not 0."""

from collections.abc import Iterator

from compiler.diagnostics import Diagnostic
from compiler.planning.architecture import architecture
from compiler.planning.profiles import PROFILES
from compiler.planning.shape import gigabytes
from compiler.planning.study import effective_batch
from compiler.source import SourceTree
from compiler.spec import Spec
from compiler.spec.declare import MOST
from compiler.validate.rules.registry import Rules
from compiler.validate.rules.train import trainings
from compiler.wording import said

RULES = Rules()

_POSITIONS = 2**24  # beyond it two neighbours are one number in float32, in which mindformers counts them
_TABLES = 2  # cosines and sines
_WIDTH = {"float32": 4, "float16": 2, "bfloat16": 2}  # bytes


@RULES.needing("model", "device", "tokenizer")
def positions_are_held(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    """Stretched frequencies need a table of as many positions as before the stretch, however short the rows are."""
    model, memory = spec.model, spec.device.memory
    scaling = model.rope_scaling
    stretched = scaling is not None and scaling.original_length >= model.seq_length
    rows = scaling.original_length + 1 if scaling is not None and stretched else model.seq_length + 1
    size = _TABLES * rows * architecture(spec).head_dim * _WIDTH[model.dtype.rotary]
    if rows <= _POSITIONS and size <= memory:
        return
    few = rows <= _POSITIONS
    yield Diagnostic(
        "MS0307",
        said(f"a table of {rows} positions", f"位置表有 {rows} 行"),
        path=("model", "rope_scaling", "original_length") if stretched else ("model", "seq_length"),
        reason=said(
            f"mindformers computes cosines and sines of all positions: {gigabytes(size)}, and a device has {gigabytes(memory)}",
            f"mindformers 会算出所有位置的余弦与正弦：{gigabytes(size)}，而设备只有 {gigabytes(memory)}",
        )
        if few
        else said(
            f"mindformers counts positions in float32, where those beyond {_POSITIONS} are no longer told apart",
            f"mindformers 以 float32 表示位置，超过 {_POSITIONS} 之后相邻位置无法区分",
        ),
        fix=said("write the length of the published model: 8192 for Llama 3.1", "写公开模型的长度：Llama 3.1 为 8192")
        if stretched
        else said("use shorter rows", "缩短样本"),
    )


@RULES.needing("parallel")
def rows_of_an_update_are_counted(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    for stage, training in trainings(spec):
        rows = effective_batch(training, spec.parallel)
        if rows > MOST:
            yield Diagnostic(
                "MS0308",
                said(f"an update of {rows} rows", f"一次更新有 {rows} 条样本"),
                path=(stage, "accumulation"),
                reason=said(
                    f"MindSpore counts rows in 32 bits, up to {MOST}: the batch would be refused when the stage starts, or be another one",
                    f"MindSpore 以 32 位计数，最大 {MOST}：阶段启动时会拒绝该批大小，或得到另一个值",
                ),
                fix=said("lower accumulation or micro_batch", "减小 accumulation 或 micro_batch"),
            )


@RULES.needing("device")
def replicas_start_alike(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    """In semi-automatic mode mindformers leaves fresh weights to MindSpore, whatever the seed is."""
    if spec.seed == 0 and spec.device.count > 1 and not PROFILES[spec.device.target].semi_auto:
        yield Diagnostic(
            "MS0309",
            said("mindformers takes the seed 0 for none", "mindformers 把种子 0 当作没有种子"),
            path=("seed",),
            reason=said(
                "each rank would start from weights of its own, and the mean of their gradients belongs to none of them",
                "每个进程会从各自的权重出发，它们梯度的平均不属于其中任何一个",
            ),
            fix=said("choose another seed", "换用其他种子"),
            suggestion="1",
        )
