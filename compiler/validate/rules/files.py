"""Files that a spec names must exist, inside the project."""

import errno
from collections.abc import Iterator
from itertools import islice
from pathlib import Path, PurePosixPath

from compiler import suggest
from compiler.diagnostics import Diagnostic
from compiler.source import Path as KeyPath
from compiler.source import SourceTree
from compiler.wording import Said, said

_LOOKED_AT = 5000  # entries of a folder
_OWN = ("experiments", ".dvc", ".git", ".mindspec", ".venv")


def missing_plain_file(tree: SourceTree, written: str, path: KeyPath, code: str, reason: Said) -> Iterator[Diagnostic]:
    """As `missing_file`, for what must be a file and not a folder."""
    faults = list(missing_file(tree, written, path, code, reason))
    if not faults and not (Path(tree.root) / written).is_file():
        message = said(f"{written} is a folder", f"{written} 是文件夹")
        faults = [Diagnostic(code, message, path=path, reason=reason, fix=said("name one file", "请写一个文件"))]
    yield from faults


def _no_place(posix: PurePosixPath, written: str) -> tuple[Said, Said] | None:
    """What is wrong with a path, whether it exists or not, and what would come of it."""
    if "${" in written or not written.isprintable():
        return (
            said("holds what DVC gives a meaning", "含有在 DVC 中有特殊含义的字符"),
            said("DVC would read another path, or none", "DVC 会读取另一个路径，或读不到"),
        )
    if not posix.parts:
        return (
            said("is the whole project", "是整个项目"),
            said("results would become part of the data that they are made from", "结果会混入产生它的数据"),
        )
    if posix.parts[0] in _OWN:
        return (
            said(f"lies in {posix.parts[0]}/", f"位于 {posix.parts[0]}/ 中"),
            said(
                "it does not hold data of people: results, caches and histories change while stages run",
                "那里不存放人工数据：阶段运行时，结果、缓存与历史会变化",
            ),
        )
    return None


def missing_file(tree: SourceTree, written: str, path: KeyPath, code: str, reason: Said) -> Iterator[Diagnostic]:
    """A fault with `code` when `written`, relative to the project root, is not there."""
    posix = PurePosixPath(written)
    if fault := _no_place(posix, written):
        yield Diagnostic(
            "MS0390",
            said(f"{written!r} {fault[0]}", f"{written!r} {fault[0].zh}"),
            path=path,
            reason=fault[1],
            fix=said("put the data below data/, under a plain name", "请把数据放在 data/ 下，并使用普通的名称"),
        )
    elif posix.is_absolute() or ".." in posix.parts or "\\" in written:
        yield _outside(written, path)
    elif not _exists(Path(tree.root) / posix):
        meant = suggest.existing_path(Path(tree.root), posix)
        yield Diagnostic(
            code,
            said(f"{written} does not exist", f"{written} 不存在"),
            path=path,
            reason=reason,
            fix=suggest.did_you_mean(meant) if meant else _what_is_there(Path(tree.root), posix),
            suggestion=meant or "",
        )


def _what_is_there(root: Path, posix: PurePosixPath) -> Said:
    """The files beside one that is not there, where its folder is."""
    folder = posix.parent
    entries = islice((root / folder).iterdir(), _LOOKED_AT) if folder.parts and (root / folder).is_dir() else ()
    names = sorted(entry.name for entry in entries if not entry.name.startswith("."))
    if not names:
        return said("correct the path; it is relative to the project root", "请更正路径；它相对于项目根目录")
    there = suggest.offered(posix.name, names)
    return said(
        f"correct the path, relative to the project root: {folder} has {there}", f"请更正路径（相对于项目根目录）：{folder} 中有 {there.zh}"
    )


def _exists(path: Path) -> bool:
    """As `Path.exists`, but a name longer than a file name can be is that of no file. Other errors, such as a locked folder, pass."""
    try:
        return path.exists()
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
        return False


def _outside(written: str, path: KeyPath) -> Diagnostic:
    return Diagnostic(
        "MS0387",
        said(f"{written} does not stay inside the project", f"{written} 超出了项目范围"),
        path=path,
        reason=said(
            "the path would mean something else on another machine, and so would the result",
            "该路径在另一台机器上含义不同，结果也会不同",
        ),
        fix=said(
            "put the data below the project, or a link to it, and write the path relative to the project root",
            "请把数据（或指向它的链接）放在项目内，并写相对于项目根目录的路径",
        ),
    )


def missing_template(tree: SourceTree, name: str, path: KeyPath) -> Iterator[Diagnostic]:
    """A fault when specs/template holds no such template."""
    folder = Path(tree.root) / "specs" / "template"
    known = sorted(file.stem for file in folder.glob("*.yaml"))
    if name not in known:
        meant = suggest.closest(name, known)
        hint = suggest.did_you_mean(meant) if meant else said("", "")
        options = suggest.offered(name, known) if known else said("none", "无")
        yield Diagnostic(
            "MS0329",
            said(f"specs/template/{name}.yaml does not exist", f"specs/template/{name}.yaml 不存在"),
            path=path,
            reason=said("rows could not be formatted", "将无法格式化样本"),
            fix=said(f"{hint} known: {options}".lstrip(), f"{hint.zh}可用的有：{options.zh}"),
            suggestion=meant or "",
        )
