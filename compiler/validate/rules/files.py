"""Files that a spec names must exist, inside the project."""

import difflib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from compiler.diagnostics import Diagnostic
from compiler.source import Path as KeyPath
from compiler.source import SourceTree

_OWN = ("experiments", ".dvc", ".git", ".mindspec", ".venv")


def missing_plain_file(tree: SourceTree, written: str, path: KeyPath, code: str, reason: str) -> Iterator[Diagnostic]:
    """As `missing_file`, for what must be a file and not a folder."""
    faults = list(missing_file(tree, written, path, code, reason))
    if not faults and not (Path(tree.root) / written).is_file():
        faults = [Diagnostic(code, f"{written} is a folder", path=path, reason=reason, fix="name one file")]
    yield from faults


def _no_place(posix: PurePosixPath, written: str) -> tuple[str, str] | None:
    """What is wrong with a path, whether it exists or not, and what would come of it."""
    if "${" in written or not written.isprintable():
        return "holds what DVC gives a meaning", "DVC would read another path, or none"
    if not posix.parts:
        return "is the whole project", "results would become part of the data that they are made from"
    if posix.parts[0] in _OWN:
        return f"lies in {posix.parts[0]}/", "it does not hold data of people: results, caches and histories change while stages run"
    return None


def missing_file(tree: SourceTree, written: str, path: KeyPath, code: str, reason: str) -> Iterator[Diagnostic]:
    """A fault with `code` when `written`, relative to the project root, is not there."""
    posix = PurePosixPath(written)
    if fault := _no_place(posix, written):
        yield Diagnostic(
            "MS0390", f"{written!r} {fault[0]}", path=path, reason=fault[1], fix="put the data below data/, under a plain name"
        )
    elif posix.is_absolute() or ".." in posix.parts or "\\" in written:
        yield Diagnostic(
            "MS0387",
            f"{written} does not stay inside the project",
            path=path,
            reason="the path would mean something else on another machine, and so would the result",
            fix="put the data below the project, or a link to it, and write the path relative to the project root",
        )
    elif not (Path(tree.root) / posix).exists():
        meant = _closest_path(Path(tree.root), posix)
        yield Diagnostic(
            code,
            f"{written} does not exist",
            path=path,
            reason=reason,
            fix=f"did you mean {meant}?" if meant else "correct the path; it is relative to the project root",
            suggestion=meant or "",
        )


def missing_template(tree: SourceTree, name: str, path: KeyPath) -> Iterator[Diagnostic]:
    """A fault when specs/template holds no such template."""
    folder = Path(tree.root) / "specs" / "template"
    known = sorted(file.stem for file in folder.glob("*.yaml"))
    if name not in known:
        close = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {close[0]}? " if close else ""
        yield Diagnostic(
            "MS0329",
            f"specs/template/{name}.yaml does not exist",
            path=path,
            reason="rows could not be formatted",
            fix=f"{hint}known: {', '.join(known) or 'none'}",
            suggestion=close[0] if close else "",
        )


def _closest_path(root: Path, written: PurePosixPath) -> str | None:
    """The path with each missing part replaced by the entry most like it."""
    found = PurePosixPath()
    for part in written.parts:
        folder = root / found
        names = sorted(entry.name for entry in folder.iterdir()) if folder.is_dir() else []
        near = [part] if part in names else difflib.get_close_matches(part, names, n=1)
        if not near:
            return None
        found /= near[0]
    return str(found)
