"""All declared fields, in the order of declaration."""

import types
from collections.abc import Iterator
from functools import cache
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from compiler.spec.declare import CLASS_KEY, FieldClass, Section
from compiler.spec.root import Spec


class DeclaredField(NamedTuple):
    """One leaf of the spec. `path` is dotted; `*` stands for a name that the user chooses, as in a map of sources."""

    path: str
    field_class: FieldClass
    info: FieldInfo


def fields(model: type[Section] = Spec, prefix: str = "") -> Iterator[DeclaredField]:
    """Every field that holds a value of its own, depth first."""
    for name, info in model.model_fields.items():
        path = f"{prefix}{name}"
        extra = info.json_schema_extra
        if isinstance(extra, dict) and CLASS_KEY in extra:
            yield DeclaredField(path, extra[CLASS_KEY], info)  # type: ignore[arg-type]
        for nested, suffix in _sections(info.annotation):
            yield from fields(nested, f"{path}{suffix}.")


def _sections(annotation: Any) -> Iterator[tuple[type[Section], str]]:
    """Sections inside a type: itself, a branch of a union, or the values of a map (suffix `.*`)."""
    origin = get_origin(annotation)
    if isinstance(annotation, type) and issubclass(annotation, Section):
        yield annotation, ""
    elif origin in (Union, types.UnionType):
        for branch in get_args(annotation):
            yield from _sections(branch)
    elif origin is Annotated:
        yield from _sections(get_args(annotation)[0])
    elif origin is dict:
        for nested, suffix in _sections(get_args(annotation)[1]):
            yield nested, f".*{suffix}"


@cache
def maps() -> frozenset[tuple[str, ...]]:
    """The paths of maps with names that the user chooses, none of whose values can be null."""
    parts = [tuple(declared.path.split(".")) for declared in fields()]
    around = {path[:index] for path in parts for index, part in enumerate(path) if part == "*"}
    own = {path for path, declared in zip(parts, fields(), strict=True) if _is_map(declared.info.annotation)}
    return frozenset(around | own)


def _is_map(annotation: Any) -> bool:
    return get_origin(annotation) is dict and type(None) not in get_args(get_args(annotation)[1])


def is_map(path: tuple[str | int, ...]) -> bool:
    """Whether a concrete path is that of such a map."""
    return any(len(one) == len(path) and all(have in ("*", want) for have, want in zip(one, path, strict=True)) for one in maps())


def class_of(path: tuple[str | int, ...]) -> FieldClass:
    """The class of the field at or above a concrete path; identity where no field is known, the strictest class."""
    parts = [str(part) for part in path if isinstance(part, str)]
    for length in range(len(parts), 0, -1):
        for declared in _by_length().get(length, ()):
            if all(have in ("*", want) for have, want in zip(declared.path.split("."), parts, strict=False)):
                return declared.field_class
    return "identity"


@cache
def _by_length() -> dict[int, list[DeclaredField]]:
    table: dict[int, list[DeclaredField]] = {}
    for declared in fields():
        table.setdefault(declared.path.count(".") + 1, []).append(declared)
    return table
