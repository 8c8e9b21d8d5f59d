"""Files that people gave: their bytes, or a fault that names what is wrong with them. Nothing else waits for a pipe for ever."""

import stat
from pathlib import Path

from runtime.faults import StageFault
from runtime.manifest import sha256_of

POINTER, POINTER_BYTES = b"version https://git-lfs.github.com/spec/", range(100, 1024)
MEND = "mend the file or its rights, or take it out of the source"


def size_of(path: Path, shown: str, fix: str = MEND) -> int:
    """Bytes on disk. Raises StageFault for what is no regular file, which could block a reader for ever, and for a pointer to one."""
    try:
        status = path.stat()
    except OSError as error:
        raise locked(error, shown, fix) from None
    if stat.S_ISDIR(status.st_mode):
        raise StageFault("is a folder, not a file", where=shown, fix=fix)
    if not stat.S_ISREG(status.st_mode):
        raise StageFault("is not a regular file", where=shown, fix=fix)
    if status.st_size in POINTER_BYTES and _begins_as_pointer(path, shown, fix):
        raise StageFault(
            "is a pointer of Git LFS, its content is not here",
            where=shown,
            reason="its few lines would be taken for the data",
            fix="get the content with `git lfs pull`",
        )
    return status.st_size


def _begins_as_pointer(path: Path, shown: str, fix: str) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(POINTER)) == POINTER
    except OSError as error:
        raise locked(error, shown, fix) from None


def content_of(path: Path, shown: str, fix: str = MEND) -> bytes:
    """All bytes. Raises StageFault."""
    size_of(path, shown, fix)
    try:
        return path.read_bytes()
    except OSError as error:
        raise locked(error, shown, fix) from None


def text_of(path: Path, shown: str, fix: str = MEND) -> str:
    """The text of a file in UTF-8, without a byte order mark, line ends as they are. Raises StageFault that names the byte."""
    try:
        return content_of(path, shown, fix).decode().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise StageFault(f"not UTF-8: {error.reason} at byte {error.start}", where=shown, fix="convert the file to UTF-8") from None


def hash_of(path: Path, shown: str) -> str:
    """SHA-256 of the bytes. Raises StageFault."""
    size_of(path, shown)
    try:
        return sha256_of(path)
    except OSError as error:
        raise locked(error, shown) from None


def locked(error: OSError, shown: str, fix: str = MEND) -> StageFault:
    """The fault of a file that the system does not give out."""
    return StageFault(f"cannot be read: {error.strerror or error}", where=shown, fix=fix)
