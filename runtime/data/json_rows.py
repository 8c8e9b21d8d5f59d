"""Rows of JSON Lines and JSON files, each with the place it was found at."""

import io
from collections.abc import Iterator
from typing import Any, NamedTuple, cast

import orjson

from runtime.data import json_text
from runtime.data.decoding import MARK, Codec, Decoded, Hints, decode
from runtime.data.lines import Line, codec_for, decoded, lines_of, placed
from runtime.data.listing import RawFile
from runtime.data.pieces import Piece
from runtime.data.quarantine import Unreadable

DOCUMENT_BYTES = 100_000_000  # of one JSON file, which is held whole; rows that are more belong into JSON Lines
NOT_JSON, NOT_AN_OBJECT, NO_FIELD, WRONG_TYPE, OVERSIZED_FILE = "not_json", "not_an_object", "no_text_field", "wrong_type", "oversized_file"
_CUT_OFF = "unexpected end of data"
_OVER_LINES = "mend the row or delete it; values over several lines are read from a file that ends in .json, with the format json"
_MARK = MARK.encode()


class Row(NamedTuple):
    """`text` is None for a row that was too long to be read; `size` are its bytes; `line` counts from 1."""

    text: str | None
    line: int
    size: int
    byte_order_marks: int = 0


def json_lines(piece: Piece, codec: Codec, field: str, longest: int) -> Iterator[Row | Unreadable]:
    """Rows of a JSON Lines file; blank lines count, but are no rows. Raises Unreadable where the rest cannot be read either."""
    for line in lines_of(piece, codec, longest):
        if line.content is None:
            yield Row(None, line.number, line.size)
            continue
        bare = line.content
        while bare.startswith(_MARK):
            bare = bare.removeprefix(_MARK)
        if bare and not bare.isspace():
            yield _row(line, bare, codec, piece.file.shown, field)


def json_document(file: RawFile, field: str, hints: Hints) -> tuple[Decoded, Iterator[Row | Unreadable]]:
    """Rows of a JSON file: a list of objects, or one object; `line` is the number of the row. Raises Unreadable.

    One that is no JSON but JSON Lines is read as such.
    """
    with file.open() as stream:
        data = stream.read(DOCUMENT_BYTES + 1)
    if len(data) > DOCUMENT_BYTES:
        message = f"a JSON file of more than {DOCUMENT_BYTES // 10**6} MB cannot be read at once"
        fix = "write its rows as JSON Lines (jq -c '.[]' a.json > a.jsonl)"
        raise Unreadable(message, file.shown, fix=fix, kind=OVERSIZED_FILE, size=file.size)
    content = decode(data, file.shown, hints)
    try:
        parsed = json_text.loads(content.text)
    except orjson.JSONDecodeError as error:
        if _is_lines(content.text):
            whole = Piece(file)
            return content, json_lines(whole, codec_for(whole, hints), field, DOCUMENT_BYTES)
        bad = _not_json(error)
        bad.fix = "mend the file; it may hold one object, a list of objects, or one object a line"
        raise placed(bad, file.shown, error.lineno, None, data) from None
    objects = cast(list[Any], parsed) if isinstance(parsed, list) else [parsed]
    return content, (_entry(entry, number, file.shown, field) for number, entry in enumerate(objects, 1))


def _is_lines(text: str) -> bool:
    """Whether the first line is an object of its own, or, where it is broken, the second one begins as an object too."""
    held = (line for line in io.StringIO(text) if not line.isspace())
    try:
        return isinstance(json_text.loads(next(held, "")), dict)
    except orjson.JSONDecodeError:
        return next(held, "").lstrip()[:1] == "{"


def text_of(row: Any, field: str) -> str:
    """The text of one row: a string, or a list of strings that become lines; null is an empty text. Raises Unreadable.

    Other fields may hold anything, of a different type in every row.
    """
    if not isinstance(row, dict):
        fix = f'write one object a row, as {{"{field}": "..."}}'
        raise Unreadable(f"the row is {kind_of(row)}, not a JSON object", fix=fix, kind=NOT_AN_OBJECT)
    fields = cast(dict[str, Any], row)
    if field not in fields:
        raise no_field(field, fields)
    value = fields[field]
    if isinstance(value, list) and all(isinstance(part, str) for part in cast(list[Any], value)):
        return "\n".join(cast(list[str], value))
    if value is None or isinstance(value, str):
        return value or ""
    raise Unreadable(
        f"the field {field!r} is {kind_of(value)}, not a string or a list of strings",
        fix="mend the row, or name another field in `text_field`",
        kind=WRONG_TYPE,
    )


def no_field(field: str, there: Any, what: str = "row") -> Unreadable:
    """The fault of a row or a table without the field that holds the text."""
    have = ", ".join(name if name == name.strip() != "" else repr(name) for name in sorted(there)) or "none"
    fix = "name the field that holds the text in `text_field`"
    return Unreadable(f"the {what} has no field {field!r}; it has: {have[:500]}", fix=fix, kind=NO_FIELD)


def kind_of(value: Any) -> str:
    """What JSON calls a value."""
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", int: "a number", float: "a number"}
    return names.get(type(value), "null")


def _row(line: Line, bare: bytes, codec: Codec, shown: str, field: str) -> Row | Unreadable:
    content = line.content or b""
    try:
        parsed = json_text.loads(bare if codec.of_lines == "utf-8" else decoded(line, codec, shown))
        return Row(text_of(parsed, field), line.number, line.size, (len(content) - len(bare)) // len(_MARK))
    except orjson.JSONDecodeError as error:
        bad = _not_json(error)
    except Unreadable as error:
        bad = error
    try:
        decoded(line, codec, shown)  # bytes that are not UTF-8 are not JSON either: say what comes first
    except Unreadable as error:
        bad = error
    return placed(bad, shown, line.number, line.offset, content)


def _entry(entry: Any, number: int, shown: str, field: str) -> Row | Unreadable:
    try:
        text = text_of(entry, field)
    except Unreadable as bad:
        row = orjson.dumps(entry)
        bad = placed(bad, shown, number, None, row)
        bad.where = f"{shown}: row {number}"
        return bad
    return Row(text, number, len(text.encode()))


def _not_json(error: orjson.JSONDecodeError) -> Unreadable:
    return Unreadable(
        f"not JSON: {error.msg} at column {error.colno}",
        reason="a row that is skipped silently is data lost silently",
        fix=_OVER_LINES if error.msg == _CUT_OFF else "mend the row or delete it",
        kind=NOT_JSON,
    )
