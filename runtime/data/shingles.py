"""What two documents are compared by: overlapping runs of words, or of characters where a script has no blanks."""

import re

# Scripts written without blanks between words: Thai, Lao, Tibetan, Myanmar, Khmer, kana, bopomofo, Han. Split at blanks,
# a whole Chinese paragraph would be one word and every paragraph would have the same, empty, set of shingles.
_UNSPACED = "\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u312f\u31a0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
_TOKEN = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+")


def tokens(text: str) -> list[str]:
    """Words in lower case, and single characters of scripts without blanks; punctuation separates."""
    return _TOKEN.findall(text.casefold())


def shingles(parts: list[str], ngram: int) -> frozenset[tuple[str, ...]]:
    """All runs of `ngram` tokens; a text with fewer tokens is one shingle."""
    if len(parts) < ngram:
        return frozenset([tuple(parts)])
    return frozenset(zip(*(parts[start:] for start in range(ngram)), strict=False))


def jaccard(left: frozenset[tuple[str, ...]], right: frozenset[tuple[str, ...]]) -> float:
    """Size of the intersection over size of the union, in [0, 1]."""
    common = len(left & right)
    return common / (len(left) + len(right) - common)
