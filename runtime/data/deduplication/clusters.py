"""Groups of documents that are one and the same, and which of a group stays."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from runtime.data.deduplication.partitions import Documents, Layout
from runtime.faults import StageFault

LONGEST, FIRST, PRIORITY = "longest", "first", "priority"

# What is known of every document, 9 bytes: characters, number of its source, place of its source in the priority, and its state.
DOCUMENT = np.dtype([("length", np.uint32), ("source", np.uint16), ("rank", np.uint16), ("state", np.uint8)])
Table = NDArray[np.void]

ALIVE, CHANGED, EXACT, NEAR, TORSO, CONTAMINATED = range(6)  # states; a document is there while it is alive or changed


def checked(keep: str) -> str:
    """Raises StageFault for what is no policy."""
    if keep not in (LONGEST, FIRST, PRIORITY):
        raise StageFault(f"unknown keep {keep!r}", where="config/dedup.yaml", fix=f"use {LONGEST}, {FIRST} or {PRIORITY}")
    return keep


def table_path(work: Path) -> Path:
    """Where the table of all documents lies, for tasks to look into."""
    return work / "documents.npy"


def read_table(layout: Layout) -> Table:
    """What is known of every document, without reading it into memory."""
    return np.load(table_path(layout.work), mmap_mode="r")


@dataclass(frozen=True)
class Clusters:
    """`members`: the documents of all clusters, one cluster after the other, of each the one that stays first; `sizes`: 2 or more."""

    members: Documents
    sizes: NDArray[np.int64]

    @property
    def starts(self) -> NDArray[np.int64]:
        """Where each cluster begins in `members`; there stands the one that stays."""
        return np.cumsum(self.sizes) - self.sizes

    @property
    def kept(self) -> Documents:
        """Of each member, the document of its cluster that stays."""
        return np.repeat(self.members[self.starts], self.sizes)

    @property
    def dropped(self) -> Documents:
        """The documents that do not stay."""
        return self.members[self.members != self.kept]


def grouped(documents: Documents, labels: Sequence[NDArray[Any]], table: Table, keep: str) -> Clusters:
    """Documents whose labels are all equal as clusters, in the order of their first documents; single ones are in none.

    `labels`, `table`: of the documents given, row by row.
    """
    if not len(documents):
        return Clusters(np.zeros(0, np.int64), np.zeros(0, np.int64))
    order = np.lexsort((documents, *labels))
    new = np.logical_or.reduce([label[order][1:] != label[order][:-1] for label in labels])
    group = np.concatenate([[0], np.cumsum(new)])
    many = np.bincount(group)[group] > 1
    firsts = documents[order][np.flatnonzero(np.concatenate([[True], new]))]
    chosen, leads = order[many], firsts[group][many]
    ranked = np.lexsort((*_preference(documents[chosen], table[chosen], keep), leads))
    return Clusters(documents[chosen][ranked], np.unique(leads, return_counts=True)[1].astype(np.int64))


def _preference(documents: Documents, table: Table, keep: str) -> list[NDArray[np.int64]]:
    """Keys to sort by, the last one counts most: the document to stay comes first."""
    shortness = -table["length"].astype(np.int64)
    match keep:
        case "first":
            return [documents]
        case "priority":
            return [documents, shortness, table["rank"].astype(np.int64)]
        case _:
            return [documents, shortness]
