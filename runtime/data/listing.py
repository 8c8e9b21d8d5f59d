"""The files of a raw source, in an order that depends on their names alone."""

import gzip
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from runtime.contracts.ingest import Source
from runtime.data.provenance import printable
from runtime.faults import StageFault

SUFFIXES = {
    "text": (".txt", ".text"),
    "html": (".html", ".htm", ".xhtml"),
    "markdown": (".md", ".markdown"),
    "jsonl": (".jsonl", ".ndjson"),
    "json": (".json",),
}


@dataclass(frozen=True)
class RawFile:
    """`path`: where it is; `shown`: its path as the spec would write it, for messages; `relative`: below the source."""

    path: Path
    shown: str
    relative: str

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """The content, uncompressed. Raises StageFault for a damaged archive or a file that cannot be read."""
        try:
            with gzip.open(self.path) if self.path.suffix == ".gz" else self.path.open("rb") as file:
                yield cast(BinaryIO, file)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise StageFault(f"damaged gzip file: {error}", where=self.shown, fix="fetch the file again") from None
        except OSError as error:
            raise StageFault(f"cannot be read: {error.strerror or error}", where=self.shown, fix="mend the file or its rights") from None

    def read(self) -> bytes:
        """The whole content, uncompressed. Raises StageFault."""
        with self.open() as file:
            return file.read()


def files_of(root: Path, name: str, source: Source) -> list[RawFile]:
    """The files of one source, sorted by their POSIX path below it.

    A path that is a file is read whatever its name. In a folder only files whose extension belongs to the format
    (`SUFFIXES`, also with .gz) are read, so licences and notes without one stay out; names that begin with a dot do too.
    Raises StageFault where there is none.
    """
    top = root / source.path
    if top.is_file():
        return [RawFile(top, source.path, top.name)]
    found = sorted((path.relative_to(top).as_posix(), path) for path in _walk(top, ()) if _belongs(path, source.format))
    if not found:
        raise _nothing(top, name, source)
    return [RawFile(path, f"{source.path.rstrip('/')}/{relative}", printable(relative, source.path)) for relative, path in found]


def _walk(folder: Path, above: tuple[tuple[int, int], ...]) -> Iterator[Path]:
    """All files below a folder; a link that leads back to a folder above is not followed a second time."""
    if not folder.is_dir():
        return
    status = folder.stat()
    here = (status.st_dev, status.st_ino)
    if here in above:
        return
    for entry in os.scandir(folder):
        if entry.name.startswith("."):
            continue
        if entry.is_dir():
            yield from _walk(Path(entry.path), (*above, here))
        else:
            yield Path(entry.path)


def _belongs(path: Path, format: str) -> bool:
    name = path.name.lower().removesuffix(".gz")
    return name.endswith(SUFFIXES[format])


def _nothing(top: Path, name: str, source: Source) -> StageFault:
    wanted = ", ".join(SUFFIXES[source.format])
    what = f"has no file that ends in {wanted}" if top.is_dir() else "does not exist"
    return StageFault(
        f"the source {name} is empty: {source.path} {what}",
        where=source.path,
        reason="a mix with a source that has no text would silently be another mix",
        fix=f"put {source.format} files there (get the data with `dvc pull`, if it is tracked), or mend data.pretrain.sources.{name}.path",
    )
