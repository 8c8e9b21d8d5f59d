"""What every part of a mindformers file has in common: exact types, checked when it is made, and the way it is written."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints

Written = dict[str, Any]


class UndeclaredValue(AssertionError):
    """The lowering put a value where the mindformers file has another type: our fault, never the user's."""


@dataclass(frozen=True, kw_only=True)
class Block:
    """A mapping of the file. Its fields are the keys, in the order of the file; one that is None is not written.

    mindformers takes most values as they come: text where a number is meant, True where 1 is meant, NaN. None of them can
    be put in here. Raises UndeclaredValue when it is made with a value that is not exactly of the declared type.
    """

    def __post_init__(self) -> None:
        for name, hint in _hints(type(self)).items():
            _check(getattr(self, name), hint, f"{type(self).__name__}.{name}")


@cache
def _hints(block: type[Block]) -> Mapping[str, Any]:
    hints = get_type_hints(block)
    return {field.name: hints[field.name] for field in fields(block)}


def _check(value: Any, hint: Any, where: str) -> None:
    if not matches(value, hint):
        raise UndeclaredValue(f"{where} is {value!r}, a {type(value).__name__}; declared is {hint}")


def matches(value: Any, hint: Any) -> bool:
    """Whether a value is exactly of a declared type: no subclass, no int for a float, no bool for an int, nothing but finite.

    An int has 32 bits, with a sign or, as seeds, without one: MindSpore counts in no more.
    """
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return any(matches(value, choice) for choice in get_args(hint))
    if origin is Literal:
        return any(type(value) is type(choice) and value == choice for choice in get_args(hint))
    if origin is tuple:
        return isinstance(value, tuple) and _items_match(cast(tuple[Any, ...], value), get_args(hint))
    if hint is None:
        return value is None
    return type(value) is hint and (_is_plain(hint) or is_dataclass(hint)) and _is_held(value)


def _items_match(items: tuple[Any, ...], hints: tuple[Any, ...]) -> bool:
    if len(hints) == 2 and hints[1] is Ellipsis:
        return all(matches(item, hints[0]) for item in items)
    return len(items) == len(hints) and all(matches(item, hint) for item, hint in zip(items, hints, strict=True))


def _is_plain(hint: Any) -> bool:
    return hint in (str, bool, int, float, NoneType)


def _is_held(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return not isinstance(value, int) or -(2**31) <= value < 2**32


def written(block: Block) -> Written:
    """The block as mappings, lists and scalars; a key that is None is left out, since in the file None is not absence."""
    values = ((field.name, getattr(block, field.name)) for field in fields(block))
    return {name: _plain(value) for name, value in values if value is not None}


def _plain(value: Any) -> Any:
    if isinstance(value, Block):
        return written(value)
    return [_plain(item) for item in cast(tuple[Any, ...], value)] if isinstance(value, tuple) else value
