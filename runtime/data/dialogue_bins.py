"""Several dialogues in one row: which go together.

Best fit decreasing inside a window of rows: the longest first, each into the row that it leaves the least room in. A window
holds WINDOW rows or WINDOW_IDS ids of 5 bytes, so memory is bounded, and a row has company from its neighbourhood in the order
of training.
"""

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from runtime.data.dialogue_parts import Dialogues

WINDOW, WINDOW_IDS = 8192, 4_000_000


def windows(parts: Iterable[Dialogues], most: int = WINDOW) -> Iterator[Dialogues]:
    """The rows in order, at most `most` at a time, and none after the row that reaches WINDOW_IDS."""
    held, rows, ids = list[Dialogues](), 0, 0
    for part in parts:
        start = 0
        while start < len(part):
            reached = int(np.searchsorted(np.cumsum(part.lengths[start:]), WINDOW_IDS - ids)) + 1
            held.append(part.part(start, min(start + most - rows, start + reached, len(part))))
            start, rows, ids = start + len(held[-1]), rows + len(held[-1]), ids + len(held[-1].ids)
            if rows >= most or ids >= WINDOW_IDS:
                yield Dialogues.joined(held)
                held, rows, ids = [], 0, 0
    if held:
        yield Dialogues.joined(held)


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
