"""Compiled YAML and JSON mean the same to YAML 1.1 and YAML 1.2 readers."""

import json
from itertools import product
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from compiler.emit.yaml_text import dumped, float_text, to_json, to_yaml

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
TREES = st.dictionaries(
    st.text(min_size=1), st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(min_size=1), inner), max_leaves=8)
)
AMBIGUOUS = [
    "1e-3",
    "1e5",
    "0123",
    "0o17",
    "0x1F",
    "12:30:45",
    "on",
    "off",
    "no",
    "yes",
    "~",
    "null",
    "2024-01-01",
    ".inf",
    "-.nan",
    "tRUE",
    "True",
    "=",
    "<<",
    "",
]


def read_1_2(text: bytes) -> Any:
    return YAML(typ="safe", pure=True).load(text.decode())


@pytest.mark.parametrize("value", [1e-6, 1e-8, 2e-5, 1e16, 1e22, 5e-324, 1.0, 0.1, -1e-7, 123456789.125])
def test_small_and_large_floats_stay_floats_for_both_readers(value: float) -> None:
    text = to_yaml({"lr": value})
    for read in (yaml.safe_load, read_1_2):
        assert type(read(text)["lr"]) is float
        assert read(text)["lr"] == value


def test_no_short_text_of_the_characters_of_numbers_is_taken_for_a_number() -> None:
    texts = ["".join(signs) for length in (1, 2, 3) for signs in product("+-._0e", repeat=length)]
    content = {f"key{index}": text for index, text in enumerate([*texts, "-.5e3", "+.5e+3", "._1e+5", "-.inf", "+.NaN"])}
    for read in (yaml.safe_load, read_1_2):
        assert read(to_yaml(content)) == content


def test_a_small_float_is_written_with_a_dot() -> None:
    assert to_yaml({"eps": 1e-6}) == b"eps: 1.0e-06\n"


@pytest.mark.parametrize("value", AMBIGUOUS)
def test_text_that_looks_like_something_else_stays_text_for_both_readers(value: str) -> None:
    text = to_yaml({"key": value})
    assert yaml.safe_load(text) == {"key": value}
    assert read_1_2(text) == {"key": value}


@given(TREES)
def test_any_tree_reads_back_as_itself(tree: dict[str, Any]) -> None:
    assert yaml.safe_load(to_yaml(tree)) == tree


@given(TREES)
@example({"a": [], "b": {}, "c": [[], {}, [[1]], [{"x": [1, {"y": 2}]}]], "": "", "yes": "no", "a b": "a: b", "x" * 200: "- x", "#": " "})
@example({"words": ["../../data/raw", ".", "..", "./", "a" * 300, "a-b", "_", "N", "Null", "- a", "a\n b", "\u2028", "键: 值", "\ufeff"]})
def test_the_text_is_that_of_pyyaml(tree: dict[str, Any]) -> None:
    assert to_yaml(tree).decode() == dumped(tree)


@given(TREES)
def test_json_is_strict_and_reads_back_as_itself(tree: dict[str, Any]) -> None:
    assert json.loads(to_json(tree)) == tree


def test_json_numbers_are_numbers_for_a_yaml_reader_too() -> None:
    assert yaml.safe_load(to_json({"a": {"lr": 1e-05}, "b": [1e-7]})) == {"a": {"lr": 1e-05}, "b": [1e-7]}


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_what_is_not_finite_cannot_be_written(value: float) -> None:
    with pytest.raises(ValueError, match="cannot be written"):
        float_text(value)


def test_chinese_text_is_written_as_itself_on_one_line() -> None:
    text = to_yaml({"path": "语料/新闻 " + "长" * 200})
    assert text.decode().count("\n") == 1
    assert "语料/新闻" in text.decode()
