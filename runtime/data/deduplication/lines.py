"""Lines, or sentences, that repeat: which ones, and what becomes of the documents that have them.

First, tasks over partitions of the keys: 13 bytes for each line of each document. Then, tasks over the parts of the corpus.
"""

import itertools
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from runtime.contracts.dedup import Lines
from runtime.data.deduplication import partitions
from runtime.data.deduplication.clusters import CHANGED, read_table
from runtime.data.deduplication.partitions import Layout, Partition
from runtime.data.deduplication.survey import exact_key, halves
from runtime.data.deduplication.texts import documents as documents_of
from runtime.data.deduplication.units import repeated_places, without

ROW_BYTES = 13
REMAINDER = 0.2  # of its characters: a document that lost more to repeated lines is a torso, and is dropped

# Of a document that loses lines: its row, its characters then, lines and characters lost.
LOSS = np.dtype([("row", np.uint32), ("length", np.uint32), ("lines", np.uint32), ("characters", np.uint32)])


@dataclass(frozen=True)
class RepeatTask:
    """One partition of the lines."""

    partition: Partition
    limits: Lines


def repeats(task: RepeatTask) -> int:
    """Write the lines to be removed, by document: all but the first document of a line loses it, and the first one its repeats."""
    documents, keys, again = partitions.take(task.partition, "lines", "again")
    there = read_table(task.partition.layout)["state"][documents] <= CHANGED
    documents, keys, again = documents[there], keys[there], again[there].astype(bool)
    order = np.argsort(keys, kind="stable")  # documents of one key are in order, as the runs are
    documents, keys, again = documents[order], keys[order], again[order]
    new = np.concatenate([[True], keys[1:] != keys[:-1]]) if len(keys) else np.zeros(0, bool)
    many = np.bincount(np.cumsum(new) - 1)[np.cumsum(new) - 1] >= task.limits.min_documents if len(keys) else new
    removed = many & (~new | again)
    _write_removals(task.partition, documents[removed], keys[removed], new[removed])
    return int(removed.sum())


def _write_removals(partition: Partition, documents: NDArray[np.int64], keys: NDArray[np.uint64], first: NDArray[np.bool_]) -> None:
    order = np.argsort(documents, kind="stable")
    for name, values in (("documents", documents), ("keys", keys), ("first", first)):
        np.save(partitions.path(partition.layout.work, "removals", partition.number, name), values[order])


def removals(layout: Layout, count: int, part: int) -> dict[int, dict[int, bool]]:
    """Row of a document of a part -> keys of the lines it loses -> whether it keeps the first of them."""
    found: dict[int, dict[int, bool]] = {}
    of_part = layout.documents(part)
    for number in range(count):
        column = {name: np.load(partitions.path(layout.work, "removals", number, name), mmap_mode="r") for name in COLUMNS}
        here = slice(*np.searchsorted(column["documents"], [of_part.start, of_part.stop]).tolist())
        rows = (column["documents"][here] - of_part.start).tolist()
        for row, key, first in zip(rows, column["keys"][here].tolist(), column["first"][here].tolist(), strict=True):
            found.setdefault(row, {})[key] = first
    return found


COLUMNS = ("documents", "keys", "first")


@dataclass(frozen=True)
class LossTask:
    """One part of the corpus, and in how many partitions its lines were looked at."""

    part: Path
    number: int
    layout: Layout
    partitions: int
    limits: Lines


def losses(task: LossTask) -> NDArray[np.void]:
    """What the documents of a part lose, as an array of LOSS.

    Written are the places of what they lose, and their new keys for the exact comparison.
    """
    repeated, work = removals(task.layout, task.partitions, task.number), task.layout.work
    rows, keys, places = list[tuple[int, int, int, int]](), list[bytes](), list[list[int]]()
    for row, (_, document) in enumerate(documents_of(task.part, work, task.number) if repeated else ()):
        if row in repeated:
            places.append(repeated_places(document.text, task.limits, repeated[row]))
            text = without(document.text, task.limits.unit, places[-1])
            rows.append((row, len(text), len(places[-1]), len(document.text) - len(text)))
            keys.append(exact_key(text))
    high, low = halves(keys)
    lost = np.array(rows, LOSS)
    partitions.write(work, "changed", task.number, high, low=low, rows=lost["row"])
    np.save(partitions.path(work, "lost", task.number, "rows"), np.repeat(lost["row"], lost["lines"]))
    np.save(partitions.path(work, "lost", task.number, "places"), np.array([one for some in places for one in some], np.uint32))
    return lost


def lost_places(layout: Layout, part: int) -> dict[int, list[int]]:
    """Row of a document of a part -> places of the units that it loses."""
    rows, places = (np.load(partitions.path(layout.work, "lost", part, column)) for column in ("rows", "places"))
    edges = np.flatnonzero(np.diff(rows, prepend=-1, append=-1)) if len(rows) else np.zeros(1, np.int64)
    return {int(rows[first]): places[first:last].tolist() for first, last in itertools.pairwise(edges.tolist())}


def is_torso(loss: NDArray[np.void]) -> NDArray[np.bool_]:
    """Of each loss, whether too little of the document is left."""
    length = loss["length"].astype(np.int64)
    return length < REMAINDER * (length + loss["characters"])
