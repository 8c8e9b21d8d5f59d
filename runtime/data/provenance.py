"""What a raw source was when it was read: how many files, and a hash over their names and bytes."""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from runtime.faults import StageFault
from runtime.raw_file import hash_of


def describe(files: Iterable[tuple[str, Path]]) -> dict[str, Any]:
    """`files`: name below the source and path, in an order that depends on the names alone.

    The hash covers raw bytes, so a change of line ends or of encoding is a change of the data.
    """
    return described((name, hash_of(path, name)) for name, path in files)


def described(files: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """As `describe`, from the SHA-256 of each file."""
    digest, count = hashlib.sha256(), 0
    for name, sha256 in files:
        digest.update(f"{name}\0{sha256}\n".encode())
        count += 1
    return {"files": count, "sha256": digest.hexdigest()}


def printable(relative: str, path: str) -> str:
    """The name of a file below the source `path`. Raises StageFault for one that is not UTF-8."""
    try:
        relative.encode()
    except UnicodeEncodeError:
        raise StageFault(f"the file name {relative!r} is not UTF-8", where=path, fix="rename the file") from None
    return relative
