"""A seeded order of documents that depends on their identity alone: no random generator whose stream may change."""

import re
import unicodedata

import xxhash

_SPACE = re.compile(r"\s+")


def rank(seed: int, *parts: object) -> int:
    """A 64-bit number, evenly spread, for the seed and the parts (xxHash64 of their text)."""
    return xxhash.xxh64_intdigest("\0".join(map(str, parts)).encode(), seed=seed % 2**64)


def unit(seed: int, *parts: object) -> float:
    """`rank` as a number in [0, 1)."""
    return (rank(seed, *parts) >> 11) / 2**53


def fingerprint(text: str) -> str:
    """Equal for texts that differ only in white space, case and width of characters (xxHash3, 128 bits)."""
    folded = _SPACE.sub("", unicodedata.normalize("NFKC", text).casefold())
    return xxhash.xxh3_128_hexdigest(folded.encode())
