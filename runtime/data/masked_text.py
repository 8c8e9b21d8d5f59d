"""Rows as text with what is trained of them, for people: `sample.jsonl`, and `sample.txt` with the trained parts between MARKS."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import orjson

from runtime.data.chat import IGNORED
from runtime.data.encoding import Vocabulary

FILE = "sample.jsonl"
ROWS = 24  # of all sources together, and at least one of each
MARKS = ("\u27e6", "\u27e7")  # around the trained parts in sample.txt


def segments(input_ids: Sequence[int], labels: Sequence[int], vocabulary: Vocabulary) -> list[dict[str, Any]]:
    """The row in runs of ids that are alike: their text, whether they have labels, whether they are special pieces.

    Padding behind a row is one segment that says how many ids it has.
    """
    special, found, at = frozenset(vocabulary.special.values()), list[dict[str, Any]](), 0
    used = max((index for index, id in enumerate(input_ids) if id != vocabulary.pad or labels[index] != IGNORED), default=-1) + 1
    marked = ((labels[index] != IGNORED, input_ids[index] in special) for index in range(used))
    for (trained, is_special), run in groupby(marked):
        end = at + sum(1 for _ in run)
        found.append({"text": vocabulary.show(list(input_ids[at:end])), "trained": trained, "special": is_special})
        at = end
    if used < len(input_ids):
        text = f"{vocabulary.show([vocabulary.pad])}\u00d7{len(input_ids) - used}"
        found.append({"text": text, "trained": False, "special": True})
    return found


def write(path: Path, rows: Iterable[tuple[str, str, Sequence[int], Sequence[int]]], vocabulary: Vocabulary) -> None:
    """Write rows (id, source, ids, labels) to `path` in the order of their ids."""
    told = ({"id": id, "source": source, "segments": segments(ids, labels, vocabulary)} for id, source, ids, labels in sorted(rows))
    path.write_bytes(b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in told))


def marked(input_ids: Sequence[int], labels: Sequence[int], vocabulary: Vocabulary) -> str:
    """A row as text with its special pieces, trained parts between MARKS."""
    text = ""
    for trained, run in groupby(segments(input_ids, labels, vocabulary), key=lambda segment: segment["trained"]):
        part = "".join(segment["text"] for segment in run)
        text += f"{MARKS[0]}{part}{MARKS[1]}" if trained else part
    return text
