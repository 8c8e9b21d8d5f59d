"""Rows of three formats become the same dialogues, and a row that is none of them is refused at its line."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from runtime.contracts.format import InstructSource
from runtime.data import row_files
from runtime.data.chat import Call, Message, Template
from runtime.data.instructions import reader_of
from runtime.faults import StageFault

DIALOGUE = (Message("system", "S"), Message("user", "Q\nX"), Message("assistant", "A"))
ROWS: dict[str, dict[str, Any]] = {
    "alpaca": {"instruction": "Q", "input": "X", "output": "A", "system": "S", "topic": "ignored"},
    "messages": {"messages": [{"role": role, "content": text} for role, text in (("system", "S"), ("user", "Q\nX"), ("assistant", "A"))]},
    "sharegpt": {"conversations": [{"from": tag, "value": text} for tag, text in (("system", "S"), ("human", "Q\nX"), ("gpt", "A"))]},
}


Found = tuple[tuple[Message, ...], str]


def read(root: Path, template: Template, format: str, path: str = "rows.jsonl", **mapped: Any) -> list[Found]:
    """Messages and place of all rows."""
    reader = reader_of(InstructSource(path=path, format=format, weight=1.0, **mapped), template)
    found: list[Found] = []
    for shown, file in row_files.files_of(root, path):
        for raw in (raw for piece in row_files.ranges_of(shown, file) for raw in row_files.rows_of(piece)):
            if raw.fault:
                raise raw.fault
            found.append((tuple(reader(raw.row, raw.where)), raw.where))
    return found


def write(root: Path, *rows: Any, name: str = "rows.jsonl") -> None:
    file = root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows), "utf-8")


@pytest.mark.parametrize("format", ROWS)
def test_all_formats_give_the_same_dialogue(tmp_path: Path, template: Template, format: str) -> None:
    write(tmp_path, "", ROWS[format])
    assert read(tmp_path, template, format) == [(DIALOGUE, "rows.jsonl:2")]


def test_a_folder_is_read_in_the_order_of_its_file_names(tmp_path: Path, template: Template) -> None:
    for name in ("rows/b.jsonl", "rows/a.jsonl", "rows/sub/c.jsonl", "rows/LICENSE"):
        write(tmp_path, {"instruction": name, "output": "x"}, name=name)
    found = read(tmp_path, template, "alpaca", "rows")
    assert [where for _, where in found] == ["rows/a.jsonl:1", "rows/b.jsonl:1", "rows/sub/c.jsonl:1"]


GOOD = {"instruction": "Q", "output": "A"}


@pytest.mark.parametrize(
    ("format", "row", "message"),
    [
        ("alpaca", {"instruction": "Q"}, "no 'output'; the row has fields 'instruction'"),
        ("alpaca", {"instruction": "Q", "output": None}, "no 'output'"),
        ("alpaca", {"output": "A"}, "no 'instruction'"),
        ("alpaca", {"instruction": "Q", "output": 3}, "'output' is int, not text"),
        ("alpaca", {"instruction": "Q", "input": ["a"], "output": "A"}, "'input' is list, not text"),
        ("alpaca", ROWS["sharegpt"], "no 'instruction'; the row has fields 'conversations' with tags gpt, human, system"),
        ("alpaca", "{broken", "not a JSON object"),
        ("alpaca", "[1]", "a list, not a JSON object"),
        (
            "messages",
            {"conversations": [{"from": "human", "value": "a"}, {"from": "gpt", "value": "b"}]},
            "no list 'messages'; the row has fields 'conversations' with tags gpt, human; expected tags: system, user, assistant",
        ),
        (
            "messages",
            {"messages": [{"role": "human", "content": "a"}]},
            "unknown tag human; found tags: human; expected tags: system, user",
        ),
        (
            "sharegpt",
            {"conversations": [{"from": "user", "value": "a"}]},
            "unknown tag user; found tags: user; expected tags: system, human, gpt",
        ),
        (
            "sharegpt",
            {"conversations": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]},
            "a turn has no 'from', it has role, content; the row has fields 'conversations' with tags assistant, user; expected tags:",
        ),
        ("messages", {"messages": [{"role": "user", "content": "a"}, {}]}, "a turn has no 'role', it has nothing"),
        (
            "sharegpt",
            {"system": "S", "conversations": [{"from": tag, "value": tag} for tag in ("system", "human", "gpt")]},
            "'system' and the first turn are two system texts",
        ),
        ("sharegpt", {"conversations": [{"from": "human", "value": "a"}]}, "the last turn is user"),
        ("sharegpt", {"conversations": [{"from": "human"}]}, "no 'value'"),
        ("sharegpt", {"conversations": []}, "'conversations' is an empty list; the row has"),
        ("messages", {"messages": "a\nb"}, "'messages' is a text, not a list of turns; the row has"),
        ("messages", {"messages": [{"role": "user", "content": "a"}, 3]}, "'messages' holds a number, not turns alone; the row has"),
    ],
)
def test_a_row_that_cannot_be_trained_on_is_refused_at_its_line(
    tmp_path: Path, template: Template, format: str, row: Any, message: str
) -> None:
    good = {"alpaca": GOOD}.get(format, ROWS[format])
    write(tmp_path, good, row)
    with pytest.raises(StageFault) as caught:
        read(tmp_path, template, format)
    assert message in caught.value.message
    assert caught.value.where == "rows.jsonl:2"


@pytest.mark.parametrize("path", ["missing.jsonl", "empty"])
def test_a_source_without_a_file_is_refused(tmp_path: Path, template: Template, path: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(StageFault, match=path):
        read(tmp_path, template, "alpaca", path)


def test_bytes_that_are_not_utf8_are_refused_at_their_line(tmp_path: Path, template: Template) -> None:
    (tmp_path / "rows.jsonl").write_bytes(b'\xef\xbb\xbf{"instruction": "Q", "output": "A"}\n{"instruction": "\xff", "output": "A"}\n')
    with pytest.raises(StageFault) as caught:
        read(tmp_path, template, "alpaca")
    assert caught.value.where == "rows.jsonl:2"


def test_a_file_name_that_is_not_utf_8_is_refused_and_a_folder_named_like_a_file_is_passed_over(tmp_path: Path, template: Template) -> None:
    write(tmp_path, {"instruction": "a", "output": "x"}, name="rows/b.jsonl/c.jsonl")
    assert len(read(tmp_path, template, "alpaca", "rows")) == 1
    write(tmp_path, {"instruction": "a", "output": "x"}, name=os.fsdecode(b"rows/\xff.jsonl"))
    with pytest.raises(StageFault, match="is not UTF-8"):
        read(tmp_path, template, "alpaca", "rows")


WEATHER = {"name": "weather", "parameters": {"type": "object"}}
WRAPPED = {"type": "function", "function": WEATHER}
CALLED = (
    Message("system", "", tools=(WRAPPED,)),
    Message("user", "Q"),
    Message("assistant", "", calls=(Call("weather", {"city": "a"}),)),
    Message("tool", "rain"),
    Message("assistant", "A"),
)


def test_tools_of_both_formats_give_the_same_dialogue(tmp_path: Path, template: Template) -> None:
    call = {"name": "weather", "arguments": {"city": "a"}}
    tags = ("human", "function_call", "observation", "gpt")
    turns = [{"from": tag, "value": text} for tag, text in zip(tags, ("Q", json.dumps(call), "rain", "A"), strict=True)]
    function = {**call, "arguments": '{"city": "a"}'}
    calling = {"role": "assistant", "content": None, "tool_calls": [{"type": "function", "function": function}]}
    spoken = [{"role": "user", "content": "Q"}, calling, {"role": "tool", "content": "rain"}, {"role": "assistant", "content": "A"}]
    write(tmp_path, {"conversations": turns, "tools": json.dumps([WEATHER])}, name="a.jsonl")
    write(tmp_path, {"messages": spoken, "tools": [WRAPPED]}, name="b.jsonl")
    assert [messages for messages, _ in read(tmp_path, template, "sharegpt", "a.jsonl")] == [CALLED]
    assert [messages for messages, _ in read(tmp_path, template, "messages", "b.jsonl")] == [CALLED]


def test_the_older_form_of_functions_gives_the_same_dialogue(tmp_path: Path, template: Template) -> None:
    call = {"name": "weather", "arguments": '{"city": "a"}'}
    for name, content in (("a.jsonl", ""), ("b.jsonl", None)):
        calling = {"role": "assistant", "content": content, "function_call": call, "tool_calls": None}
        result = {"role": "function", "name": "weather", "content": "rain", "function_call": None}
        spoken = [{"role": "user", "content": "Q"}, calling, result, {"role": "assistant", "content": "A", "reasoning_content": None}]
        write(tmp_path, {"messages": spoken, "functions": [WEATHER]}, name=name)
        assert [messages for messages, _ in read(tmp_path, template, "messages", name)] == [CALLED]


def test_history_comes_before_the_question_and_system_before_all(tmp_path: Path, template: Template) -> None:
    write(tmp_path, {"instruction": "Q", "output": "A", "system": "S", "history": [["q1", "a1"], ["q2", "a2"]]})
    ((messages, _),) = read(tmp_path, template, "alpaca")
    assert [message.content for message in messages] == ["S", "q1", "a1", "q2", "a2", "Q", "A"]


def test_a_system_text_that_is_given_twice_is_one(tmp_path: Path, template: Template) -> None:
    turns = [{"from": tag, "value": tag} for tag in ("system", "human", "gpt")]
    write(tmp_path, *({"system": text, "conversations": turns} for text in ("system ", "", None)))
    assert [[message.content for message in found] for found, _ in read(tmp_path, template, "sharegpt")] == [["system", "human", "gpt"]] * 3


def test_a_list_of_text_parts_is_one_text_and_a_developer_is_a_system(tmp_path: Path, template: Template) -> None:
    parts = [{"type": "text", "text": "Q\n"}, {"type": "text", "text": "X"}]
    said = [("developer", "S"), ("user", parts), ("assistant", "A")]
    write(tmp_path, {"messages": [{"role": role, "content": content} for role, content in said]})
    assert read(tmp_path, template, "messages") == [(DIALOGUE, "rows.jsonl:1")]


def test_a_turn_of_weight_zero_is_context(tmp_path: Path, template: Template) -> None:
    said = [("user", "Q", None), ("assistant", "no", 0), ("user", "Q2", 0), ("assistant", "A", 1)]
    write(tmp_path, {"messages": [{"role": role, "content": content, "weight": weight} for role, content, weight in said]})
    ((messages, _),) = read(tmp_path, template, "messages")
    assert [message.context for message in messages] == [False, True, True, False]


@pytest.mark.parametrize("name", ["train", "training", "loss"])
def test_a_turn_that_other_programs_do_not_train_is_context(tmp_path: Path, template: Template, name: str) -> None:
    said = [("user", "Q", None), ("assistant", "no", False), ("user", "Q2", True), ("assistant", "A", True)]
    write(tmp_path, {"messages": [{"role": role, "content": content, name: trained} for role, content, trained in said]})
    ((messages, _),) = read(tmp_path, template, "messages")
    assert [message.context for message in messages] == [False, True, False, False]


def test_names_of_fields_and_tags_can_be_mapped(tmp_path: Path, template: Template) -> None:
    write(tmp_path, {"question": "Q", "context": "X", "answer": "A", "prompt": "S", "output": "not this"}, name="a.jsonl")
    fields = {"instruction": "question", "input": "context", "output": "answer", "system": "prompt"}
    assert read(tmp_path, template, "alpaca", "a.jsonl", fields=fields) == [(DIALOGUE, "a.jsonl:1")]
    turns = [{"speaker": tag, "text": text} for tag, text in (("系统", "S"), ("用户", "Q\nX"), ("助手", "A"))]
    write(tmp_path, {"dialog": turns}, name="b.jsonl")
    fields = {"conversations": "dialog", "from": "speaker", "value": "text"}
    roles = {"系统": "system", "用户": "user", "助手": "assistant"}
    assert read(tmp_path, template, "sharegpt", "b.jsonl", fields=fields, roles=roles) == [(DIALOGUE, "b.jsonl:1")]


def test_mapped_names_leave_tools_and_their_calls_as_they_are(tmp_path: Path, template: Template) -> None:
    tool = {"name": "f", "description": "text of the tool", "parameters": {}}
    answer = {"name": "assistant", "description": None, "tool_calls": [{"name": "f", "arguments": {}}]}
    write(tmp_path, {"messages": [{"name": "user", "description": "Q"}, answer], "tools": [tool]})
    ((messages, _),) = read(tmp_path, template, "messages", fields={"role": "name", "content": "description"})
    assert messages[0].tools == ({"type": "function", "function": tool},) and messages[-1].calls[0].name == "f"


def nested(levels: int) -> Any:
    made: Any = 1
    for level in range(levels):
        made = {"a": made} if level % 2 else [made]
    return made


HUMAN = {"from": "human", "value": "a"}
ASKED, SAID = {"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}
WRONG: list[tuple[str, Any, str]] = [
    ("sharegpt", {"conversations": [HUMAN, {"from": "function_call", "value": "{"}]}, "'function_call' is not JSON"),
    ("sharegpt", {"conversations": [HUMAN, {"from": "function_call", "value": "[]"}]}, "calls no tool"),
    ("sharegpt", {"conversations": [HUMAN, {"from": "function_call", "value": "{}"}]}, "has no name"),
    ("sharegpt", {"conversations": [HUMAN, {"from": "gpt", "value": "b"}], "tools": "[1]"}, "'tools' is no list"),
    ("messages", {"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, "a part of type image_url"),
    ("messages", {"messages": [{"role": "user", "content": [{"type": "text", "value": "a"}]}]}, "has no 'text'; it has type, value"),
    ("messages", {"messages": [{"role": "user", "content": None}]}, "no 'content'"),
    ("messages", {"messages": [{"role": "user", "content": "a", "tool_calls": [{"name": "f"}]}]}, "'tool_calls' in a turn of user"),
    ("messages", {"messages": [{"role": "user", "content": "a", "weight": 0.5}]}, "'weight' is 0.5"),
    ("messages", {"messages": [{"role": "user", "content": "a", "train": "no"}]}, "'train' is 'no'"),
    ("messages", {"messages": [{"role": "user", "content": "a", "weight": 1, "loss": False}]}, "a turn is trained on, and is not"),
    ("messages", {"messages": [ASKED, {**SAID, "reasoning_content": "since"}]}, "'reasoning_content', which no template writes"),
    ("sharegpt", {"conversations": [HUMAN, {"from": "gpt", "value": "b", "thinking": "since"}]}, "'thinking', which no template writes"),
    (
        "messages",
        {"messages": [ASKED, {**SAID, "function_call": {"name": "f"}, "tool_calls": [{"name": "f"}]}]},
        "'tool_calls' and 'function_call'",
    ),
    ("messages", {"messages": [ASKED, SAID], "tools": [{"name": "f"}], "functions": [{"name": "f"}]}, "'tools' and 'functions'"),
    ("alpaca", {**GOOD, "tools": [{"name": "f", "parameters": nested(300)}]}, "tools: nested deeper than 100 levels"),
    ("alpaca", {**GOOD, "tools": json.dumps([{"name": "f", "parameters": nested(300)}])}, "tools: nested deeper than 100 levels"),
    (
        "sharegpt",
        {"conversations": [HUMAN, {"from": "function_call", "value": json.dumps({"name": "f", "arguments": {"a": nested(300)}})}]},
        "the arguments of f: nested deeper than 100 levels",
    ),
    ("alpaca", {**GOOD, "tools": [{"name": "f", "enum": [123456789012345678901234567890]}]}, "has more than 64 bits"),
    ("alpaca", {**GOOD, "tools": [{"name": "f", "minimum": float("nan")}]}, "the number nan is none of JSON"),
    ("alpaca", {**GOOD, "tools": [{"name": "f", "maximum": float("inf")}]}, "the number inf has more than 64 bits"),
    ("alpaca", {**GOOD, "history": [["a"]]}, "'history' is no list of [question, answer]"),
    ("alpaca", {**GOOD, "history": "a"}, "'history' is str, not a list"),
    ("alpaca", {**GOOD, "images": ["a.png"]}, "the row has images"),
]


@pytest.mark.parametrize(("format", "row", "message"), WRONG)
def test_tools_parts_and_history_that_are_wrong_are_refused(
    tmp_path: Path, template: Template, format: str, row: Any, message: str
) -> None:
    write(tmp_path, row)
    with pytest.raises(StageFault) as caught:
        read(tmp_path, template, format)
    assert message in caught.value.message and caught.value.where == "rows.jsonl:1"


def test_a_tool_as_deep_as_is_allowed_is_read(tmp_path: Path, template: Template) -> None:
    write(tmp_path, {**GOOD, "tools": [nested(98)]}, {**GOOD, "tools": [{"a": nested(98)}]})
    assert len(read(tmp_path, template, "alpaca")) == 2
    write(tmp_path, {**GOOD, "tools": [{"a": nested(99)}]})
    with pytest.raises(StageFault, match="nested deeper"):
        read(tmp_path, template, "alpaca")


def test_an_unknown_format_is_refused(tmp_path: Path, template: Template) -> None:
    with pytest.raises(StageFault, match="unknown format 'chat'"):
        read(tmp_path, template, "chat")
