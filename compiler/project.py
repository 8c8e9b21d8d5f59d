"""A project on disk: where it is, what it selects, which versions it locks, which code its stages run."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from compiler.diagnostics import Diagnostic, Faults
from compiler.programs import Programs
from compiler.selection import Selection, selection
from compiler.source import Place
from compiler.wording import Said, said

LOCK = "requirements.lock"
PYTHON = ".python-version"
MARKER = "specs/mindspec.yaml"
_MAKE_LOCK = said("make one with `make lock`", "请用 `make lock` 生成")
_WRITE_PYTHON = said("write 3.11 into it", "请写入 3.11")
LOCKED = re.compile(r"^([A-Za-z0-9_.-]+)==([^\s\\;]+)")


@dataclass(frozen=True)
class Project:
    """`root` is the folder that holds `specs/mindspec.yaml`."""

    root: Path

    @cached_property
    def locked(self) -> Mapping[str, str]:
        """Version of every locked library. Raises Faults where there is no lock file."""
        lines = self._read(LOCK, _MAKE_LOCK).splitlines()
        return {match[1].lower(): match[2] for line in lines if (match := LOCKED.match(line))}

    def lock_place(self, library: str) -> Place:
        """Where the lock file names a library; its first line where it does not."""
        lines = self._read(LOCK, _MAKE_LOCK).splitlines() or [""]
        found = [(number, line) for number, line in enumerate(lines, 1) if line.lower().startswith(f"{library}==")]
        number, line = found[0] if found else (1, lines[0])
        return Place(LOCK, number, 1, line)

    @cached_property
    def python(self) -> str:
        """`major.minor` of the Python that the project is made for: the content of `.python-version`."""
        version = self._read(PYTHON, _WRITE_PYTHON).strip()
        if not re.fullmatch(r"[0-9]+\.[0-9]+", version):
            message = said(f"{version!r} is no Python version", f"{version!r} 不是 Python 版本")
            raise Faults([Diagnostic("MS0021", message, Place(PYTHON, 1, 1, ""), fix=_WRITE_PYTHON)])
        return version

    @cached_property
    def selection(self) -> Selection:
        """The selection of `params.yaml`. Raises Faults that point at the key that is wrong."""
        return selection(self.root)

    def programs(self) -> Programs:
        """The source files as they are now."""
        return Programs(self.root)

    def _read(self, name: str, fix: Said) -> str:
        try:
            return (self.root / name).read_text("utf-8-sig")
        except FileNotFoundError:
            message = said(f"{name} does not exist", f"{name} 不存在")
        except UnicodeDecodeError as error:
            message = said(f"{name} is not UTF-8: {error.reason}", f"{name} 不是 UTF-8：{error.reason}")
        raise Faults([Diagnostic("MS0021", message, Place(name, 1, 1, ""), fix=fix)])


def find_project(start: Path) -> Project:
    """The project around a folder. Raises Faults where no parent holds `specs/mindspec.yaml`."""
    for folder in (start, *start.parents):
        if (folder / MARKER).is_file():
            return Project(folder)
    message = said(f"no {MARKER} in {start} or above it", f"{start} 及其上级中没有 {MARKER}")
    raise Faults([Diagnostic("MS0004", message, fix=said("change into a mindspec project", "请先进入 mindspec 项目"))])
