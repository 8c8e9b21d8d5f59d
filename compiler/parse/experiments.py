"""The experiments of a project: the files of `specs/experiment/` and the names they declare."""

import re
from collections.abc import Iterator
from pathlib import Path

import yaml

from compiler.diagnostics import Diagnostic, Faults
from compiler.parse import smoke
from compiler.parse.files import SpecFile, entry, read
from compiler.source import Place
from compiler.suggest import closest, did_you_mean, offered
from compiler.wording import said

NAME = re.compile(r"[a-z0-9][a-z0-9-]*")
LONGEST = 200  # characters: a file system takes 255, and a trial run or a point of a sweep adds to the name
_FOLDER = "specs/experiment"


def experiments(root: Path) -> list[tuple[str, str]]:
    """(name, file relative to `root`) of each experiment, by name.

    Raises Faults for a file that cannot be read, one without a proper name, and two files of one name.
    """
    parsed = [read(root, path) for path in _files(root)]
    faults = [fault for file in parsed for fault in file.faults]
    named = [(file, name, file.at(name)) for file in parsed if (name := _name_node(file)) is not None]
    faults += [_nameless(file) for file in parsed if file.readable and _name_node(file) is None]
    faults += _improper(named) + list(_duplicates(named))
    if faults:
        raise Faults(faults)
    return sorted((node.value, file.file) for file, node, _ in named)


def experiment_file(root: Path, name: str) -> tuple[str, list[Diagnostic]]:
    """The option of the group `experiment` that declares `name`, and what is wrong with that name.

    Raises Faults when there is no such experiment. A file of that name that has no name, an improper one or no content at
    all is taken for it, so that its other faults come to light too.
    """
    if not (root / "specs" / "mindspec.yaml").is_file():
        raise Faults([_no_specs()])
    parsed = [read(root, path) for path in _files(root)]
    named = [(file, node, file.at(node)) for file in parsed if (node := _name_node(file)) is not None]
    found = [one for one in named if one[1].value == name]
    if found:
        return Path(found[0][0].file).stem, [*_duplicates(found), *(_improper(found[:1]) if len(name) > LONGEST else ())]
    direct = next((file for file in parsed if Path(file.file).stem == name), None)
    if direct is None:
        unreadable = [fault for file in parsed if not file.readable for fault in file.faults]
        raise Faults([_unknown(name, sorted(node.value for _, node, _ in named if NAME.fullmatch(node.value))), *unreadable])
    return name, _misnamed(name, direct)


def _misnamed(name: str, file: SpecFile) -> list[Diagnostic]:
    """What is wrong with a file that is called `name` and does not declare it.

    Raises Faults where it is another experiment, or no file that could be read.
    """
    if any(fault.code == "MS0028" for fault in file.faults):
        raise Faults(file.faults)
    node = _name_node(file)
    if node is None:
        return [_nameless(file)] if file.readable else []
    if NAME.fullmatch(node.value):
        raise Faults([_named_otherwise(name, node, file.at(node))])
    return _improper([(file, node, file.at(node))])


def names(root: Path) -> frozenset[str]:
    """Every name that a file of `specs/experiment/` declares."""
    return frozenset(node.value for path in _files(root) if (node := _name_node(read(root, path))) is not None)


def _files(root: Path) -> list[Path]:
    return sorted((root / _FOLDER).glob("*.yaml"))


def _name_node(file: SpecFile) -> yaml.ScalarNode | None:
    node = entry(file, "name")
    return node if isinstance(node, yaml.ScalarNode) else None


def _no_specs() -> Diagnostic:
    return Diagnostic(
        "MS0004",
        said("specs/mindspec.yaml does not exist here", "此处没有 specs/mindspec.yaml"),
        fix=said("go to the root of a project: the folder that holds specs/", "请进入项目根目录，即包含 specs/ 的文件夹"),
    )


def _unknown(name: str, known: list[str]) -> Diagnostic:
    base = name.partition("--")[0]
    if name == base + smoke.SUFFIX and base in known:
        message = said(f"{name} is the small twin of {base}, not a spec of its own", f"{name} 是 {base} 的小型试运行，没有自己的规格")
        return Diagnostic("MS0001", message, fix=said(f"write {base} smoke=true", f"请写 {base} smoke=true"))
    if base != name and base in known:
        line = f"python -m compiler -m experiment={base} KEY=VALUE"
        message = said(f"{name} is a point of a sweep over {base}, not a spec of its own", f"{name} 是 {base} 的扫描点，没有自己的规格")
        return Diagnostic("MS0001", message, fix=said(f"compile it as the sweep did: {line}", f"请像扫描时那样编译：{line}"))
    meant = closest(name, known)
    hint = said(f"add {_FOLDER}/{name}.yaml", f"请新增 {_FOLDER}/{name}.yaml")
    if meant:
        hint = did_you_mean(meant)
    elif known:
        hint = said(f"known: {offered(name, known)}", f"可用的有：{offered(name, known).zh}")
    return Diagnostic("MS0001", said(f"no experiment is named {name}", f"没有名为 {name} 的实验"), fix=hint, suggestion=meant or "")


def _named_otherwise(stem: str, node: yaml.ScalarNode, place: Place) -> Diagnostic:
    return Diagnostic(
        "MS0001",
        said(
            f"no experiment is named {stem}; the file of that name declares {node.value}",
            f"没有名为 {stem} 的实验；该文件声明的名称是 {node.value}",
        ),
        place,
        ("name",),
        fix=said(f"use {node.value}, or write `name: {stem}`", f"请使用 {node.value}，或写 `name: {stem}`"),
        suggestion=stem,
    )


def _nameless(file: SpecFile) -> Diagnostic:
    stem = Path(file.file).stem
    fix = said(f"add `name: {stem}`", f"请加上 `name: {stem}`")
    return Diagnostic("MS0003", said("the experiment has no name", "实验没有名称"), file.place(0, 0), ("name",), fix=fix)


def _improper(named: list[tuple[SpecFile, yaml.ScalarNode, Place]]) -> list[Diagnostic]:
    return [
        Diagnostic(
            "MS0003",
            said(f"{node.value!r} is no name for an experiment", f"{node.value!r} 不能用作实验名"),
            place,
            ("name",),
            reason=said("the name is also the name of its folder", "实验名也是其文件夹名"),
            fix=said(
                "use lower-case letters, digits and hyphens, a letter or digit first"
                + f", {LONGEST} at most" * (len(node.value) > LONGEST),
                "请用小写字母、数字和连字符，并以字母或数字开头" + f"，至多 {LONGEST} 个字符" * (len(node.value) > LONGEST),
            ),
        )
        for _, node, place in named
        if not NAME.fullmatch(node.value) or len(node.value) > LONGEST
    ]


def _duplicates(named: list[tuple[SpecFile, yaml.ScalarNode, Place]]) -> Iterator[Diagnostic]:
    first: dict[str, Place] = {}
    for _, node, place in named:
        if node.value in first:
            yield Diagnostic(
                "MS0002",
                said(f"the name {node.value} is already used", f"名称 {node.value} 已被使用"),
                place,
                ("name",),
                reason=said("both experiments would be written to the same folder", "两个实验会写入同一个文件夹"),
                fix=said("give one of them another name", "请给其中一个换名"),
                related=((said("used here", "已用于此处"), first[node.value]),),
            )
        first.setdefault(node.value, place)
