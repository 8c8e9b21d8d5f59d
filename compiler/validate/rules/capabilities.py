"""What mindformers would do with a layout other than what was written."""

from collections.abc import Iterator

from compiler.diagnostics import Diagnostic
from compiler.planning.architecture import architecture
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
def tables_are_sharded(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    """Divided tables have vocabulary / tensor rows; where those do not divide, tensor parallelism leaves the tables whole."""
    layout = spec.parallel
    if layout == "auto" or not layout.optimizer_sharding or layout.data == 1:
        return
    rows = architecture(spec).vocab_size
    parts = layout.data if rows % layout.tensor else layout.data * layout.tensor
    if rows % parts:
        multiple = -(-rows // parts) * parts
        yield Diagnostic(
            "MS0372",
            said(
                f"{rows} rows of embeddings do not divide into {parts} parts, and stay whole",
                f"{rows} 行词嵌入不能均分为 {parts} 份，将保持完整",
            ),
            path=("parallel", "optimizer_sharding"),
            severity="warning",
            reason=said(
                "every device keeps the tables and their moments: memory that sharding was to save",
                "每个设备都保留词表及其一、二阶矩，切分本应节省的显存没有节省",
            ),
            fix=said(f"set model.vocab_size to {multiple}", f"把 model.vocab_size 设为 {multiple}"),
        )
