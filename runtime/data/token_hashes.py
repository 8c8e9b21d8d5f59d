"""The tokens of `shingles.tokens` as 64-bit numbers, many texts at once.

A token is hashed as the polynomial of its mixed code points (Karp and Rabin 1987, "Efficient randomized pattern-matching
algorithms") modulo 2^64, which numpy evaluates for all tokens of a block in a few passes. The numbers are the same on every
machine. Two different tokens, or runs of tokens, share a number with a probability near 2^-64.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import xxhash
from numpy.typing import NDArray

from runtime.data.shingles import UNSPACED, folded

Hashes = NDArray[np.uint64]

BLOCK = 1 << 17  # characters that are hashed at a time: what it takes stays in the cache of a core
_KNOWN = 0x33480  # no script beyond has letters; a higher code point separates
_BASE = np.uint64(0x9E3779B97F4A7C15)
_STEP = np.uint64(0xD1342543DE82EF95)
_MASK = (1 << 64) - 1


@dataclass(frozen=True)
class Tokens:
    """`hashes`: of all tokens, text after text; `counts`: tokens of each text."""

    hashes: Hashes
    counts: NDArray[np.int64]

    @property
    def starts(self) -> NDArray[np.int64]:
        """Where the tokens of each text begin in `hashes`."""
        return np.cumsum(self.counts) - self.counts


def mixed(values: Hashes) -> Hashes:
    """Every bit of the result depends on every bit of the value: the finaliser of SplitMix64 (Steele, Lea, Flood 2014), a bijection."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def hashed(texts: Sequence[str]) -> Tokens:
    """The tokens of each text. Memory: 8 bytes a token, and a few megabytes."""
    pieces, owner = list[str](), list[int]()
    for number, text in enumerate(texts):
        for piece in _pieces(folded(text)):
            pieces.append(piece)
            owner.append(number)
    hashes, counts = list[Hashes](), np.zeros(len(texts), np.int64)
    for first, last in _blocks(pieces):
        of_block, of_pieces = _of_block(pieces[first:last])
        hashes.append(of_block)
        np.add.at(counts, owner[first:last], of_pieces)
    return Tokens(np.concatenate(hashes) if hashes else np.zeros(0, np.uint64), counts)


def runs(hashes: Hashes, length: int) -> Hashes:
    """One number for each run of `length` tokens, in order; shape (tokens - length + 1,), empty where there are fewer tokens."""
    count = max(len(hashes) - length + 1, 0)
    result = np.zeros(count, np.uint64)
    for start in range(length if count else 0):
        result *= _STEP
        result += hashes[start : start + count]
    return result


def _pieces(text: str) -> Iterator[str]:
    """A long text in pieces of a block, cut at a blank or between characters of a script without blanks where there is one."""
    start = 0
    while len(text) - start > BLOCK:
        window = text[start : start + BLOCK]
        cut = max(window.rfind(" "), window.rfind("\n"))
        if cut <= 0:
            cut = next((place for place in range(BLOCK - 1, 0, -1) if _is_cut(window[place])), BLOCK)
        yield text[start : start + cut]
        start += cut
    yield text[start:]


def _is_cut(character: str) -> bool:
    code = ord(character)
    return code >= _KNOWN or bool(_unspaced()[code]) or not _mixtures()[code]


def _blocks(pieces: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Ranges of pieces that have about BLOCK characters together."""
    first = size = 0
    for last, piece in enumerate(pieces, 1):
        size += len(piece) + 1
        if size >= BLOCK or last == len(pieces):
            yield first, last
            first, size = last, 0


def _of_block(pieces: Sequence[str]) -> tuple[Hashes, NDArray[np.int64]]:
    """The hashes of all tokens of a few pieces, and how many each piece has."""
    codes = np.frombuffer(("\n".join(pieces) + "\n").encode("utf-32-le", "surrogatepass"), np.uint32)
    codes = np.minimum(codes, np.uint32(_KNOWN - 1))
    mixtures, apart = _mixtures()[codes], _unspaced()[codes]
    inside = mixtures != 0
    begins = inside.copy()
    begins[1:] &= ~inside[:-1] | apart[1:] | apart[:-1]
    starts = np.flatnonzero(begins)
    ends = np.cumsum([len(piece) + 1 for piece in pieces])
    counts = np.diff(np.searchsorted(starts, ends), prepend=0)
    if not len(starts):
        return np.zeros(0, np.uint64), counts
    powers, inverses = _powers(_BASE, len(codes)), _powers(np.uint64(pow(int(_BASE), -1, 1 << 64)), len(codes))
    sums = np.add.reduceat(mixtures * powers[: len(codes)], starts)  # what separates adds 0
    return mixed(sums * inverses[starts]), counts


@cache
def _mixtures() -> Hashes:
    """A number for every code point; 0 for what separates tokens."""
    codes = np.arange(_KNOWN, dtype=np.uint64)
    letters = np.fromiter(((chr(code).isalnum() or code == ord("_")) for code in range(_KNOWN)), bool, _KNOWN) | _unspaced()
    return np.where(letters, mixed((codes + np.uint64(1)) * _BASE), np.uint64(0))


@cache
def _unspaced() -> NDArray[np.bool_]:
    """Whether a code point is a token of its own."""
    table = np.zeros(_KNOWN, bool)
    for first, last in UNSPACED:
        table[first : last + 1] = True
    return table


_GROWN: dict[int, Hashes] = {}


def _powers(base: np.uint64, count: int) -> Hashes:
    """base^0, base^1, ... modulo 2^64; at least `count` of them."""
    known = _GROWN.get(int(base))
    if known is None or len(known) < count:
        known = np.full(max(count, 2 * BLOCK), base, np.uint64)
        known[0] = 1
        _GROWN[int(base)] = known = np.multiply.accumulate(known)
    return known


def shingles(texts: Sequence[str], tokens: Tokens, ngram: int) -> Tokens:
    """One number for each run of `ngram` tokens of each text; a text with fewer, but some, is one shingle as a whole.

    As a whole it is read with its signs: C++ is not C#, and -5 is not 5. A short text and a run of a long one never have the same
    number, but by chance.
    """
    counts = np.where(tokens.counts >= ngram, tokens.counts - ngram + 1, np.minimum(tokens.counts, 1))
    result = np.empty(int(counts.sum()), np.uint64)
    short = (tokens.counts > 0) & (tokens.counts < ngram)
    first = np.cumsum(counts) - counts
    inside = np.arange(len(result)) - np.repeat(first, counts)  # which run of its text
    long = np.repeat(~short, counts)
    result[long] = mixed(runs(tokens.hashes, ngram)[(np.repeat(tokens.starts, counts) + inside)[long]])
    result[first[short]] = [_entire(texts[int(number)]) for number in np.flatnonzero(short)]
    return Tokens(result, counts)


def _entire(text: str) -> int:
    """One number for all of a text but for capitals and the kind of white space."""
    return xxhash.xxh3_64_intdigest(" ".join(folded(text).split()).encode("utf-8", "surrogatepass"))
