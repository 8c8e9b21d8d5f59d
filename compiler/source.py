"""A composed spec that still knows where each value was written."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

Path = tuple[str | int, ...]


@dataclass(frozen=True, order=True)
class Place:
    """A position in what a person wrote.

    `file` is relative to the project root, or `<override N>` for the Nth override of the command line;
    `line` and `column` count from 1, in characters; `text` is that line, in which `secrets` are masked.
    """

    file: str
    line: int
    column: int
    text: str = field(compare=False)
    secrets: tuple[str, ...] = field(default=(), compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True)
class SourceTree:
    """Plain nested values with references resolved.

    `places` holds the place of each value and `keys` that of each key, by path. `written` holds the exact text of a
    scalar where it was unquoted, since a loader may already have made a number of it. `overruled` holds the places of overrides
    that a small twin cannot have.
    """

    root: str
    values: Mapping[str, Any]
    places: Mapping[Path, Place]
    keys: Mapping[Path, Place]
    written: Mapping[Path, str]
    overruled: Mapping[Path, Place] = field(default_factory=dict[Path, Place])

    def place(self, path: Path) -> Place:
        """Where the value at `path` was written; for one that was not, the nearest mapping around it."""
        return _nearest(self.places, path)

    def key_place(self, path: Path) -> Place:
        """Where the key of `path` was written, with the same fall-back."""
        return self.keys[path] if path in self.keys else self.place(path)


def _nearest(places: Mapping[Path, Place], path: Path) -> Place:
    while path not in places:
        path = path[:-1]
    return places[path]


def children(value: object) -> list[tuple[Any, Any]]:
    """(key or index, value) of what a plain mapping or list holds; nothing for a scalar."""
    if isinstance(value, Mapping):
        return list(cast(Mapping[Any, Any], value).items())
    return list(enumerate(cast(list[Any], value))) if isinstance(value, list) else []


def leaves(value: object, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """All scalars of nested plain values, with empty mappings and lists left out."""
    below = children(value)
    for key, item in below:
        yield from leaves(item, (*path, key))
    if not below and value not in ({}, []):
        yield path, value


def dotted(path: Path) -> str:
    """`data.pretrain.filter.languages[1]`: the way people write a path."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return text.removeprefix(".")
