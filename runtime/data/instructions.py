"""Instruction rows of the known formats -> dialogues, each with the place it was read from.

alpaca     {"instruction": str, "input": str?, "output": str, "system": str?}
messages   {"messages": [{"role": system | user | assistant, "content": str}, ...]}
sharegpt   {"conversations": [{"from": system | human | gpt, "value": str}, ...]}
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from runtime.data.chat import Message, Template, prompt_messages
from runtime.data.provenance import printable
from runtime.faults import StageFault

JSON = dict[str, Any]


@dataclass(frozen=True)
class Dialogue:
    """One row. messages: the last one is the answer that is trained; where: file:line."""

    source: str
    messages: tuple[Message, ...]
    where: str


@dataclass(frozen=True)
class Turns:
    """How a format spells a list of turns; `roles`: its tags -> roles of the template."""

    field: str
    role: str
    content: str
    roles: dict[str, str]


MESSAGES = Turns("messages", "role", "content", {"system": "system", "user": "user", "assistant": "assistant"})
SHAREGPT = Turns("conversations", "from", "value", {"system": "system", "human": "user", "gpt": "assistant"})
TURNS = {"messages": MESSAGES, "sharegpt": SHAREGPT}


def read(root: Path, path: str, format: str, source: str, template: Template) -> Iterator[Dialogue]:
    """All dialogues of a file or folder (relative to `root`), in the order of file names and lines.

    Raises StageFault at the first row that cannot be trained on: file:line, what was found, what was expected.
    """
    reader = _reader(format, template)
    for name, file in files_of(root, path):
        for where, row in _rows(name, file):
            yield Dialogue(source, tuple(_answered(reader(row, where), where)), where)


def _reader(format: str, template: Template) -> Callable[[JSON, str], list[Message]]:
    if format == "alpaca":
        return lambda row, where: _alpaca(row, where, template)
    if format not in TURNS:
        raise StageFault(f"unknown format {format!r}", where="config/format.yaml", fix=f"use one of alpaca, {', '.join(TURNS)}")
    return lambda row, where: _turns(row, where, format)


def files_of(root: Path, path: str) -> list[tuple[str, Path]]:
    """Names relative to the project root, and where they lie."""
    place = root / path
    inside = (file for file in place.rglob("*.jsonl") if file.is_file())
    files = sorted(inside, key=lambda file: file.relative_to(place).as_posix()) if place.is_dir() else [place]
    if not files or not files[0].is_file():
        raise StageFault(
            f"{path} is neither a file nor a folder with *.jsonl",
            where="config/format.yaml",
            fix="mend data.instruct.sources.*.path (relative to the project root)",
        )
    return [(printable(file.relative_to(root).as_posix(), path), file) for file in files]


def _rows(name: str, file: Path) -> Iterator[tuple[str, JSON]]:
    with file.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip(b" \t\r\n\xef\xbb\xbf"):
                continue
            where = f"{name}:{number}"
            try:
                row = orjson.loads(line.removeprefix(b"\xef\xbb\xbf"))
            except orjson.JSONDecodeError as error:
                raise StageFault(f"not a JSON object: {error}", where=where, fix="one JSON object a line, in UTF-8") from None
            if not isinstance(row, dict):
                raise StageFault(f"a {type(row).__name__}, not a JSON object", where=where, fix="one JSON object a line")
            yield where, row


def _alpaca(row: JSON, where: str, template: Template) -> list[Message]:
    if other := next((name for name, turns in TURNS.items() if turns.field in row), None):
        raise StageFault(f"no 'instruction'; the row has {_shape(row)}", where=where, fix=f"set the source's format to {other}")
    instruction = _text(row, "instruction", where)
    input, system = (_text(row, name, where) if row.get(name) is not None else "" for name in ("input", "system"))
    answer = _text(row, "output", where)
    return [*prompt_messages(template, instruction, input, system), Message("assistant", answer)]


def _turns(row: JSON, where: str, format: str) -> list[Message]:
    turns = TURNS[format]
    items = row.get(turns.field)
    expected = f"expected tags: {', '.join(turns.roles)}"
    if not isinstance(items, list) or not items or not all(isinstance(item, dict) for item in items):
        raise StageFault(
            f"no list '{turns.field}'; the row has {_shape(row)}; {expected}",
            where=where,
            reason="the source's format is " + format,
            fix="set the format that fits",
        )
    found = [str(item.get(turns.role)) for item in items]
    if unknown := [tag for tag in dict.fromkeys(found) if tag not in turns.roles]:
        raise StageFault(
            f"unknown tag {', '.join(unknown)}; found tags: {', '.join(found)}; {expected}",
            where=where,
            reason="the source's format is " + format,
            fix="rename the tags, or set the format that fits",
        )
    return [Message(turns.roles[tag], _text(item, turns.content, where)) for tag, item in zip(found, items, strict=True)]


def _shape(row: JSON) -> str:
    """The fields of a row, and the tags in its list of turns."""
    lists = [(turns, row[turns.field]) for turns in TURNS.values() if isinstance(row.get(turns.field), list)]
    tags = {
        str(item[key])
        for turns, items in lists
        for item in items
        if isinstance(item, dict)
        for key in (turns.role, "from", "role")
        if key in item
    }
    fields = f"fields {', '.join(map(repr, row))}" if row else "no field"
    return f"{fields} with tags {', '.join(sorted(tags))}" if tags else fields


def _text(row: JSON, name: str, where: str) -> str:
    if name not in row or row[name] is None:
        raise StageFault(
            f"no '{name}'; the row has {_shape(row)}",
            where=where,
            reason="a training row needs it",
            fix=f"add '{name}', or take the row out",
        )
    if not isinstance(row[name], str):
        raise StageFault(f"'{name}' is {type(row[name]).__name__}, not text", where=where, fix=f"write '{name}' as a string")
    return row[name]


def _answered(messages: list[Message], where: str) -> list[Message]:
    if messages[-1].role != "assistant":
        raise StageFault(
            f"the last turn is {messages[-1].role}; tags: {', '.join(message.role for message in messages)}",
            where=where,
            reason="a training row ends with an answer",
            fix="add the answer, or take the row out",
        )
    return messages
