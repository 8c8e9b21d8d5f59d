"""Answers of a model -> rows. Whatever stands around the JSON, and whatever the JSON is, ends in rows or in a reason."""

import json
import re
from collections.abc import Iterator
from typing import Any

from runtime.data.synthetic.seeds import Row

NOT_JSON, WRONG_SHAPE, EMPTY = "not_json", "wrong_shape", "empty"
OPENINGS = 200  # places at which JSON is looked for in one answer
_THOUGHT = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
_OPENING = re.compile(r"[{\[]")
_DECODER = json.JSONDecoder(strict=False)  # models break lines inside strings


def parsed(kind: str, content: str) -> tuple[list[Row], list[str]]:
    """The rows of an answer, and the reasons for which others are none; what a model thought aloud is left out."""
    said = _THOUGHT.sub("", content)
    if kind == "text":
        return ([{"text": said.strip()}], []) if said.strip() else ([], [EMPTY])
    rows, reasons = list[Row](), list[str]()
    for value in objects(said):
        row = _row(value)
        rows += [row] if isinstance(row, dict) else []
        reasons += [row] if isinstance(row, str) else []
    return rows, reasons or ([] if rows else [NOT_JSON])


def objects(text: str) -> Iterator[Any]:
    """The objects in a text, and the entries of its lists, one after the other."""
    place, tried = 0, 0
    while (found := _OPENING.search(text, place)) and tried < OPENINGS:
        tried += 1
        try:
            value, place = _DECODER.raw_decode(text, found.start())
        except (ValueError, RecursionError):
            place = found.end()
        else:
            tried -= 1
            yield from value if isinstance(value, list) else [value]


def _row(value: Any) -> Row | str:
    if not isinstance(value, dict):
        return WRONG_SHAPE
    instruction, input, output = value.get("instruction"), value.get("input") or "", value.get("output")
    if not (isinstance(instruction, str) and isinstance(input, str) and isinstance(output, str)):
        return WRONG_SHAPE
    if not _encodable(instruction + input + output):
        return WRONG_SHAPE
    if not instruction.strip() or not output.strip():
        return EMPTY
    return {"instruction": instruction.strip(), "input": input.strip(), "output": output.strip()}


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        return False
    return True


def whole(row: Row) -> str:
    """All text of a row."""
    return "\n".join(part for part in row.values() if part)


def asked(row: Row) -> str:
    """What makes a row one with another: its question, or its text."""
    return row["text"] if "text" in row else "\n".join(part for part in (row["instruction"], row["input"]) if part)


def answered(row: Row) -> str:
    """Where a refusal would stand."""
    return row["text"] if "text" in row else row["output"]
