"""Raw files as streams of uncompressed bytes: gzip of any number of members and Zstandard of any number of frames."""

import gzip
import io
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

import zstandard

from runtime.data.quarantine import Unreadable
from runtime.faults import StageFault

DAMAGED = "damaged_archive"
_BLOCK = 1 << 18
_STEP = 1 << 12  # of compressed bytes: what expands 30,000 times still fits into memory


@contextmanager
def uncompressed(path: Path, shown: str) -> Iterator[BinaryIO]:
    """The content of a file, compressed or not. `shown`: its path in messages.

    Raises StageFault for one that cannot be read at all and, while it is read, Unreadable for a damaged archive.
    """
    try:
        with _opened(path) as stream:
            yield stream
    except (EOFError, zlib.error, gzip.BadGzipFile, zstandard.ZstdError) as error:
        kind = "zstd" if path.suffix.lower() == ".zst" else "gzip"
        raise Unreadable(f"damaged {kind} file: {error}", shown, fix="fetch the file again", kind=DAMAGED) from None
    except OSError as error:
        raise locked(error, shown) from None


def size_of(path: Path, shown: str) -> int:
    """Bytes on disk. Raises StageFault for what is no regular file, which could block a reader for ever."""
    try:
        status = path.stat()
    except OSError as error:
        raise locked(error, shown) from None
    if not stat.S_ISREG(status.st_mode):
        raise StageFault("is not a regular file", where=shown, fix="take it out of the source")
    return status.st_size


def locked(error: OSError, shown: str) -> StageFault:
    """The fault of a file that the system does not give out."""
    return StageFault(f"cannot be read: {error.strerror or error}", where=shown, fix="mend the file or its rights")


def _opened(path: Path) -> BinaryIO:
    name = path.name.lower()
    if name.endswith(".gz"):
        return cast(BinaryIO, gzip.open(path))
    return io.BufferedReader(_Frames(path), _BLOCK) if name.endswith(".zst") else path.open("rb")


class _Frames(io.RawIOBase):
    """Zstandard frames one after another. The library's own reader takes the end of the file for the end of a frame."""

    def __init__(self, path: Path) -> None:
        self._file, self._frame, self._ready, self._compressed = path.open("rb"), None, memoryview(b""), b""

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._file.close()
        super().close()

    def readinto(self, buffer: memoryview) -> int:  # pyright: ignore[reportIncompatibleMethodOverride]
        while not self._ready and self._more():
            pass
        count = min(len(buffer), len(self._ready))
        buffer[:count], self._ready = self._ready[:count], self._ready[count:]
        return count

    def _more(self) -> bool:
        """Decompress a little more; False at the end of the last frame."""
        self._compressed = self._compressed or self._file.read(_STEP)
        if not self._compressed:
            if self._frame:
                raise EOFError("it ends within a frame")
            return False
        self._frame = self._frame or zstandard.ZstdDecompressor().decompressobj()
        self._ready = memoryview(self._frame.decompress(self._compressed))
        self._compressed = self._frame.unused_data if self._frame.eof else b""
        self._frame = None if self._frame.eof else self._frame
        return True
