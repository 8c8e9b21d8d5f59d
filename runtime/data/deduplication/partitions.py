"""Rows with a 64-bit key, too many for memory: sorted where they are made, on the disk; taken together by ranges of the key.

Every task over a part of the corpus writes one run of each kind. A partition is a range of keys, of all runs; equal keys
are in one partition. Their number grows with the corpus, so that a partition takes about PARTITION bytes; only a key that
very many documents share makes one larger, by 16 bytes a document.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from runtime.data.token_hashes import Hashes

Documents = NDArray[np.int64]

PARTITION = 32_000_000  # bytes of rows that are sorted at a time; sorting takes about four times as much


@dataclass(frozen=True)
class Layout:
    """Where the runs lie. `offsets`: the number of the first document of each part, and that of all documents as the last."""

    work: Path
    offsets: tuple[int, ...]

    @property
    def parts(self) -> int:
        """Parts of the corpus."""
        return len(self.offsets) - 1

    def documents(self, part: int) -> slice:
        """The documents of one part, in the order of the corpus."""
        return slice(self.offsets[part], self.offsets[part + 1])


@dataclass(frozen=True)
class Partition:
    """The rows of the keys of one range: the `number`-th of `count`."""

    layout: Layout
    number: int
    count: int


def partitions(layout: Layout, rows: int, row_bytes: int) -> list[Partition]:
    """As many as the rows of a kind need."""
    count = 1 + rows * row_bytes // PARTITION
    return [Partition(layout, number, count) for number in range(count)]


def path(work: Path, kind: str, number: int, column: str) -> Path:
    """The file of one column of a run."""
    return work / f"{kind}-{number:05d}-{column}.npy"


def write(work: Path, kind: str, number: int, keys: Hashes, **columns: NDArray[Any]) -> None:
    """Write one run, sorted by key; rows of one key stay in the order they came in."""
    order = np.argsort(keys, kind="stable")
    for name, values in {"keys": keys, **columns}.items():
        np.save(path(work, kind, number, name), values[order])


def take(partition: Partition, kind: str, *columns: str) -> tuple[Documents, Hashes, *tuple[NDArray[Any], ...]]:
    """Documents (of the column `rows`), keys and further columns of a partition, run by run, so in order within a key."""
    layout, found = partition.layout, list[list[NDArray[Any]]]()
    for part in range(layout.parts):
        keys = np.load(path(layout.work, kind, part, "keys"), mmap_mode="r")
        here = slice(_edge(keys, partition.number, partition.count), _edge(keys, partition.number + 1, partition.count))
        if here.start < here.stop:
            rows = np.load(path(layout.work, kind, part, "rows"), mmap_mode="r")[here].astype(np.int64) + layout.offsets[part]
            more = [np.array(np.load(path(layout.work, kind, part, name), mmap_mode="r")[here]) for name in columns]
            found.append([rows, np.array(keys[here]), *more])
    if not found:
        return np.zeros(0, np.int64), np.zeros(0, np.uint64), *(np.zeros(0, np.uint64) for _ in columns)
    documents, keys, *more = (np.concatenate(column) for column in zip(*found, strict=True))
    return documents, keys, *more


def _edge(keys: Hashes, number: int, count: int) -> int:
    """Where the keys of the `number`-th of `count` equal ranges begin."""
    bound = -(-(number << 64) // count)
    return len(keys) if bound >> 64 else int(np.searchsorted(keys, np.uint64(bound)))
