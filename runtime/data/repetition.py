"""Repeated n-grams of words or of characters, after Rae et al. 2021, table A1.

What follows a phrase that stands once in a text cannot be repeated either, so n-grams are lengthened only where the shorter
one is repeated: few are left after the first two or three.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from runtime.data.measures import Hashes, Share, Spans, Texts, Whole, mixed, ratio, summed
from runtime.data.signs import ALPHANUMERIC, HAN, SPACE

_STEP = np.uint64(0x94D049BB133111EB)


@dataclass(frozen=True)
class Units:
    """What n-grams are made of. hashes: of each; lengths: in characters; owner: its text; first: where those of a text begin."""

    hashes: Hashes
    lengths: Whole
    owner: Whole
    first: Whole


@dataclass(frozen=True)
class Repeated:
    """n-grams of one length that stand in a text more than once, in groups of equal ones.

    positions: of their first unit, group after group; groups: where each group begins.
    """

    length: int
    positions: Whole
    groups: Whole


def of_words(texts: Texts) -> Units:
    """The words of a batch."""
    words = texts.words
    return Units(words.hashes, words.lengths, words.owner, words.first)


def of_characters(texts: Texts) -> Units:
    """The characters of a batch without its white space; a run of letters and digits that are no Han characters is one unit."""
    kinds = texts.kinds
    run = (kinds & ALPHANUMERIC != 0) & (kinds & HAN == 0)
    begins = run & ~np.concatenate(([False], run[:-1]))
    starts = np.flatnonzero(begins | ~(run | (kinds & SPACE != 0)))
    ends = starts + 1
    ends[begins[starts]] = np.flatnonzero(run & ~np.concatenate((run[1:], [False]))) + 1
    spans = Spans(texts.signs, starts, ends)
    return Units(spans.hashes, spans.lengths, spans.owner, spans.first)


def shares(units: Units, top: Sequence[int], duplicate: Sequence[int]) -> dict[int, Share]:
    """n -> share of the characters of each text, for the n of `top` those in its most frequent repeated n-gram, for the n of
    `duplicate` those in n-grams that stood in it before, each character once."""
    totals = summed(units.lengths, units.first)
    found: dict[int, Share] = {}
    for repeated in _repeated(units, sorted({*top, *duplicate})):
        if repeated.length in top:
            found[repeated.length] = ratio(_in_most_frequent(units, repeated), totals)
        elif repeated.length in duplicate:
            found[repeated.length] = ratio(_in_later(units, repeated), totals)
    return found


def _repeated(units: Units, lengths: Sequence[int]) -> Iterator[Repeated]:
    """Repeated n-grams of ascending lengths."""
    positions = np.arange(len(units.hashes))
    keys = units.hashes ^ mixed(units.owner.astype(np.uint64))
    have = 1
    for length in lengths:
        positions, keys = _lengthened(units, positions, keys, have, length)
        positions, keys, groups = _grouped(positions, keys, len(units.hashes))
        have = length
        yield Repeated(length, positions, groups)


def _lengthened(units: Units, positions: Whole, keys: Hashes, have: int, length: int) -> tuple[Whole, Hashes]:
    inside = positions + length <= units.first[units.owner[positions] + 1]
    positions, keys = positions[inside], keys[inside]
    for more in range(have, length):
        keys = keys * _STEP + units.hashes[positions + more]
    return positions, keys


def _grouped(positions: Whole, keys: Hashes, size: int) -> tuple[Whole, Hashes, Whole]:
    """Those whose key is not alone, equal keys together and in order of position, and where each key begins.

    Key and position are sorted as one number, which is twice as fast as to sort places by key; over 40 bits are left to the key.
    """
    positions, keys = _crowded(positions, keys)
    shift = np.uint64(size.bit_length())
    packed = (np.arange(len(keys), dtype=np.uint64)) | (mixed(keys) >> shift << shift)
    packed.sort()
    order, tops = (packed & ((np.uint64(1) << shift) - np.uint64(1))).astype(np.int64), packed >> shift
    starts = np.flatnonzero(np.concatenate(([True], tops[1:] != tops[:-1]))) if len(tops) else np.zeros(0, np.int64)
    counts = np.diff(np.concatenate((starts, [len(tops)])))
    order = order[np.repeat(counts > 1, counts)]
    counts = counts[counts > 1]
    return positions[order], keys[order], np.cumsum(counts) - counts


def _crowded(positions: Whole, keys: Hashes) -> tuple[Whole, Hashes]:
    """Without most of those that are alone: sorting is dear, and few keys share one of many buckets by chance."""
    bits = max(2 * len(keys), 2).bit_length()
    bucket = (keys >> np.uint64(64 - bits)).view(np.int64)
    several = np.flatnonzero(np.bincount(bucket, minlength=1 << bits)[bucket] > 1)
    return positions[several], keys[several]


def _in_most_frequent(units: Units, repeated: Repeated) -> Whole:
    """Characters of the n-gram with the most of them, all of its occurrences together; they may overlap."""
    most = np.zeros(len(units.first) - 1, np.int64)
    counts = np.diff(np.concatenate((repeated.groups, [len(repeated.positions)])))
    one = repeated.positions[repeated.groups]
    ends = np.concatenate(([0], np.cumsum(units.lengths)))
    np.maximum.at(most, units.owner[one], (ends[one + repeated.length] - ends[one]) * counts)
    return most


def _in_later(units: Units, repeated: Repeated) -> Whole:
    """Characters of units inside any n-gram that is not the first of its kind."""
    if not len(repeated.positions):
        return np.zeros(len(units.first) - 1, np.int64)
    later = np.delete(repeated.positions, repeated.groups)  # the first of each group
    size = len(units.hashes) + 1
    covered = np.cumsum(np.bincount(later, minlength=size) - np.bincount(later + repeated.length, minlength=size))[:-1] > 0
    return summed(np.where(covered, units.lengths, 0), units.first)
