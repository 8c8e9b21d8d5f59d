"""What a fused attention kernel takes, and what of a spec it never reads.

MindSpore 2.9.0 documents its FlashAttentionScore for float16 and bfloat16, heads whose width is a multiple of 16 up to 512, 256
heads, rows of 512k tokens and 2k of them; it has a softmax of its own.
"""

from collections.abc import Iterator

from compiler.diagnostics import Diagnostic
from compiler.planning.profiles import PROFILES
from compiler.source import Path, SourceTree
from compiler.spec import Spec
from compiler.validate.rules.registry import Rules
from compiler.validate.rules.train import trainings
from compiler.wording import said

RULES = Rules()

_STEP, _WIDEST = 16, 512  # of the width of a head
_HEADS, _TOKENS, _ROWS = 256, 512 * 1024, 2 * 1024


def _fused(spec: Spec) -> bool:
    return PROFILES[spec.device.target].flash_attention


@RULES.needing("model", "device")
def fused_attention_takes_the_type(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    if _fused(spec) and spec.model.dtype.compute == "float32":
        target = spec.device.target
        yield Diagnostic(
            "MS0306",
            said(f"the fused attention of {target} is made for 16 bits, not float32", f"{target} 的融合注意力面向 16 位类型，而非 float32"),
            path=("model", "dtype", "compute"),
            reason=said(
                "MindSpore documents the kernel for float16 and bfloat16 alone: a training may end at its first step",
                "MindSpore 文档只为该算子列出 float16 与 bfloat16：训练可能在第一步就失败",
            ),
            fix=said("use bfloat16; weights and norms stay float32", "使用 bfloat16；权重与归一化仍为 float32"),
            suggestion="bfloat16",
            severity="warning",
        )


@RULES.needing("model", "device")
def fused_attention_takes_the_heads(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    model = spec.model
    if not _fused(spec) or (model.head_dim is None and model.hidden_size % model.num_heads):
        return
    width = model.head_dim or model.hidden_size // model.num_heads
    if width % _STEP or width > _WIDEST:
        yield Diagnostic(
            "MS0306",
            said(
                f"the fused attention of {spec.device.target} has no heads of {width}",
                f"{spec.device.target} 的融合注意力不支持宽 {width} 的头",
            ),
            path=("model", "num_heads" if model.head_dim is None else "head_dim"),
            reason=said(
                f"MindSpore documents the kernel for multiples of {_STEP}, up to {_WIDEST}: a training may end at its first step",
                f"MindSpore 文档只为该算子列出 {_STEP} 的倍数，最大 {_WIDEST}：训练可能在第一步就失败",
            ),
            fix=said("choose sizes with heads of 64, 80, 96 or 128", "选取单头宽 64、80、96 或 128 的尺寸"),
            severity="warning",
        )


@RULES.needing("model", "device")
def fused_attention_takes_the_counts(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    counts: list[tuple[Path, int, int]] = [
        (("model", "num_heads"), spec.model.num_heads, _HEADS),
        (("model", "seq_length"), spec.model.seq_length, _TOKENS),
        *(((stage, "micro_batch"), training.micro_batch, _ROWS) for stage, training in trainings(spec)),
    ]
    for path, count, most in counts:
        if _fused(spec) and count > most:
            yield Diagnostic(
                "MS0306",
                said(
                    f"{count} are more than the fused attention of {spec.device.target} takes: {most}",
                    f"{count} 超过 {spec.device.target} 融合注意力的上限 {most}",
                ),
                path=path,
                reason=said(
                    "MindSpore documents the kernel up to there: a training may end at its first step",
                    "MindSpore 文档给出的上限如此：训练可能在第一步就失败",
                ),
                fix=said(f"choose at most {most}", f"最大取 {most}"),
                suggestion=str(most),
                severity="warning",
            )


@RULES.needing("model", "device")
def fused_attention_has_its_own_softmax(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    softmax = spec.model.dtype.softmax
    if _fused(spec) and softmax != "float32":
        yield Diagnostic(
            "MS0306",
            said(
                f"the fused attention of {spec.device.target} does not read softmax: {softmax}",
                f"{spec.device.target} 的融合注意力不读取 softmax: {softmax}",
            ),
            path=("model", "dtype", "softmax"),
            reason=said(
                "the kernel computes a softmax of its own, so the setting changes nothing in training",
                "该算子自行计算 softmax，此设置对训练不起作用",
            ),
            fix=said("leave it out", "删去该项"),
            suggestion="float32",
            severity="warning",
        )
