"""JSON as libraries write it: with NaN, Infinity and numbers of any length, which the standard or its fast reader does not know."""

import json
from typing import Any

import orjson


def loads(content: str | bytes) -> Any:
    """The value of a JSON text. Raises orjson.JSONDecodeError.

    What one field holds must not cost the others: numbers that no double holds are infinite. Half of a surrogate pair stays an error,
    since no file can hold it.
    """
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError as error:
        try:
            found = json.loads(content if isinstance(content, str) else content.decode(), parse_int=_whole)
            json.dumps(found, ensure_ascii=False).encode()
        except (ValueError, RecursionError):
            raise error from None
        return found


def _whole(digits: str) -> int | float:
    """As orjson reads it: beyond 64 bits by its value."""
    value = float(digits)
    return int(digits) if abs(value) < 2.0**63 else value
