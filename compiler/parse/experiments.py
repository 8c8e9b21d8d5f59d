"""The experiments of a project: the files of `specs/experiment/` and the names they declare."""

import difflib
import re
from collections.abc import Iterator
from pathlib import Path

import yaml

from compiler.diagnostics import Diagnostic, Faults
from compiler.parse.files import SpecFile, entry, read
from compiler.source import Place

NAME = re.compile(r"[a-z0-9][a-z0-9-]*")
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
        return Path(found[0][0].file).stem, list(_duplicates(found))
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
    return Diagnostic("MS0004", "specs/mindspec.yaml does not exist here", fix="go to the root of a project: the folder that holds specs/")


def _unknown(name: str, known: list[str]) -> Diagnostic:
    base = name.partition("--")[0]
    if base != name and base in known:
        fix = f"compile it as the sweep did: python -m compiler -m experiment={base} KEY=VALUE"
        return Diagnostic("MS0001", f"{name} is a point of a sweep over {base}, not a spec of its own", fix=fix)
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]}?" if close else f"known: {', '.join(known)}" if known else f"add {_FOLDER}/{name}.yaml"
    return Diagnostic("MS0001", f"no experiment is named {name}", fix=hint, suggestion=close[0] if close else "")


def _named_otherwise(stem: str, node: yaml.ScalarNode, place: Place) -> Diagnostic:
    return Diagnostic(
        "MS0001",
        f"no experiment is named {stem}; the file of that name declares {node.value}",
        place,
        ("name",),
        fix=f"use {node.value}, or write `name: {stem}`",
        suggestion=stem,
    )


def _nameless(file: SpecFile) -> Diagnostic:
    stem = Path(file.file).stem
    return Diagnostic("MS0003", "the experiment has no name", file.place(0, 0), ("name",), fix=f"add `name: {stem}`")


def _improper(named: list[tuple[SpecFile, yaml.ScalarNode, Place]]) -> list[Diagnostic]:
    return [
        Diagnostic(
            "MS0003",
            f"{node.value!r} is no name for an experiment",
            place,
            ("name",),
            reason="the name is also the name of its folder",
            fix="use lower-case letters, digits and hyphens, a letter or digit first",
        )
        for _, node, place in named
        if not NAME.fullmatch(node.value)
    ]


def _duplicates(named: list[tuple[SpecFile, yaml.ScalarNode, Place]]) -> Iterator[Diagnostic]:
    first: dict[str, Place] = {}
    for _, node, place in named:
        if node.value in first:
            yield Diagnostic(
                "MS0002",
                f"the name {node.value} is already used",
                place,
                ("name",),
                reason="both experiments would be written to the same folder",
                fix="give one of them another name",
                related=(("used here", first[node.value]),),
            )
        first.setdefault(node.value, place)
