"""The one place where the compiler writes files.

One process at a time: two that compile one experiment in two ways leave the files of one of them, never a mixture.
"""

import fcntl
import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

LOCK = ".mindspec/compile.lock"


def write_files(root: Path, files: Mapping[str, bytes]) -> tuple[str, ...]:
    """Write the files that differ and return their paths. OSError passes through.

    All are written beside their places before the first is renamed, so a full disk changes none. What a killed process left
    beside them is written over.
    """
    changed = _differing(root, files)
    if not changed:
        return ()
    with _alone(root):
        changed = _differing(root, files)
        try:
            for path in changed:
                _write(_beside(root / path), files[path])
        except BaseException:
            for path in changed:
                _beside(root / path).unlink(missing_ok=True)
            raise
        for path in changed:
            _beside(root / path).replace(root / path)
    return changed


def remove_stale(root: Path, folder: str, pattern: str, keep: Mapping[str, bytes]) -> tuple[str, ...]:
    """Delete files of `folder` that match `pattern` and are not in `keep`; the folder belongs to the compiler."""
    found = (path.relative_to(root).as_posix() for path in sorted((root / folder).glob(pattern)) if path.is_symlink() or not path.is_dir())
    stale = tuple(path for path in found if path not in keep)
    for path in stale:
        (root / path).unlink(missing_ok=True)
    return stale


@contextmanager
def _alone(root: Path) -> Generator[None]:
    """Wait for every other process that writes here; the lock of a killed one is gone with it."""
    lock = root / LOCK
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _differing(root: Path, files: Mapping[str, bytes]) -> tuple[str, ...]:
    return tuple(path for path, content in files.items() if _content(root / path) != content)


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _beside(path: Path) -> Path:
    return path.with_name(f".{path.name}.writing")


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    path.chmod(0o644)
