"""What the first rows of a source are seen to have before anything runs."""

import json
from pathlib import Path
from typing import Any

import pytest

from compiler.instruct_sample import sample
from compiler.spec.data.instruct import InstructSource

ASKED, SAID = {"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}
PLAIN: list[dict[str, Any]] = [
    {"messages": [ASKED, {**SAID, "tool_calls": None, "function_call": None}], "functions": []},
    {"conversations": [{"from": "human", "value": "a"}, {"from": "gpt", "value": "b"}], "tools": ""},
]
WITH_TOOLS: list[dict[str, Any]] = [
    {"messages": [ASKED, SAID], "tools": [{"name": "f"}]},
    {"messages": [ASKED, SAID], "functions": [{"name": "f"}]},
    {"messages": [ASKED, {**SAID, "tool_calls": [{"name": "f"}]}, SAID]},
    {"messages": [ASKED, {**SAID, "function_call": {"name": "f"}}, SAID]},
    {"messages": [ASKED, SAID, {"role": "function", "content": "1"}, SAID]},
    {"conversations": [{"from": "human", "value": "a"}, {"from": "function_call", "value": "{}"}]},
]


@pytest.mark.parametrize("row", [*PLAIN, *WITH_TOOLS])
def test_rows_with_tools_are_told_from_others_in_every_form(tmp_path: Path, row: dict[str, Any]) -> None:
    (tmp_path / "rows.jsonl").write_text(json.dumps(row) + "\n" + json.dumps(row) + "\n", "utf-8")
    format = "messages" if "messages" in row else "sharegpt"
    found = sample(InstructSource(path="rows.jsonl", format=format, weight=1.0), tmp_path)
    assert found.calls == (2 if row in WITH_TOOLS else 0) and len(found.tokens) == 2
