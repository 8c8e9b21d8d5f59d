"""What differs between two compiled experiments: in the spec, in the files, and in the stages that run.

A stage runs again when its configuration, its code, the files that it reads or the locked versions that write its bytes
differ, or when it reads the results of a stage that does. A stage whose inputs come out byte-identical after all is then
found in the cache: what is told here is the most that runs.
"""

import difflib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, cast

from compiler.graph import StageNode
from compiler.lower.graph import ROOT
from compiler.pipeline import Compiled
from compiler.source import Path as KeyPath
from compiler.source import Place, children, dotted
from compiler.spec.declare import FieldClass
from compiler.spec.walk import class_of

ABSENT = "-"
POLICY = "config/compare.yaml"
COMPARED = ("evaluate", "report")  # stages whose results the root's `compare` reads


@dataclass(frozen=True)
class Side:
    """One of the two: what was compiled, and the folder that its code and data lie in."""

    compiled: Compiled
    root: Path

    @property
    def files(self) -> Mapping[str, bytes]:
        """Compiled files, relative to the experiment folder."""
        folder = f"experiments/{self.compiled.spec.name}/"
        return {path.removeprefix(folder): content for path, content in self.compiled.files.items()}

    @property
    def stages(self) -> Mapping[str, StageNode]:
        """The stages by name, in the order in which they run."""
        return {node.name: node for node in self.compiled.graph.stages}


@dataclass(frozen=True)
class ChangedValue:
    """One value of the spec; `before` or `after` is `-` where one side has no such value."""

    path: KeyPath
    before: Any
    after: Any
    field_class: FieldClass
    place_before: Place | None
    place_after: Place | None


@dataclass(frozen=True)
class ChangedFile:
    """One compiled file; a side that lacks it has no text."""

    path: str
    before: str
    after: str

    def unified(self) -> str:
        """The change as a unified diff with three lines of context."""
        lines = (self.before.splitlines(), self.after.splitlines())
        return "\n".join(difflib.unified_diff(*lines, f"a/{self.path}", f"b/{self.path}", lineterm=""))


@dataclass(frozen=True)
class Rerun:
    """A stage that runs again: `direct`, what it reads that differs; `through`, the stages whose results it reads and that run."""

    stage: str
    direct: tuple[str, ...]
    through: tuple[str, ...]


@dataclass(frozen=True)
class Difference:
    """Everything that differs; all three are empty for two that are the same."""

    values: tuple[ChangedValue, ...]
    files: tuple[ChangedFile, ...]
    reruns: tuple[Rerun, ...]


def difference(before: Side, after: Side, edited: Collection[str] = (), root_stages: Sequence[str] = ()) -> Difference:
    """`edited`: raw files, relative to the project root, that differ between the sides although both name them.

    `root_stages`: those of `compare` and `gate` that the project's root has and that read the second side.
    """
    reruns = tuple(_reruns(before, after, edited))
    reruns += tuple(_root_reruns(before, after, {one.stage for one in reruns}, root_stages))
    return Difference(tuple(_values(before, after)), tuple(_files(before, after)), reruns)


def _values(before: Side, after: Side) -> Iterator[ChangedValue]:
    specs = (before.compiled.spec.model_dump(), after.compiled.spec.model_dump())
    for path, old, new in _unequal(*specs):
        yield ChangedValue(path, old, new, class_of(path), _place(before, path), _place(after, path))


def _place(side: Side, path: KeyPath) -> Place | None:
    """Where the value was written; None for a default."""
    places = side.compiled.tree.places
    return next((places[path[:end]] for end in range(len(path), 0, -1) if path[:end] in places), None)


def _unequal(before: Any, after: Any, path: KeyPath = ()) -> Iterator[tuple[KeyPath, Any, Any]]:
    """Values that differ, type and all: 1, 1.0 and true are three. Lists of one length are compared item by item."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        old, new = cast(Mapping[str, Any], before), cast(Mapping[str, Any], after)
        for key in dict.fromkeys([*old, *new]):
            yield from _unequal(old.get(key, ABSENT), new.get(key, ABSENT), (*path, key))
    elif isinstance(before, list) and isinstance(after, list) and len(cast(list[Any], before)) == len(cast(list[Any], after)):
        for index, (was, now) in enumerate(zip(cast(list[Any], before), cast(list[Any], after), strict=True)):
            yield from _unequal(was, now, (*path, index))
    elif not same(before, after):
        yield path, before, after


def same(one: Any, other: Any) -> bool:
    """Whether two plain values are equal in value and type, throughout."""
    if type(one) is not type(other):
        return False
    if isinstance(one, (Mapping, list)):
        pairs = zip(children(cast(object, one)), children(cast(object, other)), strict=False)
        return len(cast(Any, one)) == len(other) and all(a == b and same(old, new) for (a, old), (b, new) in pairs)
    return one == other


def _files(before: Side, after: Side) -> Iterator[ChangedFile]:
    old, new = before.files, after.files
    for path in sorted(old.keys() | new.keys()):
        if old.get(path) != new.get(path):
            yield ChangedFile(path, old.get(path, b"").decode(), new.get(path, b"").decode())


def _reruns(before: Side, after: Side, edited: Collection[str]) -> Iterator[Rerun]:
    running: dict[str, str] = {}  # result -> the stage that writes it anew
    for name, node in after.stages.items():
        direct = tuple(_direct(before, after, node, edited))
        through = tuple(dict.fromkeys(running[path] for path in node.dependencies if path in running))
        if direct or through:
            running |= dict.fromkeys(node.results, name)
            yield Rerun(name, direct, through)


def _root_reruns(before: Side, after: Side, running: Collection[str], root_stages: Sequence[str]) -> Iterator[Rerun]:
    """`compare` reads the scores, the record and the limits; `gate` reads what it wrote."""
    through = tuple(name for name in COMPARED if name in running)
    direct = (POLICY,) if before.files.get(POLICY) != after.files.get(POLICY) else ()
    for name in root_stages if through or direct else ():
        yield Rerun(name, direct, through) if name == "compare" else Rerun(name, (), ("compare",))


def _direct(before: Side, after: Side, node: StageNode, edited: Collection[str]) -> Iterator[str]:
    """What a stage itself reads and that differs, in words that need no translation: files, keys and values."""
    old = before.stages.get(node.name)
    if old is None:
        yield node.contract.config
        return
    for path in (node.contract.config, *node.contract.reads_files):
        if before.files.get(path) != after.files.get(path):
            yield _told(path, old, node) if path == node.contract.config else path
    yield from _versions(before, after, node)
    yield from (f"{sign}{path}" for sign, path in _dependencies(old, node))
    yield from _content(before, after, [path for path in node.dependencies if path in old.dependencies], edited)


def _told(path: str, old: StageNode, new: StageNode) -> str:
    changes = [f"{dotted(key)} {shown(was)} -> {shown(now)}" for key, was, now in _unequal(old.config, new.config)]
    return f"{path}: {', '.join(changes)}" if changes else path


def shown(value: Any) -> str:
    """A value in one short line."""
    text = {None: "null", True: "true", False: "false"}.get(value) if value is None or isinstance(value, bool) else str(value)
    return str(text) if len(str(text)) <= 60 else f"{str(text)[:57]}..."


def _versions(before: Side, after: Side, node: StageNode) -> Iterator[str]:
    """A stage depends on the versions of the libraries that write its bytes, and on no others."""
    old, new = before.compiled.graph.environment, after.compiled.graph.environment
    for library in node.contract.environment:
        if old.get(library) != new.get(library):
            yield f"{library} {old.get(library, ABSENT)} -> {new.get(library, ABSENT)}"


def _dependencies(old: StageNode, new: StageNode) -> Iterator[tuple[str, str]]:
    """Files outside the experiment that only one side reads."""
    for path in dict.fromkeys([*old.dependencies, *new.dependencies]):
        if path not in old.dependencies or path not in new.dependencies:
            yield ("+" if path in new.dependencies else "-"), path.removeprefix(f"{ROOT}/")


def _content(before: Side, after: Side, shared: Sequence[str], edited: Collection[str]) -> Iterator[str]:
    """Code and raw files of both sides whose content differs between two states of a project."""
    if before.root == after.root and not edited:
        return
    for path in (one.removeprefix(f"{ROOT}/") for one in shared if one.startswith(f"{ROOT}/")):
        touched = any(PurePosixPath(one).is_relative_to(path) for one in edited)
        if touched or _bytes(before.root / path) != _bytes(after.root / path):
            yield path


def _bytes(path: Path) -> bytes | None:
    """Content of a file; None for a folder, whose changes Git tells."""
    return path.read_bytes() if path.is_file() else None
