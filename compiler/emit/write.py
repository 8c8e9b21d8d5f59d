"""The one place where the compiler writes files."""

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path


def write_files(root: Path, files: Mapping[str, bytes]) -> tuple[str, ...]:
    """Write the files that differ, each whole or not at all, and return their paths. OSError passes through."""
    changed = tuple(path for path, content in files.items() if _content(root / path) != content)
    for path in changed:
        _replace(root / path, files[path])
    return changed


def remove_stale(root: Path, folder: str, pattern: str, keep: Mapping[str, bytes]) -> tuple[str, ...]:
    """Delete files of `folder` that match `pattern` and are not in `keep`; the folder belongs to the compiler."""
    found = (path.relative_to(root).as_posix() for path in sorted((root / folder).glob(pattern)))
    stale = tuple(path for path in found if path not in keep)
    for path in stale:
        (root / path).unlink(missing_ok=True)
    return stale


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _replace(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
