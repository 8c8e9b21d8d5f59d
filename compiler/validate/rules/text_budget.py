"""The text must be enough for what is trained on it: a batch, a vocabulary, a number of steps.

Counts are estimates at `_BYTES_A_TOKEN`, low for any vocabulary that is trained on the text itself, so that there are rather
more tokens than fewer than there will be.
"""

from collections.abc import Iterator

from compiler.diagnostics import Diagnostic
from compiler.planning.study import effective_batch
from compiler.source import SourceTree
from compiler.spec import Spec
from compiler.spec.data.mixing import Mix, text_bytes
from compiler.validate.rules.registry import Rules
from compiler.wording import said
from runtime.contracts.counting import counted

RULES = Rules()

_BYTES_A_TOKEN = 3
_MANY_PASSES = 16  # Muennighoff et al. 2023, Scaling Data-Constrained Language Models: nothing more is learned beyond
_FEW_BYTES_A_PIECE = 16  # SentencePiece gives at most one piece for every 3 (Chinese, BPE) to 77 (English, unigram) bytes


def _budget_field(mix: Mix) -> tuple[str, ...]:
    return ("data", "pretrain", "mix", "budget_bytes" if mix.budget_tokens is None else "budget_tokens")


@RULES.needing("pretrain", "model", "parallel", "data")
def text_fills_a_batch(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    rows, length, budget = effective_batch(spec.pretrain, spec.parallel), spec.model.seq_length + 1, text_bytes(spec.data.pretrain.mix)
    if budget is not None and rows * length > budget:
        yield Diagnostic(
            "MS0393",
            said(
                f"{counted(budget, 'byte')} of text, but one update reads {counted(rows, 'row')} x {length} ids = {rows * length}",
                f"文本只有 {budget} 字节，但一次更新要读 {rows} 行 x {length} 个标识 = {rows * length}",
            ),
            path=_budget_field(spec.data.pretrain.mix),
            reason=said(
                "an incomplete batch is dropped, so no step would be made; a byte is at most one token",
                "不完整的批会被丢弃，因此一步也不会执行；一个字节至多是一个词元",
            ),
            fix=said("use more text, or a smaller micro_batch or seq_length", "增加文本，或减小 micro_batch 或 seq_length"),
        )


@RULES.needing("pretrain", "model", "parallel", "data")
def text_is_not_worn_out(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    corpus, steps = spec.data.pretrain, spec.pretrain.steps
    rows, length = effective_batch(spec.pretrain, spec.parallel), spec.model.seq_length
    trained, budget = steps * rows * length, text_bytes(corpus.mix)
    if budget is None:
        return
    passes = trained / (budget * (1 - corpus.split.validation) / _BYTES_A_TOKEN)
    if passes > _MANY_PASSES and rows * (length + 1) <= budget:
        most = int(steps * _MANY_PASSES / passes)
        yield Diagnostic(
            "MS0392",
            said(
                f"{steps} steps read {trained:,} tokens, about {passes:.0f} times the whole text",
                f"{steps} 步要读 {trained:,} 个词元，约为全部文本的 {passes:.0f} 遍",
            ),
            path=("pretrain", "steps"),
            reason=said(
                "repeated that often, text is learned by heart: the training loss falls on while the validation loss rises",
                "重复次数过多时模型只会背诵：训练损失继续下降，验证损失却在上升",
            ),
            fix=said(f"give more text, or at most {counted(max(1, most), 'step')}", f"增加文本，或最多训练 {max(1, most)} 步"),
            severity="warning",
        )


@RULES.needing("tokenizer", "data")
def text_fills_the_vocabulary(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    settings, text = spec.tokenizer, text_bytes(spec.data.pretrain.mix)
    pieces, budget = settings.vocab_size, settings.training_bytes if text is None else min(text, settings.training_bytes)
    if settings.path is None and pieces * _FEW_BYTES_A_PIECE > budget:
        yield Diagnostic(
            "MS0394",
            said(
                f"{pieces} pieces are to be learned from {budget} bytes: {budget / pieces:.1f} bytes for each",
                f"要从 {budget} 字节中学出 {pieces} 个子词：每个只有 {budget / pieces:.1f} 字节",
            ),
            path=("tokenizer", "vocab_size"),
            reason=said(
                "SentencePiece refuses where the text does not give as many; where it gives them, most are seen a few times only",
                "文本给不出这么多子词时 SentencePiece 会拒绝训练；即使给得出，大多数也只出现几次",
            ),
            fix=said("choose a smaller vocabulary, or give more text", "减小词表，或增加文本")
            if budget == text
            else said("raise tokenizer.training_bytes, or choose a smaller vocabulary", "请提高 tokenizer.training_bytes，或减小词表"),
            severity="warning",
        )


@RULES.needing("data")
def more_is_trained_on_than_held_out(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    for corpus, split in (("pretrain", spec.data.pretrain.split), ("instruct", spec.data.instruct.split)):
        if split.validation > 0.5:
            yield Diagnostic(
                "MS0399",
                said(f"{split.validation:.0%} are held out, the rest is trained on", f"{split.validation:.0%} 留作验证，其余才用于训练"),
                path=("data", corpus, "split", "validation"),
                reason=said("most of what was cleaned and packed would never be learned from", "清洗、打包好的数据大部分不会用于学习"),
                fix=said(
                    f"it is the share of the validation set: {1 - split.validation:.2g} was likely meant",
                    f"这里写的是验证集的比例：可能想写 {1 - split.validation:.2g}",
                ),
                suggestion=f"{1 - split.validation:.2g}",
                severity="warning",
            )
