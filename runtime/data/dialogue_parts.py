"""Encoded dialogues between the stages `format` and `pack-instruct`: parts of some thousand rows, as arrays.

A part is the arrays of `Dialogues`, in NumPy's form one behind the other, compressed. Lines of JSON would be a quarter larger, and
take four times as long to write and more than ten times as long to read: each number becomes an object before it becomes an id.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import zstandard
from numpy.typing import NDArray

from runtime.data import row_index
from runtime.data.chat import IGNORED
from runtime.data.row_index import CHOICE, INDEX
from runtime.records import LEVEL


@dataclass(frozen=True)
class Dialogues:
    """Rows in order. names: of the sources; key, copy: the id of a row (row_index.ids_of); source: by its place in `names`.

    lengths: ids of each row; ids: of all rows, one behind the other; trained: whether an id has a label.
    """

    names: NDArray[np.str_]
    key: NDArray[np.uint64]
    copy: NDArray[np.int32]
    source: NDArray[np.int16]
    lengths: NDArray[np.int32]
    ids: NDArray[np.int32]
    trained: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def labels(self) -> NDArray[np.int32]:
        """The labels of all rows, IGNORED where not trained."""
        return np.where(self.trained, self.ids, np.int32(IGNORED))

    def row_ids(self) -> list[str]:
        """The id of each row."""
        entries, choices = np.empty(len(self), INDEX), np.empty(len(self), CHOICE)
        entries["key"], choices["row"], choices["copy"] = self.key, np.arange(len(self)), self.copy
        return list(row_index.ids_of(entries, choices))

    def part(self, start: int, end: int) -> "Dialogues":
        """The rows `start` ... `end` - 1."""
        ends = np.concatenate([[0], np.cumsum(self.lengths)])
        ids = slice(int(ends[start]), int(ends[end]))
        rows = slice(start, end)
        return Dialogues(
            self.names, self.key[rows], self.copy[rows], self.source[rows], self.lengths[rows], self.ids[ids], self.trained[ids]
        )

    def take(self, order: NDArray[np.int64]) -> "Dialogues":
        """The rows of these numbers, in this order."""
        lengths = self.lengths[order]
        begins, placed = np.cumsum(self.lengths) - self.lengths, np.cumsum(lengths) - lengths
        places = np.arange(int(lengths.sum())) + np.repeat(begins[order] - placed, lengths)
        return Dialogues(self.names, self.key[order], self.copy[order], self.source[order], lengths, self.ids[places], self.trained[places])

    @classmethod
    def joined(cls, parts: Sequence["Dialogues"]) -> "Dialogues":
        """The rows of several, which have the same sources."""
        if len(parts) == 1:
            return parts[0]
        return cls(parts[0].names, *(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(cls)[1:]))


def file_name(number: int) -> str:
    """The file name of a part."""
    return f"part-{number:05d}.npy.zst"


def write(path: Path, rows: Dialogues) -> None:
    """Write a part; ids in 16 bits where they fit, which halves the time that it takes to compress them."""
    buffer, narrow = BytesIO(), 0 <= rows.ids.min(initial=0) <= rows.ids.max(initial=0) < 1 << 16
    for field in fields(rows):
        values = getattr(rows, field.name)
        np.save(buffer, values.astype(np.uint16) if narrow and field.name == "ids" else values)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(zstandard.ZstdCompressor(level=LEVEL).compress(buffer.getbuffer()))


def read(folder: Path) -> Iterator[Dialogues]:
    """The parts of a folder in order."""
    for path in sorted(folder.glob("part-*.npy.zst"), key=lambda path: (len(path.name), path.name)):
        buffer = BytesIO(zstandard.ZstdDecompressor().decompress(path.read_bytes()))
        rows = Dialogues(*(np.load(buffer) for _ in fields(Dialogues)))
        yield replace(rows, ids=rows.ids.astype(np.int32, copy=False))


def rows(folder: Path) -> Iterator[dict[str, Any]]:
    """Each row of a folder as by `listed`."""
    for part in read(folder):
        yield from listed(part)


def listed(part: Dialogues) -> Iterator[dict[str, Any]]:
    """Each row as id, source, and lists of ids and labels."""
    ends = np.cumsum(part.lengths)[:-1]
    sources, labels = part.names[part.source].tolist(), np.split(part.labels, ends)
    for id, source, ids, of_row in zip(part.row_ids(), sources, np.split(part.ids, ends), labels, strict=True):
        yield {"id": id, "input_ids": ids.tolist(), "labels": of_row.tolist(), "source": source}
