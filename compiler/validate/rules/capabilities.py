"""What mindformers would do with a layout other than what was written."""

from collections.abc import Iterator, Mapping
from math import gcd

from compiler.diagnostics import Diagnostic
from compiler.planning.architecture import architecture
from compiler.planning.memory_sizes import rows
from compiler.source import SourceTree
from compiler.spec import Spec
from compiler.validate.rules.registry import Rules
from compiler.validate.rules.train import trainings
from compiler.wording import said

RULES = Rules()


@RULES.needing("parallel", "model")
def sequence_divides(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    layout, length = spec.parallel, spec.model.seq_length
    if layout == "auto" or layout.tensor == 1:
        return
    parts = layout.tensor * layout.context
    if length % parts:
        multiple = -(-length // parts) * parts
        yield Diagnostic(
            "MS0370",
            said(
                f"{length} tokens do not divide over tensor x context = {layout.tensor} x {layout.context} devices",
                f"{length} 个 token 不能均分到 tensor x context = {layout.tensor} x {layout.context} 个设备",
            ),
            path=("model", "seq_length"),
            reason=said(
                "norms and residuals are divided along the sequence; the graph would fail to compile on every rank",
                "归一化与残差沿序列切分；每个进程的计算图都会编译失败",
            ),
            fix=said(f"use a multiple of {parts}, such as {multiple}", f"取 {parts} 的倍数，例如 {multiple}"),
            suggestion=str(multiple),
        )


@RULES.needing("parallel", "device")
def sharded_gradients_exist(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    layout = spec.parallel
    if layout == "auto" or layout.optimizer_sharding != 2 or layout.pipeline > 1:
        return
    single = [stage for stage, training in trainings(spec) if training.accumulation == 1]
    if single:
        stages = " and ".join(single)
        yield Diagnostic(
            "MS0371",
            said(
                f"level 2 divides accumulated gradients, and {stages} accumulate{'s' * (len(single) == 1)} none",
                f"级别 2 切分累积的梯度，而 {'、'.join(single)} 不累积梯度",
            ),
            path=("parallel", "optimizer_sharding"),
            severity="warning",
            reason=said("MindSpore computes as with level 1 and saves no more memory", "MindSpore 按级别 1 计算，不会进一步节省显存"),
            fix=said("write 1 or 3, or raise accumulation", "写 1 或 3，或增大 accumulation"),
        )


@RULES.needing("parallel", "model", "tokenizer")
def weights_are_sharded(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    """Divided tables have vocabulary / tensor rows; where those do not divide, tensor parallelism leaves the tables whole."""
    layout = spec.parallel
    if layout == "auto" or not layout.optimizer_sharding or layout.data == 1:
        return
    net, replicas = architecture(spec), layout.data * layout.context
    whole = {name: first for name, first in rows(net, layout.tensor).items() if first % replicas}
    if "tables" in whole:
        yield _whole_tables(net.vocab_size, replicas if net.vocab_size % layout.tensor else replicas * layout.tensor)
    if matrices := {name: first for name, first in whole.items() if name != "tables"}:
        yield _whole_matrices(matrices, replicas)


def _whole_tables(vocabulary: int, parts: int) -> Diagnostic:
    multiple = -(-vocabulary // parts) * parts
    return Diagnostic(
        "MS0372",
        said(
            f"{vocabulary} rows of embeddings do not divide into {parts} parts, and stay whole",
            f"{vocabulary} 行词嵌入不能均分为 {parts} 份，将保持完整",
        ),
        path=("parallel", "optimizer_sharding"),
        severity="warning",
        reason=said(
            "every device keeps the tables and their moments: memory that sharding was to save",
            "每个设备都保留词表及其一、二阶矩，切分本应节省的显存没有节省",
        ),
        fix=said(f"set model.vocab_size to {multiple}", f"把 model.vocab_size 设为 {multiple}"),
    )


def _whole_matrices(matrices: Mapping[str, int], replicas: int) -> Diagnostic:
    share = gcd(replicas, *matrices.values())
    named = ", ".join(f"{name} {first}" for name, first in matrices.items())
    one = len(matrices) == 1
    return Diagnostic(
        "MS0372",
        said(
            f"rows of {named} do not divide into {replicas} parts: {'it stays' if one else 'they stay'} whole in every layer",
            f"{named.replace(', ', '、')} 的行数不能均分为 {replicas} 份，在每一层中都将保持完整",
        ),
        path=("parallel", "optimizer_sharding"),
        severity="warning",
        reason=said(
            "every device keeps these weights and their moments: memory that sharding was to save",
            "每个设备都保留这些权重及其一、二阶矩，切分本应节省的显存没有节省",
        ),
        fix=said(
            f"divide by tensor or pipeline besides, so that data x context becomes a divisor of them, such as {share}",
            f"同时使用 tensor 或 pipeline 切分，使 data x context 成为这些行数的约数，例如 {share}",
        )
        if share > 1
        else said(
            "write optimizer_sharding: 0, or divide by tensor or pipeline instead", "写 optimizer_sharding: 0，或改用 tensor、pipeline 切分"
        ),
    )
