"""The vocabulary must be able to hold what it promises."""

import re
from collections.abc import Iterator

from compiler.diagnostics import Diagnostic
from compiler.source import Path, SourceTree
from compiler.spec import Spec
from compiler.validate.rules.registry import Rules
from compiler.wording import Said, said
from runtime.contracts.counting import counted

RULES = Rules()

_BYTES = 256
_MEANT = {"user": said("a chat marker", "对话标记"), "user_defined": said("a user-defined piece", "自定义词元")}
_UNKNOWN = "<unk>"
_IMPOSSIBLE = re.compile("\\s|\u2581|\u2585|^<0x[0-9A-Fa-f]{2}>$")  # the two signs are SentencePiece's own: a blank, unknown text


@RULES.needing("tokenizer")
def kind_is_built(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    if spec.tokenizer.kind != "sentencepiece" and spec.tokenizer.path is None:
        yield Diagnostic(
            "MS0331",
            said(f"a tokenizer of kind {spec.tokenizer.kind} is not trained here", f"不训练 {spec.tokenizer.kind} 类型的分词器"),
            path=("tokenizer", "kind"),
            reason=said(
                "the tokenizer stage trains SentencePiece models; others are taken from a file",
                "分词器阶段只训练 SentencePiece 模型；其他类型取自文件",
            ),
            fix=said("name its file in tokenizer.path, or use sentencepiece", "请在 tokenizer.path 中写明文件，或使用 sentencepiece"),
            suggestion="sentencepiece",
        )


@RULES.needing("tokenizer")
def vocabulary_holds_the_reserved(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    special = len(_special(spec)) + len(spec.tokenizer.user_defined) + 1
    reserved = special + _BYTES * spec.tokenizer.byte_fallback
    if spec.tokenizer.path is None and spec.tokenizer.vocab_size <= reserved:
        fallback = spec.tokenizer.byte_fallback
        count = f"{special} special pieces" + f" + {_BYTES} bytes" * fallback
        zh = f"{special} 个特殊词元" + f" + {_BYTES} 个字节" * fallback
        yield Diagnostic(
            "MS0327",
            said(
                f"{counted(spec.tokenizer.vocab_size, 'piece')}, but {count} = {reserved} are reserved",
                f"词表大小为 {spec.tokenizer.vocab_size}，但已保留 {zh} = {reserved} 个",
            ),
            path=("tokenizer", "vocab_size"),
            reason=said(
                "no piece would be left for text, and SentencePiece would refuse to train", "没有留给文本的词元，SentencePiece 会拒绝训练"
            ),
            fix=said(f"choose far more than {reserved}, for example 4000", f"请取远大于 {reserved} 的值，例如 4000"),
        )


@RULES.needing("tokenizer")
def special_tokens_differ(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    trained = spec.tokenizer.path is None  # in a given file the unknown piece may be free to mean something else
    seen = {_UNKNOWN: said("the unknown piece", "未知词元")} if trained else dict[str, Said]()
    for path, token in [*_special(spec), *_user_defined(spec)]:
        if token in seen:
            yield Diagnostic(
                "MS0328",
                said(f"{token} is already {seen[token]}", f"{token} 已用作{seen[token].zh}"),
                path=path,
                reason=said(
                    "one piece would have two meanings: an end token that is also padding is never learned",
                    "一个词元会有两种含义：兼作填充的结束词元永远学不会",
                ),
                fix=said("choose another text", "请换一个文本"),
            )
        marker = _MEANT.get(str(path[-2]), said(str(path[-1]), f" {path[-1]}"))
        seen.setdefault(token, said(f"used as {marker}", marker.zh))


@RULES.needing("tokenizer")
def special_tokens_are_possible(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    for path, token in [*_special(spec), *_user_defined(spec)]:
        if spec.tokenizer.path is None and (_IMPOSSIBLE.search(token) or not token.isprintable()):
            yield Diagnostic(
                "MS0206",
                said(f"{token!r} cannot be a special piece", f"{token!r} 不能用作特殊词元"),
                path=path,
                reason=said(
                    "blanks and bytes (<0x41>) are pieces of text; SentencePiece would refuse to train, or lose characters",
                    "空白与字节（<0x41>）属于文本词元；SentencePiece 会拒绝训练，或丢失字符",
                ),
                fix=said("write a marker such as <|im_start|>", "请写 <|im_start|> 之类的标记"),
            )


def _special(spec: Spec) -> list[tuple[Path, str]]:
    tokens = spec.tokenizer.special_tokens
    above: Path = ("tokenizer", "special_tokens")
    named = [((*above, name), getattr(tokens, name)) for name in ("pad", "bos", "eos")]
    return [*named, *(((*above, "user", index), token) for index, token in enumerate(tokens.user))]


def _user_defined(spec: Spec) -> list[tuple[Path, str]]:
    return [(("tokenizer", "user_defined", index), token) for index, token in enumerate(spec.tokenizer.user_defined)]
