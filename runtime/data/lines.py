"""Lines of raw files with their places. A line ends in LF alone, so U+2028, U+2029 and U+0085 are text."""

import io
import sys
from collections.abc import Iterator
from functools import partial
from typing import BinaryIO, NamedTuple, cast

from runtime.data.decoding import UNDECODABLE, Codec, Hints, blocks_of, codec_of
from runtime.data.pieces import Piece, sample_of
from runtime.data.quarantine import WITH_LOSS, Unreadable

_BLOCK = 1 << 20
_CONTINUATION, _OF_FOUR = bytes(range(0x80, 0xC0)), bytes(range(0xF0, 0xF5))  # bytes of UTF-8


class Line(NamedTuple):
    """`number` counts from 1; `offset` and `size` in bytes of the uncompressed file; `content` without its end, None if too long.

    The content is in the codec of the file, or in UTF-8 where its bytes cannot be split at line ends.
    """

    number: int
    offset: int
    size: int
    content: bytes | None


def codec_for(piece: Piece, hints: Hints) -> Codec:
    """The codec of a piece. Raises Unreadable for a file that is no text."""
    return piece.codec or codec_of(*sample_of(piece.file), piece.file.shown, hints)


def lines_of(piece: Piece, codec: Codec, longest: int) -> Iterator[Line]:
    """The lines that begin in a piece, held in memory up to `longest` bytes. Raises StageFault and Unreadable."""
    with piece.file.open() as raw:
        stream, number, offset = _positioned(raw, piece, codec)
        width = len if codec.splits_at_lf else partial(_width, codec=codec)
        while piece.end is None or offset < piece.end:
            line = stream.readline(longest + 2)
            if not line:
                return
            content, size = line.rstrip(b"\r\n"), width(line)
            if len(line) == longest + 2 and not line.endswith(b"\n"):
                size += _skip_line(stream, codec)
            number += 1
            yield Line(number, offset, size, content if len(content) <= longest else None)
            offset += size


def decoded(line: Line, codec: Codec, shown: str) -> str:
    """The text of a line that is not too long. Raises Unreadable at the byte that is not of the encoding."""
    content = line.content or b""
    try:
        return content.decode(codec.of_lines)
    except UnicodeDecodeError as error:
        message = f"byte {line.offset + error.start} is not {codec.name} ({error.reason})"
        fix = "mend the row, or convert the file to UTF-8 (iconv -f ENCODING -t UTF-8)"
        bad = Unreadable(message, reason=WITH_LOSS, fix=fix, kind=UNDECODABLE)
        raise placed(bad, shown, line.number, line.offset, content) from None


def placed(bad: Unreadable, shown: str, line: int, offset: int | None, row: bytes) -> Unreadable:
    """The same fault with its place; `row`: the bytes that are lost."""
    bad.where, bad.line, bad.offset, bad.row, bad.size = f"{shown}:{line}", line, offset, row, len(row)
    return bad


def _positioned(raw: BinaryIO, piece: Piece, codec: Codec) -> tuple[BinaryIO, int, int]:
    """A stream at the beginning of a line, how many lines are before it, and its offset."""
    if not codec.splits_at_lf:
        return cast(BinaryIO, io.BufferedReader(_AsUtf8(blocks_of(raw, codec, piece.file.shown)), _BLOCK)), 0, codec.mark
    if piece.start == 0:
        raw.read(codec.mark)
        return raw, 0, codec.mark
    raw.seek(piece.start - 1)  # a line that begins right at `start` is of this piece: the byte before it is an LF
    skipped = _skip_line(raw, codec, most=(piece.end or piece.file.size) - piece.start + 1)
    return raw, piece.before + (skipped > 1), piece.start - 1 + skipped


def _skip_line(stream: BinaryIO, codec: Codec, most: int = sys.maxsize) -> int:
    """Read to the end of a line, or past `most` bytes of it, and return how many bytes of the file that were."""
    skipped = 0
    while skipped <= most and (part := stream.readline(_BLOCK)):
        skipped += _width(part, codec)
        if part.endswith(b"\n"):
            break
    return skipped


def _width(part: bytes, codec: Codec) -> int:
    """Bytes in the file of what was read."""
    if codec.splits_at_lf:
        return len(part)
    characters = len(part.translate(None, _CONTINUATION))
    pairs = len(part) - len(part.translate(None, _OF_FOUR))
    return 4 * characters if codec.name.startswith("utf-32") else 2 * (characters + pairs)


class _AsUtf8(io.RawIOBase):
    """Decoded blocks as a stream of UTF-8."""

    def __init__(self, blocks: Iterator[str]) -> None:
        self._blocks, self._ready = blocks, memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # pyright: ignore[reportIncompatibleMethodOverride]
        while not self._ready:
            if (block := next(self._blocks, None)) is None:
                return 0
            self._ready = memoryview(block.encode())
        count = min(len(buffer), len(self._ready))
        buffer[:count], self._ready = self._ready[:count], self._ready[count:]
        return count
