"""Long lists of plain values, which Hydra gets as one sign each: it would make a node of every item, and copy them all.

A list of many keywords would take seconds. What looks into such a list, by a function or by the number of an item, needs it whole.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, cast

SHORTEST = 200  # items
_SIGN = "\x00list "  # a character that no file and no command line can hold
_PLAIN_REFERENCE = re.compile(r"\$\{\s*[A-Za-z_]\w*(\.[A-Za-z_]\w*)*\s*\}")


class Scattered(LookupError):
    """A sign became part of a text: a reference stands in the middle of one."""


class LongLists:
    """The lists that were put away, by the sign that stands for each."""

    def __init__(self) -> None:
        self._put_away: dict[str, list[Any]] = {}

    def __bool__(self) -> bool:
        return bool(self._put_away)

    def without(self, value: Any) -> Any:
        """The same values, with a sign for each long list of plain ones."""
        if isinstance(value, dict):
            items = cast(dict[str, Any], value).items()
            return {key: item if key == "defaults" else self.without(item) for key, item in items}
        if not isinstance(value, list) or not _is_long(items := cast(list[Any], value)):
            return value  # pyright: ignore[reportUnknownVariableType]
        sign = f"{_SIGN}{len(self._put_away)}"
        self._put_away[sign] = items
        return sign

    def back(self, value: Any) -> Any:
        """The values with the lists again. Raises Scattered."""
        if isinstance(value, dict):
            return {key: self.back(item) for key, item in cast(dict[str, Any], value).items()}
        if isinstance(value, list):
            return [self.back(item) for item in cast(list[Any], value)]
        if not isinstance(value, str) or _SIGN not in value:
            return value
        if value not in self._put_away:
            raise Scattered
        return [*self._put_away[value]]


def _is_long(items: list[Any]) -> bool:
    return len(items) >= SHORTEST and all(map(_is_plain, items))


def _is_plain(item: Any) -> bool:
    return not isinstance(item, (Mapping, list)) and not (isinstance(item, str) and ("${" in item or item == "???"))


def looks_inside(texts: Iterable[str]) -> bool:
    """Whether a reference in some text does more than name a value as a whole."""
    return any("${" in _PLAIN_REFERENCE.sub("", text) for text in texts)
