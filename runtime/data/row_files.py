"""Rows of JSON Lines files and JSON arrays, plain or compressed, in pieces of a few megabytes that are read apart.

Memory: one row and a buffer, whatever the size of a file. A compressed file or an array is one piece.
"""

import codecs
import gzip
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from json import JSONDecodeError, JSONDecoder
from pathlib import Path
from typing import Any, BinaryIO, cast

import orjson
import zstandard

from runtime.data.provenance import printable
from runtime.faults import StageFault

JSON = dict[str, Any]

PIECE = 16_000_000  # bytes of a JSON Lines file that one task reads
LONGEST = 64_000_000  # bytes of one row
BLOCK = 1 << 20
MARK = b"\xef\xbb\xbf"
ENDINGS = (".jsonl", ".json", ".jsonl.gz", ".json.gz", ".jsonl.zst", ".json.zst")
SURROGATES = "surrogateescape"
_BLANK, _BEGIN = re.compile(r"[\ufeff\s]*"), re.compile(r"\[")
_BETWEEN = re.compile(r"[\s,]*")


@dataclass(frozen=True)
class Range:
    """A piece of a file, cut at line ends; `shown`: its name for people; `end` is None for the whole file."""

    shown: str
    path: Path
    start: int = 0
    end: int | None = None


@dataclass(frozen=True)
class RawRow:
    """A row, or what is wrong with it; `text`: what it begins with, for people."""

    where: str
    row: JSON
    text: bytes
    fault: StageFault | None = None


def files_of(root: Path, path: str) -> list[tuple[str, Path]]:
    """The files of a source: names relative to `root`, and where they lie, in the order of their names. Raises StageFault."""
    place = root / path
    inside = (file for file in place.rglob("*") if file.name.lower().endswith(ENDINGS) and file.is_file())
    files = sorted(inside, key=lambda file: file.relative_to(place).as_posix()) if place.is_dir() else [place]
    if not files or not files[0].is_file():
        raise StageFault(
            f"{path} is neither a file nor a folder with {', '.join(f'*{ending}' for ending in ENDINGS)}",
            where="config/format.yaml",
            fix="mend data.instruct.sources.*.path (relative to the project root)",
        )
    return [(printable(file.relative_to(root).as_posix(), path), file) for file in files]


def ranges_of(shown: str, path: Path) -> Iterator[Range]:
    """The pieces in which a file is read."""
    if not _is_plain_lines(path):
        yield Range(shown, path)
        return
    start, size = 0, path.stat().st_size
    with path.open("rb") as file:
        while start < size:
            file.seek(min(start + PIECE, size))
            _skip_line(file)
            yield Range(shown, path, start, file.tell())
            start = file.tell()


def _is_plain_lines(path: Path) -> bool:
    if _ending(path) in (".gz", ".zst"):
        return False
    with path.open("rb") as file:
        return not _is_array(file)


def _is_array(file: BinaryIO) -> bool:
    """Whether the content begins as an array; a JSON Lines file whose rows are arrays is none that can be trained on."""
    start = file.read(BLOCK).removeprefix(MARK).lstrip()
    while not start and (block := file.read(BLOCK)):
        start = block.lstrip()
    return start[:1] == b"["


def _skip_line(file: BinaryIO) -> None:
    while (part := file.readline(BLOCK)) and not part.endswith(b"\n"):
        pass


def _ending(path: Path) -> str:
    return path.suffix.lower()


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    with path.open("rb") as file:
        if _ending(path) == ".gz":
            with gzip.GzipFile(fileobj=file) as plain:
                yield cast(BinaryIO, plain)
        elif _ending(path) == ".zst":
            with zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True) as stream:
                yield cast(BinaryIO, stream)
        else:
            yield file


def rows_of(piece: Range) -> Iterator[RawRow]:
    """The rows of a piece, each with its file:line; what cannot be read is a row with a fault."""
    last = _Lines(0)
    try:
        with _opened(piece.path) as head:
            array = piece.start == 0 and _is_array(head)
        with _opened(piece.path) as file:
            yield from _array(piece, file, last) if array else _lines(piece, file, last)
    except (EOFError, zstandard.ZstdError, gzip.BadGzipFile, OSError, zlib.error) as error:
        where = f"{piece.shown}:{last.number + 1}"
        yield RawRow(where, {}, b"", StageFault(f"cannot be decompressed: {error}", where=where, fix="fetch the file again"))


@dataclass
class _Lines:
    """How many lines have been read."""

    number: int


def _lines(piece: Range, file: BinaryIO, last: _Lines) -> Iterator[RawRow]:
    if piece.start:
        last.number = _lines_before(piece)
        file.seek(piece.start)
    left = (piece.end or 1 << 62) - piece.start
    reader = _Reader(file)
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
        while left > 0 and (block := file.read(min(BLOCK, left))):
            found, left = found + block.count(b"\n"), left - len(block)
    return found


@dataclass(frozen=True)
class _Line:
    """A line of `size` bytes; where it is longer than LONGEST, only its start is kept."""

    start: bytes
    size: int


class _Reader:
    """Lines of a stream that can only be read in blocks."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._rest, self._at = file, b"", 0

    def line(self) -> _Line | None:
        """The next line with its end; None behind the last one."""
        found, size = list[bytes](), 0
        while True:
            end = self._rest.find(b"\n", self._at)
            part = self._rest[self._at : end + 1 if end >= 0 else None]
            size += len(part)
            if size <= LONGEST or not found:
                found.append(part)
            if end >= 0:
                self._at = end + 1
                return _Line(b"".join(found), size)
            self._rest, self._at = self._file.read(BLOCK), 0
            if not self._rest:
                return _Line(b"".join(found), size) if size else None


def _row(content: bytes, where: str, size: int) -> RawRow:
    fault = None
    try:
        row = orjson.loads(content) if size <= LONGEST else None
    except orjson.JSONDecodeError as error:
        row, fault = (
            {},
            StageFault(f"not a JSON object: {error}", where=where, fix="one JSON object a line, or one array of them, in UTF-8"),
        )
    if size > LONGEST:
        fault = StageFault(f"a row of {size} bytes, more than {LONGEST}", where=where, fix="split it, or take it out")
    elif fault is None and not isinstance(row, dict):
        fault = StageFault(f"a {type(row).__name__}, not a JSON object", where=where, fix="one JSON object a line")
    return RawRow(where, {} if fault else cast(JSON, row), content[:1000], fault)


def _array(piece: Range, file: BinaryIO, last: _Lines) -> Iterator[RawRow]:
    """The objects of a JSON array, each as soon as it has been read whole; `where` has the line at which it begins."""
    text = _Text(file)
    text.skip(_BLANK).skip(_BEGIN)
    while not text.skip(_BETWEEN).closed:
        where = f"{piece.shown}:{text.line}"
        last.number = text.line - 1
        try:
            content = text.value()
        except (JSONDecodeError, RecursionError) as error:
            fault = StageFault(f"not JSON: {error}; the rest of the file cannot be read", where, fix="mend the file")
            yield RawRow(where, {}, text.start, fault)
            return
        yield _row(content, where, len(content))


class _Text:
    """The text of a stream of JSON values, of which it holds one value and a block.

    Bytes that are not UTF-8 become lone surrogates, and those bytes again when a row is encoded, so that it is refused.
    """

    def __init__(self, file: BinaryIO) -> None:
        self.line = 1
        self._file, self._text, self._at, self._ended = file, "", 0, False
        self._bytes = codecs.getincrementaldecoder("utf-8")(SURROGATES)
        self._decoder = JSONDecoder()

    def skip(self, pattern: re.Pattern[str]) -> "_Text":
        """Go on behind what the pattern matches here."""
        while True:
            match = pattern.match(self._text, self._at)
            self._pass(match.end() if match else self._at)
            if self._at < len(self._text) or self._ended:
                return self
            self._more()

    @property
    def closed(self) -> bool:
        """Whether the array or the file ends here."""
        return self._text[self._at : self._at + 1] in ("]", "")

    @property
    def start(self) -> bytes:
        """What comes next, for people."""
        return self._text[self._at : self._at + 300].encode(errors=SURROGATES)

    def value(self) -> bytes:
        """The next value as it is written. Raises JSONDecodeError where none ends within LONGEST characters."""
        while True:
            try:
                _, end = self._decoder.raw_decode(self._text, self._at)
            except JSONDecodeError:
                end = len(self._text)
                if self._ended or end - self._at > LONGEST:
                    raise
            if end < len(self._text) or self._ended:  # a number at the end of a block may go on
                content = self._text[self._at : end].encode(errors=SURROGATES)
                self._pass(end)
                return content
            self._more()

    def _pass(self, end: int) -> None:
        self.line += self._text.count("\n", self._at, end)
        self._at = end

    def _more(self) -> None:
        """Read a block at least as long as what is held, so that a long value is not looked at over and over."""
        held = self._text[self._at :]
        block = self._file.read(max(BLOCK, len(held)))
        self._ended = not block
        self._text, self._at = held + self._bytes.decode(block, final=self._ended), 0
