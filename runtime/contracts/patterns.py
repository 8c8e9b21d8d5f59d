"""Paths with wildcards, and the files below a folder: what the compiler checks is what the stage reads.

`*` and `?` stand for characters within one name and never for a slash; `**` as a whole name stands for any number of folders,
none included, and as the last name for every file below.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

_WILD = re.compile("[*?]")


def is_pattern(path: str) -> bool:
    """Whether a path holds a wildcard."""
    return _WILD.search(path) is not None


def fixed_folder(path: str) -> str:
    """The folder that a pattern cannot leave: what stands before the first name with a wildcard. Other paths as they are."""
    if not is_pattern(path):
        return path
    parts = PurePosixPath(path).parts
    first = next(index for index, part in enumerate(parts) if is_pattern(part))
    return str(PurePosixPath(*parts[:first]))


def below_fixed(path: str, flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str]:
    """Matches, in full, the POSIX paths below `fixed_folder(path)` that a pattern stands for."""
    parts = PurePosixPath(path).parts
    wild = parts[len(PurePosixPath(fixed_folder(path)).parts) :]
    above = "".join("(?:[^/]+/)*" if part == "**" else f"{_name(part)}/" for part in wild[:-1])
    return re.compile(above + (".+" if wild[-1] == "**" else _name(wild[-1])), flags | re.DOTALL)


def files_below(folder: Path) -> Iterator[Path]:
    """All that is no folder, in no order; names that begin with a dot are left out. Raises OSError.

    Links are followed, but one that leads back to a folder above it is not followed a second time.
    """
    return _walk(folder, ()) if folder.is_dir() else iter(())


def _walk(folder: Path, above: tuple[tuple[int, int], ...]) -> Iterator[Path]:
    status = folder.stat()
    here = (status.st_dev, status.st_ino)
    if here in above:
        return
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if entry.is_dir():
                yield from _walk(Path(entry.path), (*above, here))
            else:
                yield Path(entry.path)


def _name(part: str) -> str:
    signs = {"*": "[^/]*", "?": "[^/]"}
    return "".join(signs.get(sign, re.escape(sign)) for sign in re.sub(r"\*+", "*", part))
