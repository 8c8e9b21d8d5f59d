"""Canonical records of the corpus, in compressed parts `part-00000.jsonl.zst`, each the work of one task of the next stage.

One JSON object a line, keys in this order: id, text, source, language, meta. Lines end in LF alone, so U+2028, U+2029
and U+0085 survive inside a text.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import orjson
import zstandard

LEVEL = 3  # of zstd; 1 would save 4 % of the CPU time from ingest to filter, and make all that is kept 18 % larger


@dataclass(frozen=True)
class Limit:
    """A part ends with the row that reaches `rows` rows or `bytes` bytes of JSON."""

    rows: int
    bytes: int


PART = Limit(20_000, 16_000_000)  # what one task of a stage works on; a few of them fit into memory several times over


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
    """One line of a part, LF included."""
    return orjson.dumps(vars(record), option=orjson.OPT_APPEND_NEWLINE)


def write(folder: Path, records: Iterable[Record], part: Limit | None = None) -> int:
    """Write records in order to `folder`/part-NNNNN.jsonl.zst and return how many there were; always at least one part."""
    return write_rows(folder, (vars(record) for record in records), part)


def write_rows(folder: Path, rows: Iterable[dict[str, Any]], part: Limit | None = None) -> int:
    """Write JSON objects, arrays of NumPy as lists, in order to parts that end at `part` (PART by default); returns how many there were."""
    return write_lines(folder, map(_line, rows), part)


def write_lines(folder: Path, lines: Iterable[bytes], part: Limit | None = None) -> int:
    """As `write_rows`, for rows that are lines of JSON already, LF included."""
    folder.mkdir(parents=True, exist_ok=True)
    total, number, pending, limit = 0, 0, iter(lines), part or PART
    while True:
        path = folder / part_name(number)
        written, more = _write_part(path, pending, limit)
        total, number = total + written, number + 1
        if written == 0 and number > 1:
            path.unlink()
        if not more:
            return total


def write_part(path: Path, rows: Iterable[dict[str, Any]]) -> int:
    """Write all rows to one part and return how many there were."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return _write_part(path, map(_line, rows), Limit(2**63, 2**63))[0]


def part_name(number: int) -> str:
    """The file name of a part; parts are read in the order of their numbers."""
    return f"part-{number:05d}.jsonl.zst"


def parts(folder: Path) -> list[Path]:
    """The parts of a folder in order."""
    return sorted(folder.glob("part-*.jsonl.zst"), key=lambda path: (len(path.name), path.name))


def _line(row: dict[str, Any]) -> bytes:
    return orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE | orjson.OPT_SERIALIZE_NUMPY)


def _write_part(path: Path, lines: Iterator[bytes], limit: Limit) -> tuple[int, bool]:
    """Rows written, and whether the part ended before the rows may have."""
    written, size = 0, 0
    with path.open("wb") as file, zstandard.ZstdCompressor(level=LEVEL).stream_writer(file) as stream:
        while written < limit.rows and size < limit.bytes:
            if (line := next(lines, None)) is None:
                return written, False
            stream.write(line)
            written, size = written + 1, size + len(line)
    return written, True


def read(folder: Path) -> Iterator[Record]:
    """Read the records of a folder, part by part, in the order they were written."""
    return (Record(**row) for row in read_rows(folder))


def read_rows(folder: Path) -> Iterator[dict[str, Any]]:
    """Read the JSON objects of a folder's parts in order."""
    for path in parts(folder):
        yield from rows_of(path)


def read_part(path: Path) -> Iterator[Record]:
    """Read the records of one part in order."""
    return (Record(**row) for row in rows_of(path))


def rows_of(path: Path) -> Iterator[dict[str, Any]]:
    """Read the JSON objects of one part in order."""
    with path.open("rb") as file, zstandard.ZstdDecompressor().stream_reader(file) as stream:
        yield from (orjson.loads(line) for line in _lines(stream))


def _lines(stream: zstandard.ZstdDecompressionReader) -> Iterator[bytes]:
    rest = b""
    while block := stream.read(1 << 20):
        *whole, rest = (rest + block).split(b"\n")
        yield from whole
    if rest:
        yield rest
