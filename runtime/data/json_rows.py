"""Rows of JSON Lines and JSON files, each with the place it was found at."""

import codecs
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, cast

import orjson

from runtime.data.decoding import MARK, Decoded, Hints, decode
from runtime.data.listing import RawFile
from runtime.faults import StageFault

_MARK = MARK.encode()
_BLOCK = 1 << 20


@dataclass(frozen=True)
class Row:
    """`text` is None for a row that was too long to be read; `size` are its bytes; `line` counts from 1."""

    text: str | None
    line: int
    size: int
    byte_order_marks: int = 0


def json_lines(file: RawFile, field: str, longest: int, hints: Hints) -> tuple[str, Iterator[Row]]:
    """Codec and rows of a JSON Lines file. Lines end in LF alone; blank lines count, but are no rows. Raises StageFault at file:line."""
    if _is_utf8(file):
        return "utf-8", _streamed(file, field, longest)
    decoded = decode(file.read(), file.shown, hints)
    return decoded.encoding, _split(decoded.text, file, field, longest)


def json_document(file: RawFile, field: str, hints: Hints) -> tuple[Decoded, list[Row]]:
    """Rows of a JSON file: a list of objects, or one object. Raises StageFault; `line` is the number of the row."""
    decoded = decode(file.read(), file.shown, hints)
    try:
        content = orjson.loads(decoded.text)
    except orjson.JSONDecodeError as error:
        raise _not_json(f"{file.shown}:{error.lineno}", error) from None
    objects = cast(list[Any], content) if isinstance(content, list) else [content]
    texts = (text_of(entry, field, f"{file.shown}: row {number}") for number, entry in enumerate(objects, 1))
    return decoded, [Row(text, number, len(text.encode())) for number, text in enumerate(texts, 1)]


def text_of(row: Any, field: str, where: str) -> str:
    """The text of one row: a string, or a list of strings that become lines; null is an empty text. Raises StageFault.

    Other fields may hold anything, of a different type in every row.
    """
    if not isinstance(row, dict):
        fix = f'write one object a row, as {{"{field}": "..."}}'
        raise StageFault(f"the row is {_kind(row)}, not a JSON object", where=where, fix=fix)
    fields = cast(dict[str, Any], row)
    if field not in fields:
        have = ", ".join(sorted(fields)) or "none"
        fix = "name the field that holds the text in `text_field`"
        raise StageFault(f"the row has no field {field!r}; it has: {have}", where=where, fix=fix)
    value = fields[field]
    if isinstance(value, list) and all(isinstance(part, str) for part in cast(list[Any], value)):
        return "\n".join(cast(list[str], value))
    if value is None or isinstance(value, str):
        return value or ""
    raise StageFault(
        f"the field {field!r} is {_kind(value)}, not a string or a list of strings",
        where=where,
        fix="mend the row, or name another field in `text_field`",
    )


def _streamed(file: RawFile, field: str, longest: int) -> Iterator[Row]:
    with file.open() as stream:
        for number, line, size in _lines(stream, longest):
            yield Row(None, number, size) if line is None else _row(line, number, file, field)


def _split(text: str, file: RawFile, field: str, longest: int) -> Iterator[Row]:
    for number, line in enumerate(text.split("\n"), 1):
        data = line.encode()
        if data.strip():
            yield _row(data, number, file, field) if len(data) <= longest else Row(None, number, len(data))


def _row(line: bytes, number: int, file: RawFile, field: str) -> Row:
    bare, where = line, f"{file.shown}:{number}"
    while bare.startswith(_MARK):
        bare = bare.removeprefix(_MARK)
    try:
        content = orjson.loads(bare)
    except orjson.JSONDecodeError as error:
        raise _not_json(where, error) from None
    return Row(text_of(content, field, where), number, len(line), (len(line) - len(bare)) // len(_MARK))


def _is_utf8(file: RawFile) -> bool:
    """Whether all of a file is UTF-8, found block by block."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        with file.open() as stream:
            while block := stream.read(_BLOCK):
                decoder.decode(block)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _lines(stream: BinaryIO, longest: int) -> Iterator[tuple[int, bytes | None, int]]:
    """Number, content (None where it is longer than `longest` bytes) and size of every line that is not blank."""
    number = 0
    while line := stream.readline(longest + 2):
        number += 1
        content = line.rstrip(b"\r\n")
        if len(content) > longest:
            yield number, None, len(line) + (0 if line.endswith(b"\n") else _skip_line(stream))
        elif content.replace(_MARK, b"").strip():
            yield number, content, len(line)


def _skip_line(stream: BinaryIO) -> int:
    skipped = 0
    while part := stream.readline(_BLOCK):
        skipped += len(part)
        if part.endswith(b"\n"):
            break
    return skipped


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", int: "a number", float: "a number"}
    return names.get(type(value), "null")


def _not_json(where: str, error: orjson.JSONDecodeError) -> StageFault:
    return StageFault(
        f"not JSON: {error.msg} at column {error.colno}",
        where=where,
        reason="a row that is skipped silently is data lost silently",
        fix="mend the row or delete it",
    )
