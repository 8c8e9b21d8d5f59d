"""The files of a raw source, in an order that depends on their names alone."""

from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from runtime.contracts.counting import counted
from runtime.contracts.ingest import COMPRESSED, SUFFIXES, Source, endings_of
from runtime.contracts.patterns import below_fixed, files_below, fixed_folder, is_pattern
from runtime.data.archives import uncompressed
from runtime.data.provenance import printable
from runtime.faults import StageFault
from runtime.raw_file import size_of


@dataclass(frozen=True)
class RawFile:
    """`path`: where it is; `shown`: its path as the spec would write it, for messages; `relative`: below the source.

    `size`: bytes on disk, as they were when the files were listed.
    """

    path: Path
    shown: str
    relative: str
    size: int

    @property
    def compressed(self) -> bool:
        """Whether its extension says so."""
        return self.path.suffix.lower() in COMPRESSED

    def open(self) -> AbstractContextManager[BinaryIO]:
        """The content, uncompressed. Raises as `archives.uncompressed`."""
        return uncompressed(self.path, self.shown)


@dataclass(frozen=True)
class Files:
    """The files of a source that are `read`, and how many are not, by their extension."""

    read: list[RawFile]
    skipped: Counter[str]

    def told(self) -> str:
        """How many were left out, and which."""
        kinds = ", ".join(f"{ending}: {count}" for ending, count in sorted(self.skipped.items()))
        return f"{counted(self.skipped.total(), 'file')} not read, of another extension ({kinds})"


def files_of(root: Path, name: str, source: Source) -> Files:
    """The files of one source, sorted by their POSIX path below it, or below the fixed folder of its pattern.

    A path that is a file is read whatever its name, and so is all that a pattern matches. In a folder only files whose
    extension belongs to the format are read, so licences and notes without one stay out; names that begin with a dot do too.
    Raises StageFault where there is none.
    """
    fixed = fixed_folder(source.path)
    top = root / fixed
    if top.is_file() and not is_pattern(source.path):
        return Files([_file(top, fixed, top.name)], Counter())
    belongs = _matched(source.path) if is_pattern(source.path) else _of_format(source.format)
    try:
        below = [(path.relative_to(top).as_posix(), path) for path in files_below(top)]
    except OSError as error:
        raise StageFault(f"cannot be read: {error.strerror}", where=fixed, fix="mend the folder or its rights") from None
    found = sorted((relative, path) for relative, path in below if belongs(relative))
    if not found:
        raise _nothing(top, name, source)
    files = [_file(path, f"{fixed.rstrip('/')}/{relative}", printable(relative, fixed)) for relative, path in found]
    return Files(files, Counter() if is_pattern(source.path) else _left_out(below, belongs))


def _left_out(below: Iterable[tuple[str, Path]], belongs: Callable[[str], bool]) -> Counter[str]:
    return Counter(path.suffix.lower() or "none" for relative, path in below if not belongs(relative))


def _file(path: Path, shown: str, relative: str) -> RawFile:
    """A name may hold a line end; a message may not."""
    one_line = shown if shown.isprintable() else "".join(map(_visible, shown))
    return RawFile(path, one_line, relative, size_of(path, one_line))


def _visible(sign: str) -> str:
    return sign if sign.isprintable() else sign.encode("unicode_escape").decode()


def _matched(path: str) -> Callable[[str], bool]:
    pattern = below_fixed(path)
    return lambda relative: pattern.fullmatch(relative) is not None


def _of_format(format: str) -> Callable[[str], bool]:
    every = endings_of(format)
    return lambda relative: relative.lower().endswith(every)


def _nothing(top: Path, name: str, source: Source) -> StageFault:
    if is_pattern(source.path):
        what = "matches no file" if top.is_dir() else f"begins in {fixed_folder(source.path)}, which does not exist"
    else:
        what = f"has no file that ends in {', '.join(SUFFIXES[source.format])}" if top.is_dir() else "does not exist"
    return StageFault(
        f"the source {name} is empty: {source.path} {what}",
        where=source.path,
        reason="a mix with a source that has no text would silently be another mix",
        fix=f"put {source.format} files there (get the data with `dvc pull`, if it is tracked), or mend data.pretrain.sources.{name}.path",
    )
