"""What two documents are compared by: words, or characters where a script has no blanks between words."""

import re
from collections.abc import Iterator

# Scripts written without blanks between words: Thai, Lao, Tibetan, Myanmar, Khmer, kana, bopomofo, Han. Split at blanks,
# a whole Chinese paragraph would be one word and every paragraph would have the same, empty, set of shingles.
UNSPACED = (
    (0x0E00, 0x0FFF),
    (0x1000, 0x109F),
    (0x1780, 0x17FF),
    (0x3040, 0x312F),
    (0x31A0, 0x31FF),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x3134F),
)
_CLASS = "".join(f"{chr(first)}-{chr(last)}" for first, last in UNSPACED)
_TOKEN = re.compile(rf"[{_CLASS}]|[^\W{_CLASS}]+")


def folded(text: str) -> str:
    """Without the difference of capital and small letters."""
    return text.lower() if text.isascii() else text.casefold()


def tokens(text: str) -> list[str]:
    """Words in lower case, and single characters of scripts without blanks; punctuation separates."""
    return _TOKEN.findall(folded(text))


def spans(text: str) -> Iterator[tuple[int, int]]:
    """Where the tokens of a text that is already folded begin and end."""
    return (found.span() for found in _TOKEN.finditer(text))
