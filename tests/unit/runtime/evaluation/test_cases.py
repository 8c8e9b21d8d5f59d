"""Core cases are read whole or refused at their line."""

import json

import pytest

from runtime.evaluation import cases
from runtime.faults import StageFault

GOOD = {"id": "a", "group": "g", "instruction": "Say hello.", "input": "", "reference": "hello", "language": "en"}


def written(tmp_path, *lines):
    path = tmp_path / "core.jsonl"
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines), "utf-8")
    return path


def test_cases_keep_their_order_and_lines(tmp_path):
    found = cases.read(written(tmp_path, GOOD, "", {**GOOD, "id": "b", "reference": "你好\u2028"}), "core.jsonl")
    assert [(case.id, case.line) for case in found] == [("a", 1), ("b", 3)]
    assert found[1].reference == "你好\u2028"


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({**GOOD, "id": "b", "reference": ""}, "reference is missing"),
        ({key: value for key, value in {**GOOD, "id": "b"}.items() if key != "instruction"}, "instruction is missing"),
        ({**GOOD, "id": "b", "reference": None}, "reference is missing"),
        ({**GOOD, "id": "b", "reference": 5}, "reference is missing"),
        (GOOD, "was used in line 1"),
        ({**GOOD, "id": "b", "refrence": "x"}, "unknown keys refrence"),
        ({**GOOD, "id": "b", "input": None}, "input is not a text"),
        ("[1]", "not a JSON object"),
        ("{", "not JSON"),
        pytest.param("[" * 100_000, "not JSON", id="deep"),
        ('{"id": "b", "group": "g", "instruction": "\\ud800", "reference": "x"}', "instruction holds half a character"),
    ],
)
def test_a_bad_line_is_named(tmp_path, bad, message):
    with pytest.raises(StageFault, match=message) as caught:
        cases.read(written(tmp_path, GOOD, bad), "data/core.jsonl")
    assert caught.value.where == "data/core.jsonl:2"
    assert caught.value.fix


def test_no_file_and_no_case_are_refused(tmp_path):
    with pytest.raises(StageFault, match="does not exist"):
        cases.read(tmp_path / "none.jsonl", "none.jsonl")
    with pytest.raises(StageFault, match="no case"):
        cases.read(written(tmp_path, ""), "core.jsonl")


def test_a_case_without_a_reference_is_one_that_is_not_scored(tmp_path):
    (found,) = cases.read(written(tmp_path, {"id": "a", "group": "g", "instruction": "写诗"}), "core.jsonl")
    assert (found.instruction, found.reference) == ("写诗", "")
