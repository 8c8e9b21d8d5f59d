"""Raw files as streams of uncompressed bytes: gzip of any number of members and Zstandard of any number of frames."""

import io
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

import zstandard

from runtime.data.quarantine import Unreadable
from runtime.raw_file import locked, size_of

DAMAGED = "damaged_archive"
_BLOCK = 1 << 18
_STEP = 1 << 12  # of compressed bytes: what expands 30,000 times still fits into memory


@contextmanager
def uncompressed(path: Path, shown: str) -> Iterator[BinaryIO]:
    """The content of a file, compressed or not. `shown`: its path in messages.

    Raises StageFault for one that cannot be read at all and, while it is read, Unreadable for a damaged archive.
    """
    size_of(path, shown)
    try:
        with _opened(path, shown) as stream:
            yield stream
    except OSError as error:
        raise locked(error, shown) from None


def block_of(stream: BinaryIO, size: int) -> bytes:
    """As `stream.read(size)`, but what comes before the damage of an archive is returned, and the damage raised by the next call."""
    found, left = list[bytes](), size
    try:
        while left and (part := cast(io.BufferedIOBase, stream).read1(left)):
            found.append(part)
            left -= len(part)
    except Unreadable:
        if not found:
            raise
    return b"".join(found)


def _opened(path: Path, shown: str) -> BinaryIO:
    ending = path.suffix.lower()
    if ending not in _KINDS:
        return path.open("rb")
    return cast(BinaryIO, io.BufferedReader(_Frames(path, shown, *_KINDS[ending]), _BLOCK))


def _gzip() -> Any:
    return zlib.decompressobj(zlib.MAX_WBITS | 16)  # with the header of gzip, and its check of size and content


def _zstd() -> Any:
    return zstandard.ZstdDecompressor().decompressobj()


MAGIC = {"gzip": b"\x1f\x8b", "zstd": b"\x28\xb5\x2f\xfd"}  # what their files begin with
_KINDS: dict[str, tuple[str, Callable[[], Any]]] = {".gz": ("gzip", _gzip), ".zst": ("zstd", _zstd)}


class _Frames(io.RawIOBase):
    """Frames of Zstandard, or members of gzip, one after another; zeros may stand between members.

    All that can be decompressed is given out before the damage behind it is told, and that is told as often as one reads on.
    """

    def __init__(self, path: Path, shown: str, kind: str, begun: Callable[[], Any]) -> None:
        self._file, self._shown, self._kind, self._begun = path.open("rb"), shown, kind, begun
        self._frame, self._ready, self._compressed, self._made = None, memoryview(b""), b"", 0
        self._damage = ""
        self._begins = self._file.peek(4).startswith(MAGIC[kind])  # what is cut off before its fourth byte is told as no archive

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._file.close()
        super().close()

    def readinto(self, buffer: memoryview) -> int:  # pyright: ignore[reportIncompatibleMethodOverride]
        try:
            while not self._ready and self._more():
                pass
        except (zlib.error, zstandard.ZstdError) as error:
            self._damage = str(error)
        if self._damage and not self._ready:
            raise self._damaged()
        count = min(len(buffer), len(self._ready))
        buffer[:count], self._ready = self._ready[:count], self._ready[count:]
        return count

    def _damaged(self) -> Unreadable:
        message = f"damaged {self._kind} file: {self._damage}, behind byte {self._made} of its content"
        fix = (
            "fetch the file again" if self._begins else f"give the file the ending of what it is, or fetch it again; it is no {self._kind}"
        )
        return Unreadable(message, self._shown, fix=fix, kind=DAMAGED, offset=self._made)

    def _more(self) -> bool:
        """Decompress a little more; False at the end of the last frame, and at damage."""
        self._compressed = self._compressed or self._file.read(_STEP)
        if self._frame is None and self._kind == "gzip" and self._made:
            self._compressed = self._compressed.lstrip(b"\0") or self._behind_zeros()
        if not self._compressed:
            self._damage = self._damage or ("it is cut off" if self._frame else "")
        if self._damage or not self._compressed:
            return False
        self._frame = self._frame or self._begun()
        self._ready = memoryview(self._frame.decompress(self._compressed))
        self._made += len(self._ready)
        self._compressed = self._frame.unused_data if self._frame.eof else b""
        self._frame = None if self._frame.eof else self._frame
        return True

    def _behind_zeros(self) -> bytes:
        while block := self._file.read(_STEP):
            if block := block.lstrip(b"\0"):
                return block
        return b""
