"""The step itself."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from compiler.codes import CODES
from compiler.diagnostics import Diagnostic, Faults
from compiler.planning.study import concrete
from compiler.source import Path, SourceTree
from compiler.spec import Spec
from compiler.validate import structure
from compiler.validate.rules import RULES, Rule
from compiler.validate.sound import broken_paths, gap, holder, sound_part, without
from compiler.wording import Said, said


@dataclass(frozen=True)
class Reviewed:
    """`spec`, and what a person should know although it can be compiled: `warnings`, of severity warning."""

    spec: Spec
    warnings: tuple[Diagnostic, ...]


def validate(tree: SourceTree) -> Spec:
    """The spec that a composed tree declares. Raises Faults as `review` does."""
    return review(tree).spec


def review(tree: SourceTree, *, planning: bool = False) -> Reviewed:
    """The spec that a composed tree declares, with its warnings.

    Raises Faults where one of the findings is an error: every structural fault, and every fault of meaning that can be
    judged without the fields that are structurally broken. With `planning`, an error that only a run would meet is let
    pass among the warnings.
    """
    faults = list(structure.faults(tree))
    try:
        spec = Spec.model_validate(tree.values)
    except ValidationError as error:
        faults += _refused(error, tree, broken_paths(faults))
        spec = sound_part(Spec, tree.values, broken_paths(faults))
    faults += [_placed(tree, fault) for fault in meaning(spec, tree)]
    if any(fault.severity == "error" and not (planning and CODES[fault.code].plannable) for fault in faults):
        raise Faults(faults)
    return Reviewed(spec, tuple(faults))


def findings(tree: SourceTree, unknown: frozenset[Path]) -> list[Diagnostic]:
    """What can be said of a tree when the values at some paths are not known: nothing that depends on them."""
    touched = _touching(unknown)
    faults = [fault for fault in structure.faults(tree) if not touched(fault.path)]
    try:
        Spec.model_validate(tree.values)
    except ValidationError as error:
        faults += _refused(error, tree, broken_paths(faults) | unknown)
    spec = sound_part(Spec, tree.values, broken_paths(faults) | unknown)
    return faults + [_placed(tree, fault) for fault in meaning(spec, tree)]


def _touching(others: frozenset[Path]) -> Callable[[Path], bool]:
    """Tells whether a path is one of others, or lies below or above one."""
    above = {one[:length] for one in others for length in range(len(one) + 1)}
    return lambda path: path in above or any(path[:length] in others for length in range(len(path)))


def _refused(error: ValidationError, tree: SourceTree, told: frozenset[Path]) -> Iterator[Diagnostic]:
    """What a type refuses beyond its schema, such as half a byte."""
    touched = _touching(told)
    for detail in error.errors():
        path = _path(detail["loc"], tree.values)
        if not touched(path):
            fix = said("write a value of the described form", "请按所述格式填写")
            yield Diagnostic("MS0206", _message(detail), tree.place(path), path, fix=fix)


def _message(detail: ErrorDetails) -> Said:
    """In both languages where a check of ours raised it; pydantic's own words stay as they are."""
    told = getattr(detail.get("ctx", {}).get("error"), "args", ("",))[0]
    plain = detail["msg"].removeprefix("Value error, ")
    return told if isinstance(told, Said) else said(plain, f"值不符合要求：{plain}")


def _path(location: Path, values: Any) -> Path:
    """The location that pydantic names, without the branches of unions in it."""
    path: list[str | int] = []
    for part in location:
        if (isinstance(values, Mapping) and part in values) or (isinstance(values, list) and isinstance(part, int)):
            path.append(part)
            values = cast(Any, values)[part]
    return tuple(path)


def meaning(spec: Spec, tree: SourceTree) -> Iterator[Diagnostic]:
    """What the rules find in a spec, or in its sound part; a rule ends where it reads a field that is not there."""
    planned = _planned(spec)
    for rule in RULES:
        yield from _found(rule, planned, tree)


def _planned(spec: Spec) -> Spec:
    """Under `parallel: auto` the rules judge the layout and the batches that the planner takes, as if they were written.

    Where nothing fits, or a section that the planner reads is broken, `auto` stays.
    """
    try:
        return concrete(spec)
    except AttributeError as error:
        if not gap(error):
            raise
        return spec
    except ValueError:
        return spec


def _found(rule: Rule, spec: Spec, tree: SourceTree) -> Iterator[Diagnostic]:
    if not rule.needs <= vars(spec).keys():
        return
    try:
        yield from rule.check(spec, tree)
    except AttributeError as error:
        if not gap(error):
            raise
        faulty = holder(spec, error.obj)
        if faulty is not None and faulty not in rule.needs:  # a rule on both trainings still sees the other one
            yield from _found(rule, without(spec, faulty), tree)


def _placed(tree: SourceTree, fault: Diagnostic) -> Diagnostic:
    return fault if fault.place else replace(fault, place=tree.place(fault.path))
