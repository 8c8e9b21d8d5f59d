"""Files and folders that are either whole or absent, whenever the process is killed."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path


def write_bytes(path: Path, data: bytes) -> None:
    """Write `data` beside `path`, flush it to the disk, and rename it into place."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.writing")
    with temporary.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Flush a folder's entries (names and renames) to the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def files_below(folder: Path) -> Iterator[Path]:
    """All files below a folder, in the order of their relative POSIX paths."""
    yield from sorted((path for path in folder.rglob("*") if path.is_file()), key=lambda path: path.relative_to(folder).as_posix())


def sync_tree(folder: Path) -> None:
    """Flush every file and folder below `folder` to the disk."""
    for path in files_below(folder):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    for path in [folder, *(p for p in folder.rglob("*") if p.is_dir())]:
        sync_folder(path)


def move_into_place(built: Path, final: Path, trash: Path) -> None:
    """Rename a finished folder or file to its final name; what stood there goes to `trash` first and is deleted last."""
    final.parent.mkdir(parents=True, exist_ok=True)
    if final.exists() or final.is_symlink():
        trash.parent.mkdir(parents=True, exist_ok=True)
        final.rename(trash)
    built.rename(final)
    sync_folder(final.parent)
    remove(trash)


def remove(path: Path) -> None:
    """Delete a file or a folder, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
