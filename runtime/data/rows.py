"""From documents to rows of one length, and what a row means to mindformers 1.9.0 (legacy Llama, in training).

A row holds seq_length + 1 ids. The model sees all but the last one and is scored on all but the first one: it shifts ids and
labels itself, once. A position is left out of the loss where its input id is the pad id or its label is -100. All positions
of a row attend to all before them, across the end of a document.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from runtime.data.chat import IGNORED
from runtime.data.encoding import Vocabulary
from runtime.faults import StageFault

PRETRAIN_LAYOUT = (
    "documents as bos text eos, joined, separated by eos alone: attention crosses; "
    "a row begins with the last id of the row before; the model shifts labels"
)
PADDED_LAYOUT = f"{PRETRAIN_LAYOUT}; the last row is filled with pad, whose labels are -100"
WHOLE_LAYOUT = (
    "documents as bos text eos, none continued in a row of others but for the rest of one that is longer than a row; attention "
    "crosses, the loss does not: labels stand at the position of their id, -100 at the first id of each document and at pad, "
    "which fills the row; a row that continues a document begins with the last id of the row before; the model shifts labels"
)
INSTRUCT_LAYOUT = (
    "one dialogue a row, pad behind it; labels stand at the position of their id, -100 where not trained; the model shifts labels"
)
SEVERAL_LAYOUT = (
    "training rows hold whole dialogues one behind the other, pad behind them, validation rows one dialogue each; attention crosses "
    "from one dialogue to the next, the loss does not: labels stand at the position of their id, -100 where not trained and at the "
    "first id of each dialogue; the model shifts labels"
)
OPEN = 64  # rows that wait for a document that fits: more fill rows better, and are memory and time

Ids = NDArray[np.int32]


def document_ids(vocabulary: Vocabulary, text: str) -> tuple[Ids, Ids]:
    """(ids, UTF-8 bytes each id stands for) of one document: bos, its text, eos exactly once."""
    ids = vocabulary.array(text)
    whole, sizes = np.empty(len(ids) + 2, np.int32), np.zeros(len(ids) + 2, np.int32)
    whole[0], whole[1:-1], whole[-1] = vocabulary.bos, ids, vocabulary.eos
    sizes[1:-1] = vocabulary.sizes(text, ids)
    return whole, sizes


@dataclass(frozen=True)
class Stream:
    """Documents one behind the other. ids, sizes (UTF-8 bytes of each id), sources (a number for each id): all (ids,).

    lengths: ids of each document.
    """

    ids: Ids
    sizes: Ids
    sources: Ids
    lengths: NDArray[np.int64]

    @classmethod
    def of(cls, documents: Iterable[tuple[Ids, Ids]], sources: Sequence[int] | None = None) -> "Stream":
        """Documents as (ids, sizes), in order, each with the number of its source (0 by default)."""
        given = list(documents)
        lengths = np.asarray([len(ids) for ids, _ in given], np.int64)
        ids = np.concatenate([np.zeros(0, np.int32), *(ids for ids, _ in given)])
        sizes = np.concatenate([np.zeros(0, np.int32), *(sizes for _, sizes in given)])
        numbers = np.asarray(sources if sources is not None else [0] * len(given), np.int32)
        return cls(ids, sizes, np.repeat(numbers, lengths), lengths)


@dataclass(frozen=True)
class Block:
    """Rows. ids, labels: int32, (rows, seq_length + 1), a label at the position of its id, IGNORED where it does not count.

    sources: of the first id of each row, (rows,).
    """

    ids: Ids
    labels: Ids
    sources: Ids


@dataclass
class RowCutter:
    """Cuts documents into rows of `seq_length` + 1 ids, across their ends.

    The last id of a row is also the first of the next one, so every id but the very first is scored exactly once.
    What is left at the end is dropped and counted, or with `pad`, an id, it is filled up.
    """

    seq_length: int
    pad: int | None = None
    rows: int = 0
    documents: int = 0
    tokens: int = 0
    pad_tokens: int = 0
    scored_tokens: int = 0
    scored_bytes: int = 0
    dropped_tokens: int = 0
    _left: tuple[Ids, Ids, Ids] | None = None

    def add(self, stream: Stream) -> Iterator[Block]:
        """Take documents and yield the rows that they fill."""
        self.documents += len(stream.lengths)
        self.tokens += len(stream.ids)
        ids, sizes, sources = stream.ids, stream.sizes, stream.sources
        if self._left is not None:
            before = self._left
            ids, sizes = np.concatenate((before[0], ids)), np.concatenate((before[1], sizes))
            sources = np.concatenate((before[2], sources))
        count = max(len(ids) - 1, 0) // self.seq_length
        if count:
            yield self._block(ids, sizes, sources, count)
        start = count * self.seq_length
        self._left = ids[start:].copy(), sizes[start:].copy(), sources[start:].copy()

    def finish(self) -> Iterator[Block]:
        """The last row, if it is filled up; else what is left is counted as dropped."""
        if self._left is None:
            return
        ids, sizes, sources = self._left
        new = len(ids) - (1 if self.rows else 0)
        if self.pad is None or len(ids) < 2:
            self.dropped_tokens = new
            return
        filled = np.full((1, self.seq_length + 1), self.pad, np.int32)
        labels = np.full_like(filled, IGNORED)
        filled[0, : len(ids)] = labels[0, : len(ids)] = ids
        self.rows += 1
        self.pad_tokens += self.seq_length + 1 - len(ids)
        self.scored_tokens += len(ids) - 1
        self.scored_bytes += int(sizes[1:].sum())
        yield Block(filled, labels, sources[:1])

    def _block(self, ids: Ids, sizes: Ids, sources: Ids, count: int) -> Block:
        rows = np.lib.stride_tricks.sliding_window_view(ids, self.seq_length + 1)[:: self.seq_length][:count]
        self.rows += count
        self.scored_tokens += count * self.seq_length
        self.scored_bytes += int(sizes[1 : count * self.seq_length + 1].sum())
        return Block(rows, rows, sources[:: self.seq_length][:count])


@dataclass
class WholePacker:
    """Puts documents into rows of `seq_length` + 1 ids by first fit, none of them split but one that is longer than a row.

    Such a one fills rows of its own, each of which begins with the last id of the one before; its rest is placed like a document.
    Every id of a document but its first is scored exactly once. `OPEN` rows wait at a time; the oldest is closed for a new one.
    """

    seq_length: int
    pad: int
    rows: int = 0
    documents: int = 0
    tokens: int = 0
    pad_tokens: int = 0
    scored_tokens: int = 0
    scored_bytes: int = 0
    dropped_tokens: int = 0
    _open: list[list[tuple[Ids, int]]] = field(default_factory=list[list[tuple[Ids, int]]])
    _room: list[int] = field(default_factory=list[int])

    def add(self, stream: Stream) -> Iterator[Block]:
        """Take documents and yield the rows that are closed for them."""
        self.documents += len(stream.lengths)
        self.tokens += len(stream.ids)
        ends = np.cumsum(stream.lengths)
        closed: list[list[tuple[Ids, int]]] = []
        for start, end in zip((ends - stream.lengths).tolist(), ends.tolist(), strict=True):
            ids, source = stream.ids[start:end], int(stream.sources[start])
            self.scored_tokens += len(ids) - 1
            self.scored_bytes += int(stream.sizes[start + 1 : end].sum())
            closed += self._placed(ids, source)
        if closed:
            yield self._block(closed)

    def finish(self) -> Iterator[Block]:
        """The rows that still wait, in the order in which they were begun."""
        if self._open:
            yield self._block(self._open)
        self._open, self._room = [], []

    def _placed(self, ids: Ids, source: int) -> list[list[tuple[Ids, int]]]:
        """The rows that a document closes."""
        if len(ids) <= self.seq_length + 1:
            return self._fitted(ids, source)
        count = (len(ids) - 1) // self.seq_length
        starts = range(0, count * self.seq_length, self.seq_length)
        rest = ids[count * self.seq_length :]
        full = [[(ids[start : start + self.seq_length + 1], source)] for start in starts]
        return full + (self._fitted(rest, source) if len(rest) > 1 else [])

    def _fitted(self, ids: Ids, source: int) -> list[list[tuple[Ids, int]]]:
        index = next((index for index, room in enumerate(self._room) if room >= len(ids)), None)
        if index is not None:
            self._open[index].append((ids, source))
            self._room[index] -= len(ids)
            return [self._close(index)] if self._room[index] < 2 else []
        self._open.append([(ids.copy(), source)])
        self._room.append(self.seq_length + 1 - len(ids))
        return [self._close(0)] if len(self._open) > OPEN else []

    def _close(self, index: int) -> list[tuple[Ids, int]]:
        del self._room[index]
        return self._open.pop(index)

    def _block(self, rows: list[list[tuple[Ids, int]]]) -> Block:
        ids = np.full((len(rows), self.seq_length + 1), self.pad, np.int32)
        labels = np.full_like(ids, IGNORED)
        for row, pieces in enumerate(rows):
            place = 0
            for piece, _ in pieces:
                ids[row, place : place + len(piece)] = piece
                labels[row, place + 1 : place + len(piece)] = piece[1:]
                place += len(piece)
            self.pad_tokens += self.seq_length + 1 - place
        self.rows += len(rows)
        return Block(ids, labels, np.asarray([pieces[0][1] for pieces in rows], np.int32))


def scored(input_ids: np.ndarray, labels: np.ndarray, pad: int) -> np.ndarray:
    """Which label positions 1 ... length - 1 of a row count in the loss: bool, (..., length - 1)."""
    return (labels[..., 1:] != IGNORED) & (input_ids[..., :-1] != pad)


def check_ids(ids: np.ndarray, size: int, where: str) -> np.ndarray:
    """The same ids. Raises StageFault where one is not in 0 ... size - 1."""
    if ids.size and not 0 <= int(ids.min()) <= int(ids.max()) < size:
        wrong = next(int(id) for id in ids.flat if not 0 <= id < size)
        raise StageFault(
            f"token id {wrong} is outside the vocabulary of {size}",
            where=where,
            reason="the embedding has no such row",
            fix="delete the folder of the tokenizer and run `dvc repro`",
        )
    return ids


@dataclass
class Unigram:
    """The baseline every language model must beat: tokens drawn by their frequency, with add-one smoothing.

    p(t) = (count(t) + 1) / (total + vocabulary), fitted on the labels of training rows.
    """

    counts: np.ndarray

    @classmethod
    def of_size(cls, vocabulary: int) -> "Unigram":
        """A model that has seen nothing."""
        return cls(np.zeros(vocabulary, np.int64))

    def add(self, labels: np.ndarray) -> None:
        """Count the labels of rows, (..., seq_length + 1); the first of a row is none, nor is one that is IGNORED."""
        counted = labels[..., 1:].ravel()
        some_ignored = bool(counted.size) and int(counted.min()) == IGNORED
        self.counts += np.bincount(counted[counted != IGNORED] if some_ignored else counted, minlength=len(self.counts))

    def score(self, held_out: "Unigram", text_bytes: int) -> dict[str, float | int]:
        """Bits per byte and perplexity on the labels that `held_out` counted, which stand for `text_bytes` of text."""
        total = math.log2(int(self.counts.sum()) + len(self.counts))
        bits = math.fsum(
            int(seen) * (total - math.log2(int(count) + 1)) for seen, count in zip(held_out.counts, self.counts, strict=True) if seen
        )
        tokens = int(held_out.counts.sum())
        return {"bits_per_byte": round(bits / text_bytes, 6), "perplexity": round(2 ** (bits / tokens), 4), "tokens": tokens}
