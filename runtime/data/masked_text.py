"""Rows as text with what is trained of them, for people: `sample.jsonl`, and `sample.txt` with the trained parts between MARKS."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from runtime.data.encoding import Vocabulary
from runtime.data.row_samples import segments

FILE = "sample.jsonl"
ROWS = 24  # of all sources together, and at least one of each
MARKS = ("\u27e6", "\u27e7")  # around the trained parts in sample.txt


Sampled = tuple[str, str, Sequence[int], Sequence[int]]  # id, source, ids, labels


def shown(input_ids: Sequence[int], labels: Sequence[int], vocabulary: Vocabulary) -> list[dict[str, Any]]:
    """The row as runs of pieces that are alike."""
    return segments(vocabulary, np.asarray(input_ids), np.asarray(labels))


def write(path: Path, rows: Iterable[Sampled], vocabulary: Vocabulary) -> None:
    """Write rows (id, source, ids, labels) to `path` in the order of their ids."""
    told = ({"id": id, "source": source, "segments": shown(ids, labels, vocabulary)} for id, source, ids, labels in sorted(rows))
    path.write_bytes(b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in told))


def marked(input_ids: Sequence[int], labels: Sequence[int], vocabulary: Vocabulary) -> str:
    """A row as text with its special pieces, trained parts between MARKS."""
    text = ""
    for trained, run in groupby(shown(input_ids, labels, vocabulary), key=lambda segment: segment["trained"]):
        part = "".join(segment["text"] for segment in run)
        text += f"{MARKS[0]}{part}{MARKS[1]}" if trained else part
    return text
