"""`NAME: null` takes an inherited entry out of a map whose names the user chooses, such as a source or the limits of a language."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from compiler.source import Path, SourceTree
from compiler.spec import is_map


def expand(tree: SourceTree) -> SourceTree:
    """The tree without entries that are null; where none is, the tree itself."""
    values = _without(tree.values, ())
    return tree if values is tree.values else replace(tree, values=values)


def _without(value: Any, path: Path) -> Any:
    if not isinstance(value, Mapping):
        return value
    given = cast(Mapping[str, Any], value)
    named = is_map(path) and None in given.values()
    kept = {key: _without(item, (*path, key)) for key, item in given.items() if not (named and item is None)}
    same = len(kept) == len(given) and all(kept[key] is given[key] for key in kept)
    return given if same else kept
