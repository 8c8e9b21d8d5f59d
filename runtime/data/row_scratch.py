"""Encoded rows in scratch files: for each row its ids as 32-bit numbers, then one byte an id that says whether it has a label."""

import os
from collections.abc import Sequence
from pathlib import Path

IDS, WIDTH = 4, 5  # bytes of an id; of an id and its mark


def read(path: Path, places: Sequence[int], counts: Sequence[int]) -> list[bytes]:
    """The rows at these places of a file, with as many ids as `counts` says."""
    with path.open("rb", buffering=0) as file:
        return [os.pread(file.fileno(), count * WIDTH, place) for place, count in zip(places, counts, strict=True)]


def ids(row: bytes) -> bytes:
    """The ids of a row."""
    return row[: len(row) // WIDTH * IDS]


def marks(row: bytes) -> bytes:
    """The marks of a row."""
    return row[len(row) // WIDTH * IDS :]
