"""The step itself."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, get_args

from pydantic import ValidationError

from compiler.diagnostics import Diagnostic, Faults
from compiler.source import Path, SourceTree
from compiler.spec import Spec
from compiler.spec.declare import Section
from compiler.validate import structure
from compiler.validate.rules import RULES


@dataclass(frozen=True)
class Reviewed:
    """`spec`, and what a person should know although it can be compiled: `warnings`, of severity warning."""

    spec: Spec
    warnings: tuple[Diagnostic, ...]


def validate(tree: SourceTree) -> Spec:
    """The spec that a composed tree declares. Raises Faults as `review` does."""
    return review(tree).spec


def review(tree: SourceTree) -> Reviewed:
    """The spec that a composed tree declares, with its warnings.

    Raises Faults where one of the findings is an error: every structural fault, and every fault of meaning in the sections
    that are structurally sound.
    """
    faults = list(structure.faults(tree))
    broken = {str(fault.path[0]) for fault in faults if fault.path}
    sections: dict[str, Any] = {}
    for name in Spec.model_fields.keys() - broken:
        try:
            sections[name] = _typed(name, tree)
        except ValidationError as error:
            faults += _refused(error, (name,), tree)
    faults += [_placed(tree, fault) for fault in _meaning(tree, sections)]
    if any(fault.severity == "error" for fault in faults):
        raise Faults(faults)
    return Reviewed(Spec.model_validate(tree.values), tuple(faults))


def _typed(name: str, tree: SourceTree) -> Any:
    """The typed value of one top-level field; one that is left out has its default."""
    info = Spec.model_fields[name]
    if name not in tree.values:
        return info.get_default()
    value = tree.values[name]
    candidates = (info.annotation, *get_args(info.annotation))
    section = next((kind for kind in candidates if isinstance(kind, type) and issubclass(kind, Section)), None)
    return section.model_validate(value) if section and isinstance(value, Mapping) else value


def _refused(error: ValidationError, above: Path, tree: SourceTree) -> Iterator[Diagnostic]:
    """What a type refuses beyond its schema, such as half a byte."""
    for detail in error.errors():
        path = (*above, *detail["loc"])
        message = detail["msg"].removeprefix("Value error, ")
        yield Diagnostic("MS0206", message, tree.place(path), path, fix="write a value of the described form")


def _meaning(tree: SourceTree, sections: dict[str, Any]) -> Iterator[Diagnostic]:
    spec = Spec.model_construct(**sections)
    for rule in RULES:
        if rule.needs <= sections.keys():
            yield from rule.check(spec, tree)


def _placed(tree: SourceTree, fault: Diagnostic) -> Diagnostic:
    return fault if fault.place else replace(fault, place=tree.place(fault.path))
