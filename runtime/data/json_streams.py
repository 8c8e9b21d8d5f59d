"""Streams that can only be read in blocks: their lines, and the JSON values in them, of which one at a time is held."""

import codecs
import re
from dataclasses import dataclass
from json import JSONDecodeError, JSONDecoder
from typing import BinaryIO

from runtime.data.archives import block_of

LONGEST = 64_000_000  # bytes of one row
BLOCK = 1 << 20
SURROGATES = "surrogateescape"


@dataclass(frozen=True)
class Line:
    """A line of `size` bytes; where it is longer than LONGEST, only its start is kept."""

    start: bytes
    size: int


class Lines:
    """Lines of a stream that can only be read in blocks."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._rest, self._at = file, b"", 0

    def line(self) -> Line | None:
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
                return Line(b"".join(found), size)
            self._rest, self._at = block_of(self._file, BLOCK), 0
            if not self._rest:
                return Line(b"".join(found), size) if size else None


class Values:
    """The text of a stream of JSON values, of which it holds one value and a block.

    Bytes that are not UTF-8 become lone surrogates, and those bytes again when a row is encoded, so that it is refused.
    """

    def __init__(self, file: BinaryIO) -> None:
        self.line = 1
        self._file, self._text, self._at, self._ended = file, "", 0, False
        self._bytes = codecs.getincrementaldecoder("utf-8")(SURROGATES)
        self._decoder = JSONDecoder()

    def skip(self, pattern: re.Pattern[str]) -> "Values":
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
        block = block_of(self._file, max(BLOCK, len(held)))
        self._ended = not block
        self._text, self._at = held + self._bytes.decode(block, final=self._ended), 0
