"""Rows of JSON Lines files and JSON arrays, plain or compressed, in pieces of a few megabytes that are read apart.

Memory: one row and a buffer, whatever the size of a file. A compressed file or an array is one piece.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from json import JSONDecodeError
from pathlib import Path
from typing import Any, BinaryIO, cast

import orjson

from runtime.contracts.ingest import COMPRESSED, ROW_ENDINGS
from runtime.data import json_streams, json_text
from runtime.data.archives import block_of, uncompressed
from runtime.data.json_streams import Lines, Values
from runtime.data.provenance import printable
from runtime.faults import StageFault

JSON = dict[str, Any]

PIECE = 16_000_000  # bytes of a JSON Lines file that one task reads
MARK = b"\xef\xbb\xbf"
ARRAY, OBJECTS, LINES = "array", "objects", "lines"
_BLANK, _BEGIN = re.compile(r"[\ufeff\s]*"), re.compile(r"\[")
_BETWEEN, _END = re.compile(r"[\s,]*"), re.compile(r"\]")


@dataclass(frozen=True)
class Range:
    """A piece of a file, cut at line ends; `shown`: its name for people; `end` is None for the whole file."""

    shown: str
    path: Path
    start: int = 0
    end: int | None = None


@dataclass(frozen=True)
class RawRow:
    """A row, or what is wrong with it; `text`: what it begins with, for people; `size`: its bytes."""

    where: str
    row: JSON
    text: bytes
    fault: StageFault | None = None
    size: int = 0


def files_of(root: Path, path: str) -> list[tuple[str, Path]]:
    """The files of a source: names relative to `root`, and where they lie, in the order of their names. Raises StageFault."""
    place = root / path
    inside = (file for file in place.rglob("*") if file.name.lower().endswith(ROW_ENDINGS) and file.is_file())
    files = sorted(inside, key=lambda file: file.relative_to(place).as_posix()) if place.is_dir() else [place]
    if not files or not files[0].is_file():
        raise StageFault(
            f"{path} is neither a file nor a folder with {', '.join(f'*{ending}' for ending in ROW_ENDINGS)}",
            where="config/format.yaml",
            fix="mend data.instruct.sources.*.path (relative to the project root)",
        )
    return [(printable(file.relative_to(root).as_posix(), path), file) for file in files]


def ranges_of(shown: str, path: Path) -> Iterator[Range]:
    """The pieces in which a file is read; one that cannot be read is one piece, which tells it."""
    try:
        yield from _ranges(shown, path)
    except (StageFault, OSError):
        yield Range(shown, path)


def _ranges(shown: str, path: Path) -> Iterator[Range]:
    if _ending(path) in COMPRESSED or _layout(path, shown) != LINES:
        yield Range(shown, path)
        return
    start, size = 0, path.stat().st_size
    with path.open("rb") as file:
        while start < size:
            file.seek(min(start + PIECE, size))
            _skip_line(file)
            yield Range(shown, path, start, file.tell())
            start = file.tell()


def _layout(path: Path, shown: str) -> str:
    """How the rows of a file stand in it; only in a `.json` may an object go over several lines. Raises StageFault."""
    with uncompressed(path, shown) as file:
        first = _beginning(file)[:1]
    if first == b"[":
        return ARRAY
    name = path.name.lower().removesuffix(".gz").removesuffix(".zst")
    if first != b"{" or not name.endswith(".json"):
        return LINES
    with uncompressed(path, shown) as file:
        return LINES if _is_lines(file) else OBJECTS


def _beginning(file: BinaryIO) -> bytes:
    """What a file holds from the first sign that is not blank on, as far as a block goes."""
    start = block_of(file, json_streams.BLOCK).removeprefix(MARK).lstrip()
    while not start and (block := block_of(file, json_streams.BLOCK)):
        start = block.lstrip()
    return start


def _is_lines(file: BinaryIO) -> bool:
    """Whether the first line of a file is an object of its own, or, where it is broken, the second one begins as an object too."""
    reader = Lines(file)
    lines = (line.start.removeprefix(MARK).strip() for line in iter(reader.line, None))
    held = (line for line in lines if line)
    try:
        json_text.loads(next(held, b""))
    except orjson.JSONDecodeError:
        return next(held, b"")[:1] == b"{"
    return True


def _skip_line(file: BinaryIO) -> None:
    while (part := file.readline(json_streams.BLOCK)) and not part.endswith(b"\n"):
        pass


def _ending(path: Path) -> str:
    return path.suffix.lower()


def rows_of(piece: Range) -> Iterator[RawRow]:
    """The rows of a piece, each with its file:line; what cannot be read is a row with a fault."""
    last = _Lines(0)
    try:
        layout = LINES if piece.end is not None else _layout(piece.path, piece.shown)
        with uncompressed(piece.path, piece.shown) as file:
            yield from _lines(piece, file, last) if layout == LINES else _values(piece, file, last, layout)
    except StageFault as fault:
        where = f"{piece.shown}:{last.number + 1}"
        yield RawRow(where, {}, b"", StageFault(fault.message, where, "what comes behind cannot be read", fault.fix))


@dataclass
class _Lines:
    """How many lines have been read."""

    number: int


def _lines(piece: Range, file: BinaryIO, last: _Lines) -> Iterator[RawRow]:
    if piece.start:
        last.number = _lines_before(piece)
        file.seek(piece.start)
    left = (piece.end or 1 << 62) - piece.start
    reader = Lines(file)
    while left > 0 and (line := reader.line()):
        left -= line.size
        last.number += 1
        content = line.start.removeprefix(MARK).strip(b" \t\r\n")
        if content:
            yield _row(content, f"{piece.shown}:{last.number}", line.size)


def _lines_before(piece: Range) -> int:
    """Lines that end before a piece starts."""
    found, left = 0, piece.start
    with piece.path.open("rb") as file:
        while left > 0 and (block := file.read(min(json_streams.BLOCK, left))):
            found, left = found + block.count(b"\n"), left - len(block)
    return found


def _row(content: bytes, where: str, size: int) -> RawRow:
    fault = None
    try:
        row = json_text.loads(content) if size <= json_streams.LONGEST else None
    except orjson.JSONDecodeError as error:
        row, fault = {}, _not_json(content, where, error)
    if size > json_streams.LONGEST:
        fault = StageFault(f"a row of {size} bytes, more than {json_streams.LONGEST}", where=where, fix="split it, or take it out")
    elif fault is None and not isinstance(row, dict):
        fault = StageFault(f"a {type(row).__name__}, not a JSON object", where=where, fix="one JSON object a line")
    return RawRow(where, {} if fault else cast(JSON, row), content[:1000], fault, size)


def _not_json(content: bytes, where: str, error: ValueError) -> StageFault:
    """What is wrong with a row; bytes that are not UTF-8 come first."""
    try:
        content.decode()
    except UnicodeDecodeError as wrong:
        message = f"not UTF-8: byte {wrong.start} of the row ({wrong.reason})"
        return StageFault(message, where=where, fix="convert the file to UTF-8 (iconv -f ENCODING -t UTF-8; GB18030 reads any GBK file)")
    return StageFault(f"not a JSON object: {error}", where=where, fix="one JSON object a line, or one array of them, in UTF-8")


def _values(piece: Range, file: BinaryIO, last: _Lines, layout: str) -> Iterator[RawRow]:
    """The objects of a JSON array, or one behind the other, each when it has been read whole; `where` has the line at which it begins."""
    text = Values(file)
    text.skip(_BLANK)
    if layout == ARRAY:
        text.skip(_BEGIN)
    while not text.skip(_BETWEEN if layout == ARRAY else _BLANK).closed:
        where = f"{piece.shown}:{text.line}"
        last.number = text.line - 1
        try:
            content = text.value()
        except (JSONDecodeError, RecursionError) as error:
            fault = StageFault(f"not JSON: {error}; the rest of the file cannot be read", where, fix="mend the file")
            yield RawRow(where, {}, text.start, fault)
            return
        yield _row(content, where, len(content))
    if layout == ARRAY and (wrong := _after(text)):
        where = f"{piece.shown}:{text.line}"
        yield RawRow(where, {}, text.start, StageFault(f"{wrong}; the rest of the file cannot be read", where, fix="mend the file"))


def _after(text: Values) -> str:
    """What is wrong with the end of an array."""
    if not text.start:
        return "the array has no end"
    return "something follows the array" if text.skip(_END).skip(_BLANK).start else ""
