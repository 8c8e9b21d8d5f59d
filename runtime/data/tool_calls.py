"""Tools that a dialogue may call, and the calls in it, as the formats of instruction rows write them."""

from collections.abc import Mapping
from typing import Any, cast

import orjson

from runtime.data.chat import Call
from runtime.faults import StageFault

JSON = dict[str, Any]
DEEPEST = 100  # levels of lists and objects: libraries write JSON down to 254 of them, and nobody means that many
ROUNDED = 2.0**64  # JSON is read into 64 bits: a whole number from here on has become a float, and would be written as another text


def tools_of(value: Any, where: str) -> tuple[Mapping[str, Any], ...]:
    """The tools of a row: a list of JSON objects or its text; each as {"type": "function", "function": ...}. Raises StageFault."""
    if not value:
        return ()
    listed = _parsed(value, "tools", where) if isinstance(value, str) and value.strip() else value
    if not isinstance(listed, list) or not all(isinstance(tool, dict) for tool in cast(list[Any], listed)):
        raise StageFault("'tools' is no list of JSON objects", where=where, fix="write the tools as a list, or leave them out")
    _check_json(listed, "tools", where)
    return tuple(tool if "function" in tool else {"type": "function", "function": tool} for tool in cast(list[JSON], listed))


def calls_of(text: str, where: str) -> tuple[Call, ...]:
    """The calls of a turn whose text is one call or a list of calls. Raises StageFault."""
    found = _parsed(text, "function_call", where)
    calls = cast(list[Any], found) if isinstance(found, list) else [found]
    if not calls:
        raise StageFault("a turn calls no tool", where=where, fix="take the turn or the row out")
    return tuple(call_of(call, where) for call in calls)


def call_of(value: Any, where: str) -> Call:
    """One call: {"name": ..., "arguments": object or its text}, alone or as "function" of an object. Raises StageFault."""
    call = cast(JSON, value).get("function", value) if isinstance(value, dict) else None
    name = cast(JSON, call).get("name") if isinstance(call, dict) else None
    if not isinstance(name, str) or not name:
        raise StageFault("a call of a tool has no name", where=where, fix='write {"name": ..., "arguments": {...}}')
    given = cast(JSON, call)
    arguments = given.get("arguments", given.get("parameters"))
    if isinstance(arguments, str):
        arguments = _parsed(arguments or "{}", "arguments", where)
    if arguments is not None and not isinstance(arguments, dict):
        raise StageFault(f"the arguments of {name} are no JSON object", where=where, fix="write them as an object")
    _check_json(arguments, f"the arguments of {name}", where)
    return Call(name, cast(JSON, arguments or {}))


def _check_json(value: Any, shown: str, where: str) -> None:
    """Raise StageFault for lists and objects in each other beyond DEEPEST, for NaN, and for whole numbers that were rounded when read."""
    level, depth = [value], 0
    while level:
        if wrong := [one for one in level if isinstance(one, float) and not abs(one) < ROUNDED]:
            why = "is none of JSON" if wrong[0] != wrong[0] else "has more than 64 bits"
            raise StageFault(f"{shown}: the number {wrong[0]} {why}", where=where, fix="write it as a text, or take the row out")
        level = [one for one in level if isinstance(one, dict | list)]
        depth += bool(level)
        if depth > DEEPEST:
            raise StageFault(f"{shown}: nested deeper than {DEEPEST} levels", where=where, fix="take the row out")
        level = [inner for one in level for inner in (cast(JSON, one).values() if isinstance(one, dict) else cast(list[Any], one))]


def _parsed(text: str, name: str, where: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise StageFault(f"'{name}' is not JSON: {error}", where=where, fix="mend it, or take the row out") from None
