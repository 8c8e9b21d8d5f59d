"""The documents of a part as they are after text of the evaluation sets was cut."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import orjson

from runtime import records
from runtime.records import Record


def write_texts(work: Path, number: int, texts: Mapping[int, str]) -> None:
    """Keep the texts that differ from those of a part, by row."""
    rows = (orjson.dumps([row, text], option=orjson.OPT_APPEND_NEWLINE) for row, text in texts.items())
    _path(work, number).write_bytes(b"".join(rows))


def documents(part: Path, work: Path, number: int) -> Iterator[tuple[Record, Record]]:
    """Each document as it came, and as it is now."""
    changed = dict(orjson.loads(line) for line in _path(work, number).read_bytes().splitlines())
    for row, record in enumerate(records.read_part(part)):
        yield record, (record.with_text(changed[row]) if row in changed else record)


def _path(work: Path, number: int) -> Path:
    return work / f"texts-{number:05d}.jsonl"
