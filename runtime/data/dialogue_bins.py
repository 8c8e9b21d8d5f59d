"""Several dialogues in one row: which go together.

Best fit decreasing inside a window of rows: the longest first, each into the row that it leaves the least room in. A window
holds WINDOW rows or WINDOW_IDS ids of 8 bytes, so memory is bounded, and a row has company from its neighbourhood in the order
of training.
"""

from array import array
from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]
WINDOW, WINDOW_IDS = 8192, 4_000_000


def windows(rows: Iterable[Row], most: int = WINDOW) -> Iterator[list[Row]]:
    """The rows in order, at most `most` at a time, their ids and labels as arrays of 32-bit numbers."""
    window, ids = list[Row](), 0
    for row in rows:
        window.append({**row, "input_ids": array("i", row["input_ids"]), "labels": array("i", row["labels"])})
        ids += len(row["input_ids"])
        if len(window) >= most or ids >= WINDOW_IDS:
            yield window
            window, ids = [], 0
    if window:
        yield window


def together(lengths: Sequence[int], capacity: int) -> list[list[int]]:
    """Indices of dialogues that share a row of `capacity` ids, in order, and the rows in the order of their first dialogues."""
    bins, room = list[list[int]](), list[tuple[int, int]]()  # room: (ids left, number of the bin), sorted
    for index in sorted(range(len(lengths)), key=lambda index: (-lengths[index], index)):
        place = bisect_left(room, (lengths[index], -1))
        if place < len(room):
            left, number = room.pop(place)
            bins[number].append(index)
        else:
            left, number = capacity, len(bins)
            bins.append([index])
        insort(room, (left - lengths[index], number))
    return sorted(sorted(members) for members in bins)
