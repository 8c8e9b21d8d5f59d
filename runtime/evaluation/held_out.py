"""Packed rows as they are scored: what the model sees, what it has to predict, and which positions count."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from runtime.data import mindrecord
from runtime.data.chat import IGNORED
from runtime.data.rows import scored
from runtime.manifest import Manifest


@dataclass(frozen=True)
class Rows:
    """ids, targets, counted: (rows, seq_length); `counted` marks the targets that a loss is made of."""

    ids: NDArray[np.int32]
    targets: NDArray[np.int32]
    counted: NDArray[np.bool_]

    @property
    def tokens(self) -> int:
        """How many targets count."""
        return int(self.counted.sum())

    @property
    def sha256(self) -> str:
        """The hash of what is scored."""
        parts = (np.where(self.counted, self.targets, IGNORED), self.ids)
        return hashlib.sha256(b"".join(np.ascontiguousarray(part, "<i4").tobytes() for part in parts)).hexdigest()


def rows_of(packed: NDArray[np.int32], labels: NDArray[np.int32], pad: int) -> Rows:
    """Rows of seq_length + 1 ids with a label at each id's own position: the shift by one happens here, once."""
    return Rows(packed[:, :-1], labels[:, 1:], scored(packed, labels, pad))


def text_rows(folder: Path, packed: Manifest, split: str) -> Rows:
    """All rows of packed text; every id but the first of a row is a label, unless the rows say which are."""
    if "labels" in packed.facts["columns"]:
        return dialogue_rows(folder, packed, split)
    ids = np.stack([row["input_ids"] for row in read(folder, packed, split)])
    return rows_of(ids, ids, packed.facts["pad_id"])


def dialogue_rows(folder: Path, packed: Manifest, split: str) -> Rows:
    """All rows that were packed with labels, and those labels."""
    rows = list(read(folder, packed, split))
    return rows_of(np.stack([row["input_ids"] for row in rows]), np.stack([row["labels"] for row in rows]), packed.facts["pad_id"])


def padded_rows(examples: Sequence[tuple[Sequence[int], Sequence[int]]], length: int, pad: int) -> Rows:
    """Rows of (ids, labels) of different lengths, at most `length`, as packed dialogues hold them."""
    ids = np.full((len(examples), length), pad, np.int32)
    labels = np.full((len(examples), length), IGNORED, np.int32)
    for row, (example, targets) in enumerate(examples):
        ids[row, : len(example)] = example
        labels[row, : len(targets)] = targets
    return rows_of(ids, labels, pad)


def read(folder: Path, packed: Manifest, split: str) -> Iterator[dict[str, NDArray[np.int32]]]:
    """The packed rows of a split, shard by shard."""
    for file in packed.facts["splits"][split]["files"]:
        yield from mindrecord.read(folder, file)
