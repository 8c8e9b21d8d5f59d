"""Values and their types in words."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from compiler.wording import Said, said

TYPE_NAMES = {
    "integer": said("an integer", "整数"),
    "number": said("a number", "数值"),
    "string": said("text", "文本"),
    "boolean": said("true or false", "true 或 false"),
    "object": said("a mapping", "映射"),
    "array": said("a list", "列表"),
    "null": said("null", "null"),
}


def describe(value: Any) -> Said:
    """A value with its type, such as `the number 3`."""
    return next((words(value) for kind, words in _WORDS if isinstance(value, kind)), said("null", "null"))


def show(value: Any) -> str:
    """A value as it could be written in a spec, cut short."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _truth(value: bool) -> Said:
    return said(f"the boolean {str(value).lower()}", f"布尔值 {str(value).lower()}")


def _number(value: float) -> Said:
    return said(f"the number {value}", f"数值 {value}")


_WORDS: tuple[tuple[type, Callable[[Any], Said]], ...] = (
    (bool, _truth),
    (int, _number),
    (float, _number),
    (str, lambda value: said(f"the text {show(value)}", f"文本 {show(value)}")),
    (list, lambda value: said(f"a list of {len(value)}", f"有 {len(value)} 项的列表")),
    (Mapping, lambda _value: said("a mapping", "映射")),
)
