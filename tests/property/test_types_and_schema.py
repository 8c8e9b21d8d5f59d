"""The types take nothing that the JSON Schema refuses, so a tree that they take needs no look at the schema."""

import copy
from typing import Any

import pydantic
import pytest
from jsonschema import Draft202012Validator

from compiler.parse import load
from compiler.schema import spec_schema
from compiler.source import Path, Place, SourceTree, leaves
from compiler.spec import Spec
from compiler.validate import structure
from tests.property.mutation import ROOT

ODD: list[Any] = [
    None, True, False, 0, 1, -1, 2**31, 2**64, 0.0, 1.0, 1.5, -0.5, 1e3, float("inf"), float("nan"), "", "x", "1", "8MB", "0.5B", "a\n",
    " ", "auto", "none", [], [1], ["x"], [[]], [None], {}, {"x": 1}, {"": {}}, "float32", "llama", "en", "zh-Hans", "中文",
]  # fmt: skip


@pytest.fixture(scope="module")
def values() -> dict[str, Any]:
    """The demo as it was composed, with defaults written out."""
    return Spec.model_validate(load(ROOT, "demo").values).model_dump()


def put(values: dict[str, Any], path: Path, value: Any) -> dict[str, Any]:
    changed = copy.deepcopy(values)
    node: Any = changed
    for part in path[:-1]:
        node = node[part]
    node[path[-1]] = value
    return changed


def taken(values: dict[str, Any]) -> bool:
    try:
        Spec.model_validate(values)
    except pydantic.ValidationError:
        return False
    return True


def refused_for_other_reasons(values: dict[str, Any]) -> bool:
    """Numbers that are not finite, and line ends: what a schema cannot tell is looked at in any case."""
    return bool(list(structure.faults(SourceTree(str(ROOT), values, {(): Place("values", 1, 1, "")}, {}, {}))))


@pytest.mark.parametrize("odd", ODD, ids=repr)
def test_what_the_types_take_the_schema_allows(odd: Any, values: dict[str, Any]) -> None:
    validator = Draft202012Validator(spec_schema())
    scalars = [path for path, _ in leaves(values)]
    for path in dict.fromkeys([*scalars, *(one[:end] for one in scalars for end in range(1, len(one)))]):
        changed = put(values, path, odd)
        if taken(changed) and not refused_for_other_reasons(changed):
            assert not list(validator.iter_errors(changed)), path


def test_keys_that_nobody_knows_are_refused_by_both(values: dict[str, Any]) -> None:
    validator = Draft202012Validator(spec_schema())
    sections = dict.fromkeys(path[:end] for path, _ in leaves(values) for end in range(len(path)))
    for path in sections:
        node: Any = values
        for part in path:
            node = node[part]
        changed = put(values, (*path, "unknown"), 1) if isinstance(node, dict) else values
        assert taken(changed) <= (not list(validator.iter_errors(changed))), path
