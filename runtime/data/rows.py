"""From documents to rows of one length, and what a row means to mindformers 1.9.0 (legacy Llama, in training).

A row holds seq_length + 1 ids. The model sees all but the last one and is scored on all but the first one: it shifts ids and
labels itself, once. A position is left out of the loss where its input id is the pad id or its label is -100. All positions
of a row attend to all before them, across the end of a document.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from runtime.data.chat import IGNORED
from runtime.data.encoding import Vocabulary
from runtime.faults import StageFault

PRETRAIN_LAYOUT = (
    "documents as bos text eos, joined, separated by eos alone: attention crosses; "
    "a row begins with the last id of the row before; the model shifts labels"
)
INSTRUCT_LAYOUT = (
    "one dialogue a row, pad behind it; labels stand at the position of their id, -100 where not trained; the model shifts labels"
)


def document_ids(vocabulary: Vocabulary, text: str) -> tuple[list[int], list[int]]:
    """(ids, UTF-8 bytes each id stands for) of one document: bos, its text, eos exactly once."""
    ids = vocabulary.encode(text)
    return [vocabulary.bos, *ids, vocabulary.eos], [0, *vocabulary.sizes(text, ids), 0]


@dataclass
class RowCutter:
    """Cuts a stream of documents into rows of `seq_length` + 1 ids.

    The last id of a row is also the first of the next one, so every id but the very first is scored exactly once.
    What is left at the end is dropped and counted.
    """

    seq_length: int
    rows: int = 0
    documents: int = 0
    tokens: int = 0
    bytes: int = 0
    _ids: list[int] = field(default_factory=list)
    _sizes: list[int] = field(default_factory=list)

    def add(self, ids: Sequence[int], sizes: Sequence[int]) -> Iterator[np.ndarray]:
        """Take one document (ids, and the bytes each stands for) and yield the rows it fills: int32, (seq_length + 1,)."""
        self._ids.extend(ids)
        self._sizes.extend(sizes)
        self.documents += 1
        self.tokens += len(ids)
        self.bytes += sum(sizes)
        start = 0
        while start + self.seq_length < len(self._ids):
            yield np.asarray(self._ids[start : start + self.seq_length + 1], dtype=np.int32)
            start += self.seq_length
            self.rows += 1
        del self._ids[:start], self._sizes[:start]

    @property
    def scored_tokens(self) -> int:
        """Label positions of all rows."""
        return self.rows * self.seq_length

    @property
    def dropped_tokens(self) -> int:
        """Ids behind the last row."""
        return len(self._ids) - 1 if self.rows else len(self._ids)

    @property
    def scored_bytes(self) -> int:
        """UTF-8 bytes of the text that the scored tokens stand for; what was dropped is not in it."""
        return self.bytes - sum(self._sizes[1:] if self.rows else self._sizes)


def pad_row(input_ids: Sequence[int], labels: Sequence[int], length: int, pad: int, where: str) -> dict[str, np.ndarray]:
    """One dialogue as a row: ids filled with `pad`, labels with IGNORED, by position and not by id. Raises StageFault."""
    if len(input_ids) != len(labels) or len(input_ids) > length:
        raise StageFault(
            f"{len(input_ids)} ids and {len(labels)} labels do not fit a row of {length}",
            where=where,
            fix="delete the folder instruct and run `dvc repro`",
        )
    missing = length - len(input_ids)
    row = {
        "input_ids": np.asarray([*input_ids, *[pad] * missing], np.int64),
        "labels": np.asarray([*labels, *[IGNORED] * missing], np.int64),
    }
    if not scored(row["input_ids"], row["labels"], pad).any():
        raise StageFault(
            "no trained token in the row",
            where=where,
            reason="its loss would be 0 divided by 0",
            fix="delete the folder instruct and run `dvc repro`",
        )
    return row


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

    def add(self, row: np.ndarray) -> None:
        """Count the labels of one row."""
        self.counts += np.bincount(row[1:], minlength=len(self.counts))

    def score(self, held_out: "Unigram", text_bytes: int) -> dict[str, float | int]:
        """Bits per byte and perplexity on the labels that `held_out` counted, which stand for `text_bytes` of text."""
        total = math.log2(int(self.counts.sum()) + len(self.counts))
        bits = math.fsum(
            int(seen) * (total - math.log2(int(count) + 1)) for seen, count in zip(held_out.counts, self.counts, strict=True) if seen
        )
        tokens = int(held_out.counts.sum())
        return {"bits_per_byte": round(bits / text_bytes, 6), "perplexity": round(2 ** (bits / tokens), 4), "tokens": tokens}


def tokens_by_source(items: Iterable[tuple[str, int, int]]) -> dict[str, dict[str, int]]:
    """Sums of (source, tokens, bytes), sources in order of name."""
    sums: dict[str, dict[str, int]] = {}
    for source, tokens, size in items:
        entry = sums.setdefault(source, {"documents": 0, "tokens": 0, "bytes": 0})
        entry["documents"] += 1
        entry["tokens"] += tokens
        entry["bytes"] += size
    return dict(sorted(sums.items()))
