"""What quality rules measure, over many texts at a time: characters, words, lines and paragraphs as arrays.

A batch is one array of code points in which every text ends in a line feed, so that no word or line reaches into the next
text. Everything else is positions in that array. A batch takes about 60 bytes of memory a character.
"""

from collections.abc import Sequence
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from runtime.data.signs import ALPHANUMERIC, BULLET, HAN, LINE_FEED, SENTENCE_END, SPACE, kinds_of

Whole = NDArray[np.int64]
Share = NDArray[np.float64]
Flags = NDArray[np.bool_]
Hashes = NDArray[np.uint64]

_BASE, _MIX = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9  # odd, so that powers have inverses modulo 2**64 (Steele et al. 2014)


class Signs:
    """A batch of texts as one array of code points, and what is known of its positions.

    It knows of no spans, which hold it: what held each other would stay in memory until the collector of cycles comes by.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        lengths = np.fromiter((len(text) + 1 for text in texts), np.int64, len(texts))
        self.first = np.concatenate(([0], np.cumsum(lengths)))  # of each text, and the end of the last
        self.joined = "".join(f"{text}\n" for text in texts)
        self.codes = np.frombuffer(self.joined.encode("utf-32-le", "surrogatepass"), np.uint32)
        self.kinds = kinds_of(self.codes)

    def running(self, kind: int) -> NDArray[np.int32]:
        """How many characters of a kind stand before each position."""
        return _running(self.kinds & kind != 0)

    @cached_property
    def visible(self) -> NDArray[np.int32]:
        """Running count of characters that are no white space."""
        return _running(self.kinds & SPACE == 0)

    @cached_property
    def words(self) -> tuple[Whole, Whole]:
        """Where words begin and end."""
        inside = self.kinds & SPACE == 0
        before = np.concatenate(([False], inside[:-1]))
        return np.flatnonzero(inside & ~before), np.flatnonzero(before & ~inside)

    @cached_property
    def _polynomial(self) -> Hashes:
        """Running sum of code point times a power of the base: the hash of any span is a difference of two."""
        sums = np.zeros(len(self.codes) + 1, np.uint64)
        np.cumsum((self.codes + np.uint32(1)) * _powers(len(self.codes), _BASE), out=sums[1:])
        return sums

    def hashes(self, starts: Whole, ends: Whole) -> Hashes:
        """64 bits of each span: a function of its characters alone."""
        down = _powers(len(self.codes), pow(_BASE, -1, 2**64))
        return mixed((self._polynomial[ends] - self._polynomial[starts]) * down[starts])


class Texts:
    """A batch of texts. Counts are per text, in the order of the texts."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts, self.signs = texts, Signs(texts)
        self.first, self.joined, self.codes, self.kinds = self.signs.first, self.signs.joined, self.signs.codes, self.signs.kinds

    def number_of(self, kind: int) -> Whole:
        """Characters of a kind."""
        return self._within(self.signs.running(kind))

    def _within(self, running: NDArray[np.int32]) -> Whole:
        """What a running count rose by in each text."""
        return np.diff(running[self.first]).astype(np.int64)

    @cached_property
    def characters(self) -> Whole:
        """Characters that are no white space."""
        return self._within(self.signs.visible)

    @cached_property
    def words(self) -> "Spans":
        """What stands between white space."""
        return Spans(self.signs, *self.signs.words)

    @cached_property
    def _every_line(self) -> tuple[Whole, Whole, Flags]:
        ends = np.flatnonzero(self.codes == LINE_FEED)
        starts = np.concatenate(([0], ends[:-1] + 1))
        return starts, ends, self.signs.visible[ends] > self.signs.visible[starts]

    @cached_property
    def lines(self) -> "Spans":
        """Lines that are not blank, with the blanks around them and without their line feed."""
        starts, ends, written = self._every_line
        return Spans(self.signs, starts[written], ends[written])

    @cached_property
    def paragraphs(self) -> "Spans":
        """Lines that follow each other without a blank one."""
        starts, ends, written = self._every_line
        opens = np.isin(starts, self.first)
        follows = np.concatenate(([False], written[:-1])) & ~opens
        leads = np.concatenate((written[1:], [False])) & ~np.concatenate((opens[1:], [True]))
        return Spans(self.signs, starts[written & ~follows], ends[written & ~leads])


class Spans:
    """Stretches of a batch in order, none across two texts. starts, ends: positions; first: where those of each text begin."""

    def __init__(self, signs: Signs, starts: Whole, ends: Whole) -> None:
        self.signs, self.starts, self.ends = signs, starts, ends
        self.first = np.searchsorted(starts, signs.first).astype(np.int64)

    @cached_property
    def count(self) -> Whole:
        """How many each text has."""
        return np.diff(self.first)

    @cached_property
    def owner(self) -> Whole:
        """The text that each span belongs to."""
        return np.repeat(np.arange(len(self.count)), self.count)

    @cached_property
    def lengths(self) -> Whole:
        """Characters of each span."""
        return self.ends - self.starts

    @cached_property
    def hashes(self) -> Hashes:
        """64 bits of each span."""
        return self.signs.hashes(self.starts, self.ends)

    def total(self, values: NDArray[np.number] | Flags) -> Whole:
        """The sum of a value of each span, per text."""
        return summed(values, self.first)

    def share(self, flags: Flags) -> Share:
        """The share of the spans of each text for which something holds; 0 where there is none."""
        return ratio(self.total(flags), self.count)

    def have(self, kind: int) -> Flags:
        """Whether each span has a character of a kind."""
        running = self.signs.running(kind)
        return running[self.ends] > running[self.starts]

    @cached_property
    def edges(self) -> tuple[Whole, Whole]:
        """First and last visible character of each span, which must have one."""
        starts, ends = self.signs.words
        return starts[np.searchsorted(starts, self.starts)], ends[np.searchsorted(ends, self.ends, "right") - 1] - 1

    @cached_property
    def repeats(self) -> Flags:
        """Whether a span of the same text that stands before is equal."""
        key = self.hashes ^ mixed(self.owner.astype(np.uint64))
        _, first = np.unique(key, return_index=True)
        repeats = np.ones(len(key), np.bool_)
        repeats[first] = False
        return repeats


def ratio(part: NDArray[np.number], whole: NDArray[np.number]) -> Share:
    """Part of a whole; 0 where there is no whole."""
    return np.divide(part, np.maximum(whole, 1), dtype=np.float64)


def summed(values: NDArray[np.number] | Flags, first: Whole) -> Whole:
    """Sums of values between positions that follow each other."""
    sums = np.zeros(len(values) + 1, np.int64)
    np.cumsum(values, out=sums[1:])
    return np.diff(sums[first])


def mixed(values: Hashes) -> Hashes:
    """Spread what differs between values over all of their 64 bits."""
    spread = (values ^ (values >> np.uint64(31))) * np.uint64(_MIX)
    return spread ^ (spread >> np.uint64(29))


def bullets(lines: Spans) -> Flags:
    """Lines that begin with a bullet."""
    return lines.signs.kinds[lines.edges[0]] & BULLET != 0


def ellipses(lines: Spans) -> Flags:
    """Lines that end in … or in three dots."""
    codes, last = lines.signs.codes, lines.edges[1]
    dots = (codes[last] == ord(".")) & (codes[last - 1] == ord(".")) & (codes[last - 2] == ord(".")) & (last - lines.starts >= 2)
    return (codes[last] == ord("…")) | dots


def ended(lines: Spans) -> Flags:
    """Lines that end in the sign of a finished sentence, or in a quotation mark."""
    return lines.signs.kinds[lines.edges[1]] & SENTENCE_END != 0


def ellipsis_count(texts: Texts) -> Whole:
    """Occurrences of … and of three dots in a row, each dot counted once."""
    dots = np.flatnonzero(texts.codes == ord("."))
    begins = np.flatnonzero(np.diff(dots, prepend=-2) != 1)
    threes = np.diff(begins, append=len(dots)) // 3
    at = np.searchsorted(dots[begins] if len(dots) else dots, texts.first)
    return summed(threes, at) + summed(texts.codes == ord("…"), texts.first)


def longest_run(texts: Texts) -> Whole:
    """How often one visible character stands in a row at most; rules and dots leaders of tables are not counted."""
    codes = texts.codes
    starts = np.flatnonzero(np.concatenate(([True], codes[1:] != codes[:-1])))
    lengths = np.diff(np.concatenate((starts, [len(codes)])))
    lengths[texts.kinds[starts] & ALPHANUMERIC == 0] = 0
    owner = np.searchsorted(texts.first, starts, "right") - 1
    longest = np.zeros(len(texts.first) - 1, np.int64)
    np.maximum.at(longest, owner, lengths)
    return longest


def distinct_han(texts: Texts) -> Whole:
    """Different Han characters."""
    return np.fromiter((_distinct_han(text) for text in texts.texts), np.int64, len(texts.texts))


def _distinct_han(text: str) -> int:
    different = np.fromiter(map(ord, set(text)), np.uint32)
    return int(np.count_nonzero(kinds_of(different) & HAN))


def _running(flags: Flags) -> NDArray[np.int32]:
    sums = np.zeros(len(flags) + 1, np.int32)
    np.cumsum(flags, out=sums[1:])
    return sums


@cache
def _all_powers(size: int, base: int) -> Hashes:
    powers = np.full(size, base, np.uint64)
    powers[0] = 1
    return np.cumprod(powers, out=powers)


def _powers(size: int, base: int) -> Hashes:
    """Powers of a base modulo 2**64 from 0 on; tables of a few lengths are kept."""
    return _all_powers(1 << max(size, 2).bit_length(), base)[:size]
