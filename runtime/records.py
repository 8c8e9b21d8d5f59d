"""Canonical records of the corpus, in compressed shards `part-00000.jsonl.zst`.

One JSON object a line, keys in this order: id, text, source, language, meta. Lines end in LF alone, so U+2028, U+2029
and U+0085 survive inside a text.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import orjson
import zstandard

RECORDS_PER_SHARD = 20_000
LEVEL = 3


@dataclass(frozen=True)
class Record:
    """One document. `id`: a function of source and content alone; `language`: None until `clean` has looked."""

    id: str
    text: str
    source: str
    language: str | None = None
    meta: dict[str, Any] = field(default_factory=dict)

    def with_text(self, text: str) -> "Record":
        """The same document with another text."""
        return replace(self, text=text)

    @property
    def size(self) -> int:
        """UTF-8 bytes of the text."""
        return len(self.text.encode())


def encode(record: Record) -> bytes:
    """One line of a shard, LF included."""
    return orjson.dumps(vars(record), option=orjson.OPT_APPEND_NEWLINE)


def write(folder: Path, records: Iterable[Record], per_shard: int = RECORDS_PER_SHARD) -> int:
    """Write records in order to `folder`/part-NNNNN.jsonl.zst and return how many there were; always at least one shard."""
    return write_rows(folder, (vars(record) for record in records), per_shard)


def write_rows(folder: Path, rows: Iterable[dict[str, Any]], per_shard: int = RECORDS_PER_SHARD) -> int:
    """Write any JSON objects in order to shards of `per_shard` rows and return how many there were."""
    folder.mkdir(parents=True, exist_ok=True)
    total, shard, pending = 0, 0, iter(rows)
    while True:
        path = folder / f"part-{shard:05d}.jsonl.zst"
        written = _write_shard(path, pending, per_shard)
        total, shard = total + written, shard + 1
        if written == 0 and shard > 1:
            path.unlink()
        if written < per_shard:
            return total


def _write_shard(path: Path, rows: Iterator[dict[str, Any]], limit: int) -> int:
    written = 0
    with path.open("wb") as file, zstandard.ZstdCompressor(level=LEVEL).stream_writer(file) as stream:
        while written < limit and (row := next(rows, None)) is not None:
            stream.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))
            written += 1
    return written


def read(folder: Path) -> Iterator[Record]:
    """Read the records of a folder, shard by shard, in the order they were written."""
    return (Record(**row) for row in read_rows(folder))


def read_rows(folder: Path) -> Iterator[dict[str, Any]]:
    """Read the JSON objects of a folder's shards in order."""
    for path in sorted(folder.glob("part-*.jsonl.zst")):
        with path.open("rb") as file, zstandard.ZstdDecompressor().stream_reader(file) as stream:
            yield from (orjson.loads(line) for line in _lines(stream))


def _lines(stream: zstandard.ZstdDecompressionReader) -> Iterator[bytes]:
    rest = b""
    while block := stream.read(1 << 20):
        *whole, rest = (rest + block).split(b"\n")
        yield from whole
    if rest:
        yield rest
