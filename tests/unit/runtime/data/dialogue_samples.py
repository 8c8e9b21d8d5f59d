"""Encoded dialogues for tests, as the stages pass them on."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from runtime.data.chat import IGNORED
from runtime.data.dialogue_parts import Dialogues
from runtime.data.pack_dialogues import Shared
from runtime.data.rows import scored


def dialogues(rows: Sequence[Mapping[str, Any]]) -> Dialogues:
    """Of each row `input_ids`, `labels`, and `source` where it matters."""
    sources = [row.get("source", "s") for row in rows]
    names = list(dict.fromkeys(sources))
    keys = np.asarray([(0, number) for number in range(len(rows))], np.uint64)
    ids, labels = (np.concatenate([np.asarray(row[name], np.int32) for row in rows]) for name in ("input_ids", "labels"))
    return Dialogues(
        np.asarray(names),
        keys.reshape(len(rows), 2),
        np.zeros(len(rows), np.int32),
        np.asarray([names.index(source) for source in sources], np.int16),
        np.asarray([len(row["input_ids"]) for row in rows], np.int32),
        ids,
        labels != IGNORED,
    )


def filled(rows: Sequence[Mapping[str, Any]], length: int, pad: int, groups: Sequence[Sequence[int]] | None = None) -> Any:
    """Ids and labels of packed rows, (rows, length): each dialogue alone, or those of a group together."""
    shared = Shared.of(dialogues(rows), groups or [[number] for number in range(len(rows))])
    counted = shared.check(length, pad, lambda number: f"row {number}")
    ids, labels = shared.filled(length, pad)
    assert counted == scored(ids, labels, pad).sum()
    return ids, labels
