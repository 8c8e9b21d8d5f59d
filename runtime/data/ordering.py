"""A seeded order of documents that depends on their identity alone: no random generator whose stream may change."""

import unicodedata

import xxhash


def rank(seed: int, *parts: object) -> int:
    """A 64-bit number, evenly spread, for the seed and the parts (xxHash64 of their text)."""
    return xxhash.xxh64_intdigest("\0".join(map(str, parts)).encode(), seed=seed % 2**64)


def unit(seed: int, *parts: object) -> float:
    """`rank` as a number in [0, 1)."""
    return (rank(seed, *parts) >> 11) / 2**53


# NFKC begins by taking every character apart, so those that are taken apart beforehand change nothing. Most texts hold no others
# than these: without them, NFKC sees at a glance that it has nothing to do, and is several times faster.
_APART = {sign: unicodedata.normalize("NFKD", sign) for sign in "，！？：；（）…\u3000\xa0"}


_BLANKS = bytes(sign for sign in range(128) if chr(sign).isspace())


def compatible(text: str) -> str:
    """Unicode's normal form KC."""
    if text.isascii():
        return text
    for sign, apart in _APART.items():
        text = text.replace(sign, apart)
    return unicodedata.normalize("NFKC", text)


def folded(text: str) -> str:
    """Equal for texts that differ only in white space, case and width of characters."""
    if text.isascii():  # most English texts: the same, several times faster
        return text.encode().lower().translate(None, _BLANKS).decode()
    return "".join(compatible(text).casefold().split())


def digest(folded: str) -> str:
    """xxHash3 of a folded text, 128 bits."""
    return xxhash.xxh3_128_hexdigest(folded.encode())


def fingerprint(text: str) -> str:
    """Equal for texts whose `folded` form is."""
    return digest(folded(text))
