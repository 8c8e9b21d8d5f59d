"""Instruction rows of the known formats -> the messages of a dialogue.

alpaca     {"instruction": str, "input": str?, "output": str, "system": str?, "history": [[question, answer], ...]?, "tools": ...?}
messages   {"messages": [{"role": system | developer | user | assistant | tool, "content": str | [parts] | null,
           "tool_calls": [...]?, "weight": 0 | 1?}, ...], "tools": ...?}; a part is {"type": "text", "text": str};
           and the older form of it, with "functions" and one "function_call"
sharegpt   {"conversations": [{"from": system | human | gpt | function_call | observation | tool, "value": str}, ...],
           "system": str?, "tools": ...?}

`tools` is a list of JSON objects or such a list as text. Other programs write `weight` as `train`, `training` or `loss`.
A source can map its own names of fields and tags to these.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from runtime.contracts.format import InstructSource
from runtime.data.chat import SYSTEM, TOOL, Message, Template, prompt_messages
from runtime.data.tool_calls import call_of, calls_of, tools_of
from runtime.faults import StageFault

JSON = dict[str, Any]
Reader = Callable[[JSON, str], list[Message]]
MEDIA = ("images", "videos", "audios", "image", "video", "audio")
_MEDIA = frozenset(MEDIA)
VERBATIM = ("tools", "tool_calls", "functions", "function_call")  # their fields are those of the tools
LEVELS = 3  # a row, its turns, and their parts
ANSWER, CALL = "assistant", "function_call"
TRAINED = ("weight", "train", "training", "loss")  # of a turn: whether it is trained on
THOUGHTS = ("reasoning_content", "reasoning", "thinking")  # of an answer, apart from its text


@dataclass(frozen=True)
class Turns:
    """How a format spells a list of turns; `roles`: its tags -> roles of the template, or CALL."""

    field: str
    role: str
    content: str
    roles: Mapping[str, str]


MESSAGES = Turns(
    "messages",
    "role",
    "content",
    {SYSTEM: SYSTEM, "user": "user", ANSWER: ANSWER, "developer": SYSTEM, TOOL: TOOL, "function": TOOL},
)
SHAREGPT = Turns(
    "conversations",
    "from",
    "value",
    {SYSTEM: SYSTEM, "human": "user", "gpt": ANSWER, CALL: CALL, "observation": TOOL, TOOL: TOOL},
)
TURNS = {"messages": MESSAGES, "sharegpt": SHAREGPT}
ALPACA = "alpaca"


def reader_of(source: InstructSource, template: Template) -> Reader:
    """A function of a row and its file:line that returns the messages of the row, an answer last.

    It raises StageFault for a row that cannot be trained on: where, what was found, what was expected.
    """
    if source.format == ALPACA:
        read: Reader = _Alpaca(template)
    elif source.format in TURNS:
        turns = TURNS[source.format]
        read = _Turns(replace(turns, roles={**turns.roles, **source.roles}), source.format)
    else:
        raise StageFault(f"unknown format {source.format!r}", where="config/format.yaml", fix=f"use one of alpaca, {', '.join(TURNS)}")
    names = {theirs: ours for ours, theirs in source.fields.items()}
    return lambda row, where: _answered(read(_renamed(_only_text(row, where), names), where), where)


def _only_text(row: JSON, where: str) -> JSON:
    """The same row. Raises StageFault where it speaks of something else than text."""
    if not _MEDIA.isdisjoint(row) and (found := [name for name in MEDIA if row.get(name)]):
        raise StageFault(f"the row has {', '.join(found)}", where=where, reason="only text can be trained on", fix="take the row out")
    return row


def _renamed(value: JSON, names: Mapping[str, str], levels: int = LEVELS) -> JSON:
    """A row whose fields, and those of its turns and their parts, have the names of the format; what describes tools stays as it is."""
    if not names or not levels:
        return value
    named = {names.get(name, name): content for name, content in value.items() if name not in names.values() or name in names}
    return {name: content if name in VERBATIM else _renamed_turns(content, names, levels - 1) for name, content in named.items()}


def _renamed_turns(content: Any, names: Mapping[str, str], levels: int) -> Any:
    if not isinstance(content, list):
        return content
    return [_renamed(cast(JSON, item), names, levels) if isinstance(item, dict) else item for item in cast(list[Any], content)]


@dataclass(frozen=True)
class _Alpaca:
    """The reader of Alpaca rows."""

    template: Template

    def __call__(self, row: JSON, where: str) -> list[Message]:
        if "instruction" not in row and (other := next((name for name, turns in TURNS.items() if turns.field in row), None)):
            raise StageFault(f"no 'instruction'; the row has {_shape(row)}", where=where, fix=f"set the source's format to {other}")
        instruction = _text(row, "instruction", where)
        input, system = (_optional(row, name, where) for name in ("input", SYSTEM))
        answer = _text(row, "output", where)
        asked = prompt_messages(self.template, instruction, input)
        return [*_system(system, row, where), *_history(row, where), *asked, Message(ANSWER, answer)]


def _history(row: JSON, where: str) -> Iterator[Message]:
    for pair in _items(row.get("history"), "history", where):
        if not isinstance(pair, list) or [type(text) for text in cast(list[Any], pair)] != [str, str]:
            raise StageFault("'history' is no list of [question, answer]", where=where, fix="write pairs of texts")
        yield from map(Message, ("user", ANSWER), cast(list[str], pair))


def _items(value: Any, name: str, where: str) -> list[Any]:
    if value is None or value == "":
        return []
    if not isinstance(value, list):
        raise StageFault(f"'{name}' is {type(value).__name__}, not a list", where=where, fix=f"write '{name}' as a list, or leave it out")
    return cast(list[Any], value)


def _system(text: str, row: JSON, where: str) -> list[Message]:
    """The system turn, where there is a text or there are tools for it."""
    tools = _tools(row, where)
    return [Message(SYSTEM, text, tools=tools)] if text or tools else []


@dataclass(frozen=True)
class _Turns:
    """The reader of rows that are lists of turns."""

    turns: Turns
    format: str

    def __call__(self, row: JSON, where: str) -> list[Message]:
        messages = [self._message(item, tag, where) for item, tag in self._tagged(row, where)]
        if messages[0].role == SYSTEM:
            if _optional(row, SYSTEM, where).strip() not in ("", messages[0].content.strip()):
                raise StageFault(
                    "'system' and the first turn are two system texts", where=where, fix="keep one of them, or take the row out"
                )
            return [replace(messages[0], tools=_tools(row, where)), *messages[1:]]
        return [*_system(_optional(row, SYSTEM, where), row, where), *messages]

    def _tagged(self, row: JSON, where: str) -> list[tuple[JSON, str]]:
        """The turns with their tags, all of which are known."""
        items, expected = row.get(self.turns.field), f"expected tags: {', '.join(self.turns.roles)}"
        if not isinstance(items, list) or not items or not all(isinstance(item, dict) for item in cast(list[Any], items)):
            raise StageFault(
                f"{_no_list(row, self.turns.field)}; the row has {_shape(row)}; {expected}",
                where=where,
                reason="the source's format is " + self.format,
                fix="set the format that fits, or map the names of its fields",
            )
        if lacking := [item for item in cast(list[JSON], items) if self.turns.role not in item]:
            raise StageFault(
                f"a turn has no '{self.turns.role}', it has {', '.join(lacking[0]) or 'nothing'}; the row has {_shape(row)}; {expected}",
                where=where,
                reason="the source's format is " + self.format,
                fix=f"map the names in `fields` of the source ({{{self.turns.role}: NAME, {self.turns.content}: NAME}}), "
                "or set the format that fits",
            )
        found = [(cast(JSON, item), str(item[self.turns.role])) for item in cast(list[Any], items)]
        if unknown := [tag for tag in dict.fromkeys(tag for _, tag in found) if tag not in self.turns.roles]:
            raise StageFault(
                f"unknown tag {', '.join(unknown)}; found tags: {', '.join(tag for _, tag in found)}; {expected}",
                where=where,
                reason="the source's format is " + self.format,
                fix="map the tags in `roles` of the source, or set the format that fits",
            )
        return found

    def _message(self, item: JSON, tag: str, where: str) -> Message:
        role = self.turns.roles[tag]
        if role == CALL:
            return Message(ANSWER, "", calls=calls_of(_text(item, self.turns.content, where), where))
        calls = tuple(call_of(call, where) for call in _called(item, where))
        if calls and role != ANSWER:
            raise StageFault(f"'tool_calls' in a turn of {tag}", where=where, fix=f"only {ANSWER} calls tools")
        if thought := next((name for name in THOUGHTS if isinstance(item.get(name), str) and item[name].strip()), None):
            raise StageFault(
                f"a turn of {tag} has '{thought}', which no template writes",
                where=where,
                reason="the model would learn to answer without the thought",
                fix=f"put it into the text of the turn (<think>...</think>), or take '{thought}' out",
            )
        content = "" if calls and item.get(self.turns.content) is None else _content(item, self.turns.content, where)
        return Message(role, content, calls=calls, context=_is_context(item, where))


def _called(item: JSON, where: str) -> list[Any]:
    """The calls of a turn, in the form of today or the older one."""
    called, older = _items(item.get("tool_calls"), "tool_calls", where), item.get(CALL)
    if called and older:
        raise StageFault(f"a turn has 'tool_calls' and '{CALL}'", where=where, fix="keep one of them")
    return [older] if older else called


def _tools(row: JSON, where: str) -> tuple[Mapping[str, Any], ...]:
    """What a row lets its answers call."""
    if row.get("tools") and row.get("functions"):
        raise StageFault("the row has 'tools' and 'functions'", where=where, fix="keep one of them")
    return tools_of(row.get("tools") or row.get("functions"), where)


def _is_context(item: JSON, where: str) -> bool:
    """Whether a turn has the weight 0: it is read, and not trained on. Raises StageFault for a weight between none and one."""
    weights = {name: item[name] for name in TRAINED if item.get(name) is not None}
    for name, weight in weights.items():
        if not isinstance(weight, int | float) or weight not in (0, 1):
            raise StageFault(f"'{name}' is {weight!r}", where=where, reason="a turn is trained on or not", fix="write 0 or 1")
    if len({*weights.values()}) > 1:
        raise StageFault(f"a turn is trained on, and is not: {weights}", where=where, fix="keep one of them")
    return 0 in weights.values()


def _content(item: JSON, name: str, where: str) -> str:
    """A text, or the texts of a list of parts; parts of another kind are refused."""
    parts = item.get(name)
    if not isinstance(parts, list):
        return _text(item, name, where)
    texts = list[str]()
    for part in cast(list[Any], parts):
        kind = cast(JSON, part).get("type") if isinstance(part, dict) else type(part).__name__
        if kind != "text":
            raise StageFault(f"'{name}' has a part of type {kind}", where=where, fix="only text can be trained on; take the row out")
        if not isinstance(part.get("text"), str):
            raise StageFault(
                f"a part of '{name}' has no 'text'; it has {', '.join(part)}", where=where, fix="map it in `fields`: {text: NAME}"
            )
        texts.append(part["text"])
    return "".join(texts)


def _no_list(row: JSON, name: str) -> str:
    """Why a field is no list of turns."""
    value = row.get(name)
    if value is None:
        return f"no list '{name}'"
    if not isinstance(value, list):
        return f"'{name}' is {_kind(value)}, not a list of turns"
    return (
        f"'{name}' is an empty list"
        if not value
        else f"'{name}' holds {_kind(next(item for item in value if not isinstance(item, dict)))}, not turns alone"
    )


def _kind(value: Any) -> str:
    return {"str": "a text", "dict": "an object", "list": "a list", "NoneType": "null", "bool": "true or false"}.get(
        type(value).__name__, "a number"
    )


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


def _optional(row: JSON, name: str, where: str) -> str:
    return _text(row, name, where) if row.get(name) is not None else ""


def _text(row: JSON, name: str, where: str) -> str:
    if name not in row or row[name] is None:
        raise StageFault(
            f"no '{name}'; the row has {_shape(row)}",
            where=where,
            reason="a training row needs it",
            fix=f"add '{name}', map it in `fields` of the source, or take the row out",
        )
    if not isinstance(row[name], str):
        raise StageFault(f"'{name}' is {type(row[name]).__name__}, not text", where=where, fix=f"write '{name}' as a string")
    return row[name]


def _answered(messages: list[Message], where: str) -> list[Message]:
    if messages[-1].role != ANSWER:
        raise StageFault(
            f"the last turn is {messages[-1].role}; tags: {', '.join(message.role for message in messages)}",
            where=where,
            reason="a training row ends with an answer",
            fix="add the answer, or take the row out",
        )
    return messages
