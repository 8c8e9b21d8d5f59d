"""Encoded rows in scratch files: for each row its ids as 32-bit numbers, then one byte an id that says whether it has a label."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from runtime.data.chat import IGNORED

WIDTH = 5  # bytes of one id and its mark


def blob(input_ids: Sequence[int], marks: bytes) -> bytes:
    """A row as bytes; `marks`: 1 for each id that has a label."""
    return array("i", input_ids).tobytes() + marks


@dataclass(frozen=True)
class Stored:
    """A row that was read back."""

    input_ids: NDArray[np.int32]
    trained: NDArray[np.bool_]

    @property
    def labels(self) -> NDArray[np.int32]:
        """The labels, IGNORED where not trained."""
        return np.where(self.trained, self.input_ids, np.int32(IGNORED))


def read(path: Path, places: Sequence[int], counts: Sequence[int]) -> list[Stored]:
    """The rows at these places of a file, with as many ids as `counts` says."""
    found = list[Stored]()
    with path.open("rb") as file:
        for place, count in zip(places, counts, strict=True):
            file.seek(place)
            data = file.read(count * WIDTH)
            found.append(Stored(np.frombuffer(data, "<i4", count), np.frombuffer(data, np.uint8, count, count * 4).astype(np.bool_)))
    return found
