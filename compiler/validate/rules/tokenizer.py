"""The vocabulary must be able to hold what it promises."""

import re
from collections.abc import Iterator

from compiler.diagnostics import Diagnostic
from compiler.source import Path, SourceTree
from compiler.spec import Spec
from compiler.validate.rules.registry import Rules

RULES = Rules()

_BYTES = 256
_UNKNOWN = "<unk>"
_IMPOSSIBLE = re.compile("\\s|\u2581|\u2585|^<0x[0-9A-Fa-f]{2}>$")  # the two signs are SentencePiece's own: a blank, unknown text


@RULES.needing("tokenizer")
def kind_is_built(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    if spec.tokenizer.kind != "sentencepiece":
        yield Diagnostic(
            "MS0331",
            f"{spec.tokenizer.kind} is not built in this version",
            path=("tokenizer", "kind"),
            reason="the tokenizer stage trains SentencePiece models; it does not take over existing ones",
            fix="use sentencepiece",
            suggestion="sentencepiece",
        )


@RULES.needing("tokenizer")
def vocabulary_holds_the_reserved(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    special = len(_special(spec)) + 1
    reserved = special + _BYTES * spec.tokenizer.byte_fallback
    if spec.tokenizer.vocab_size <= reserved:
        count = f"{special} special pieces" + f" + {_BYTES} bytes" * spec.tokenizer.byte_fallback
        yield Diagnostic(
            "MS0327",
            f"{spec.tokenizer.vocab_size} pieces, but {count} = {reserved} are reserved",
            path=("tokenizer", "vocab_size"),
            reason="no piece would be left for text, and SentencePiece would refuse to train",
            fix=f"choose far more than {reserved}, for example 4000",
        )


@RULES.needing("tokenizer")
def special_tokens_differ(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    seen = {_UNKNOWN: "the unknown piece"}
    for path, token in _special(spec):
        if token in seen:
            yield Diagnostic(
                "MS0328",
                f"{token} is already {seen[token]}",
                path=path,
                reason="one piece would have two meanings: an end token that is also padding is never learned",
                fix="choose another text",
            )
        seen.setdefault(token, f"used as {path[-1] if isinstance(path[-1], str) else 'a chat marker'}")


@RULES.needing("tokenizer")
def special_tokens_are_possible(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    for path, token in _special(spec):
        if _IMPOSSIBLE.search(token) or not token.isprintable():
            yield Diagnostic(
                "MS0206",
                f"{token!r} cannot be a special piece",
                path=path,
                reason="blanks and bytes (<0x41>) are pieces of text; SentencePiece would refuse to train, or lose characters",
                fix="write a marker such as <|im_start|>",
            )


def _special(spec: Spec) -> list[tuple[Path, str]]:
    tokens = spec.tokenizer.special_tokens
    above: Path = ("tokenizer", "special_tokens")
    named = [((*above, name), getattr(tokens, name)) for name in ("pad", "bos", "eos")]
    return [*named, *(((*above, "user", index), token) for index, token in enumerate(tokens.user))]
