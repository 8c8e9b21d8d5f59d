"""Rows as a person reads them: their text, what of it is trained on, and which pieces are special. Written to `sample.jsonl`."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from runtime.data.encoding import Vocabulary
from runtime.data.rows import scored

SAMPLE = "sample.jsonl"
ENOUGH = 20


@dataclass
class RowSamples:
    """Rows spread evenly over a stream of unknown length: every `stride`-th, between ENOUGH and twice as many where there are."""

    stride: int = 1
    seen: int = 0
    _kept: list[tuple[int, np.ndarray, np.ndarray, str]] = field(default_factory=list[tuple[int, np.ndarray, np.ndarray, str]])

    def offer(self, ids: np.ndarray, labels: np.ndarray, sources: Sequence[str]) -> None:
        """Take note of rows: ids and labels (rows, length)."""
        for index in range(-self.seen % self.stride, len(ids), self.stride):
            self._kept.append((self.seen + index, ids[index].copy(), labels[index].copy(), sources[index]))
        self.seen += len(ids)
        while len(self._kept) >= 2 * ENOUGH:
            self.stride *= 2
            self._kept = [kept for kept in self._kept if kept[0] % self.stride == 0]

    def rows(self, split: str, vocabulary: Vocabulary) -> Iterator[dict[str, Any]]:
        """The rows that were kept, in order."""
        for index, ids, labels, source in self._kept:
            yield {"id": f"{split} row {index}", "source": source, "segments": segments(vocabulary, ids, labels)}


def segments(vocabulary: Vocabulary, ids: np.ndarray, labels: np.ndarray) -> list[dict[str, Any]]:
    """A row (ids and labels, (length,)) as runs of pieces that are alike: text, whether it is trained on, whether it is special.

    A run of pad is written once, with how often it stands there.
    """
    trained = [False, *scored(ids, labels, vocabulary.pad).tolist()]
    kinds = [(bool(mark), bool(special)) for mark, special in zip(trained, vocabulary.is_special[ids], strict=True)]
    found = list[dict[str, Any]]()
    for (mark, special), run in groupby(zip(kinds, ids.tolist(), strict=True), key=lambda pair: pair[0]):
        members = [id for _, id in run]
        text = "".join(_named(vocabulary, members)) if special else vocabulary.decode(members)
        found.append({"text": text, "trained": mark, "special": special})
    return found


def _named(vocabulary: Vocabulary, ids: Sequence[int]) -> Iterator[str]:
    for id, run in groupby(ids):
        count = len(list(run))
        name = vocabulary.name(id)
        yield f"{name} x {count}" if id == vocabulary.pad and count > 1 else name * count


def write(folder: Path, rows: Iterable[dict[str, Any]]) -> None:
    """Write `sample.jsonl` into a result folder."""
    (folder / SAMPLE).write_bytes(b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows))
