"""Documents that are equal but for white space. Tasks are partitions of the keys: 24 bytes a document."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from runtime.data.deduplication import partitions
from runtime.data.deduplication.clusters import ALIVE, CHANGED, Clusters, Table, grouped, read_table
from runtime.data.deduplication.partitions import Partition

ROW_BYTES = 24


@dataclass(frozen=True)
class ExactTask:
    """One partition; `again`: lines were removed since, and the documents that lost some have other keys."""

    partition: Partition
    keep: str
    again: bool = False


def clusters(task: ExactTask) -> Clusters:
    """The documents of a partition that are equal, as they are now."""
    table = read_table(task.partition.layout)
    found = [_of_state(task.partition, "exact", table, ALIVE)]
    if task.again:
        found.append(_of_state(task.partition, "changed", table, CHANGED))
    documents, high, low = (np.concatenate(column) for column in zip(*found, strict=True))
    return grouped(documents, (low, high), table[documents], task.keep)


def _of_state(partition: Partition, kind: str, table: Table, state: int) -> tuple[NDArray[Any], ...]:
    """Documents of one state and both halves of their keys."""
    documents, high, low = partitions.take(partition, kind, "low")
    there = table["state"][documents] == state
    return documents[there], high[there], low[there]
