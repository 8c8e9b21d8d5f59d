"""Rows of CSV and Parquet files: the one column that holds the text, whatever the others hold.

CSV is read by the parser of the standard library, line by line; Parquet by PyArrow, batch by batch.
"""

import csv
from collections.abc import Iterator
from typing import Any

from runtime.contracts.counting import counted
from runtime.data.decoding import Codec, without_marks
from runtime.data.json_rows import WRONG_TYPE, Row, no_field
from runtime.data.lines import Line, decoded, lines_of, placed
from runtime.data.listing import RawFile
from runtime.data.pieces import Piece
from runtime.data.quarantine import Unreadable
from runtime.raw_file import locked

NOT_CSV, WRONG_COLUMNS, NOT_PARQUET = "not_csv", "wrong_columns", "not_parquet"
BATCH = 1000  # rows of Parquet in memory
_ENDS = {".tsv": "\t"}
_DELIMITERS = ",;\t|"


def csv_rows(piece: Piece, codec: Codec, field: str, delimiter: str | None, longest: int) -> Iterator[Row | Unreadable]:
    """Rows of a table whose first row names the columns; a field in quotes may hold line ends. Raises Unreadable.

    A row is placed at the physical line on which it begins.
    """
    lines = _Lines(piece, codec, longest)
    csv.field_size_limit(longest)
    parsed = _parsed(csv.reader(lines, delimiter=delimiter or _delimiter(piece.file), strict=True), lines)
    names = next((row for row in parsed if row), [])
    if isinstance(names, Unreadable):
        raise names
    if isinstance(names, Row) or (names.count(field) != 1 and names):
        bad = _no_column(field, [] if isinstance(names, Row) else names)
        raise placed(bad, piece.file.shown, 1, codec.mark, lines.raw)
    for values in parsed:
        yield from _rows(values, names, field, lines)


def _no_column(field: str, names: list[str]) -> Unreadable:
    """The fault of a table in which a column is missing, or which has several of its name."""
    if field in names:
        message, fix = f"the table has {names.count(field)} columns {field!r}", "give each column a name of its own"
        return Unreadable(message, reason="which of them holds the text cannot be told", fix=fix, kind=WRONG_COLUMNS)
    bad = no_field(field, names, "table")
    if len(names) == 1 and any(sign in names[0] for sign in _DELIMITERS):
        bad.fix = "set `delimiter` of the source, where another sign than the comma (in a .tsv, the tab) divides the fields"
    return bad


def _rows(values: "list[str] | Row | Unreadable", names: list[str], field: str, lines: "_Lines") -> Iterator[Row | Unreadable]:
    if isinstance(values, (Row, Unreadable)):
        yield values
    elif len(values) == len(names):
        yield Row(values[names.index(field)], lines.first, lines.size, lines.marks)
    elif values:
        message = f"the row has {counted(len(values), 'field')}, but the table has {counted(len(names), 'column')}"
        fix = "put a field that holds the delimiter or a line end into quotes, or set `delimiter` of the source"
        yield lines.bad(Unreadable(message, fix=fix, kind=WRONG_COLUMNS))


def _parsed(reader: Iterator[list[str]], lines: "_Lines") -> "Iterator[list[str] | Row | Unreadable]":
    """What the reader makes of the lines; before it, what of them could not be given to it."""
    while True:
        lines.begin()
        values: list[str] | Unreadable | None = None
        try:
            values = next(reader, None)
        except csv.Error as error:
            values = lines.bad(Unreadable(f"not CSV: {error}", fix="mend the row, or set `delimiter` of the source", kind=NOT_CSV))
        yield from lines.oversized
        if values is None:
            return
        if not lines.torn:
            yield lines.broken or values


class _Lines:
    """Lines for the reader of CSV, and what has become of those of the row that it is at."""

    def __init__(self, piece: Piece, codec: Codec, longest: int) -> None:
        self._lines, self._codec, self._shown = lines_of(piece, codec, longest), codec, piece.file.shown
        self.begin()

    def begin(self) -> None:
        """Forget the row before."""
        self.first, self.offset, self.size, self.marks, self.raw = 0, 0, 0, 0, b""
        self.broken: Unreadable | None = None
        self.oversized: list[Row] = []
        self.torn = False  # a line within the row was too long

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        while line.content is None:
            self.oversized.append(Row(None, line.number, line.size))
            self.torn = self.torn or self.first > 0
            line = next(self._lines)
        self.first, self.offset = (self.first, self.offset) if self.first else (line.number, line.offset)
        self.size, self.raw = self.size + line.size, self.raw if len(self.raw) > 10_000 else self.raw + line.content
        text, marks = without_marks(self._text(line))
        self.marks += marks
        return text + "\n"

    def bad(self, bad: Unreadable) -> Unreadable:
        """A fault of the row at hand, with its place."""
        return placed(bad, self._shown, self.first, self.offset, self.raw)

    def _text(self, line: Line) -> str:
        try:
            return decoded(line, self._codec, self._shown)
        except Unreadable as bad:
            self.broken = self.broken or bad
            return (line.content or b"").decode("ascii", "backslashreplace")  # its quotes still tell where the row ends


def _delimiter(file: RawFile) -> str:
    name = file.path.name.lower().removesuffix(".gz").removesuffix(".zst")
    return _ENDS.get(name[-4:], ",")


def parquet_rows(file: RawFile, field: str) -> Iterator[Row | Unreadable]:
    """Rows of a Parquet file, numbered from 1; of the columns only the one asked for is read. Raises StageFault and Unreadable."""
    import pyarrow
    from pyarrow import parquet

    number = 0
    try:
        with parquet.ParquetFile(file.path) as table:
            _refuse_column(table.schema_arrow, field, file, table.metadata.num_rows)
            for batch in table.iter_batches(BATCH, columns=[field], use_threads=False):
                for value in _values(batch.column(0)):
                    number += 1
                    yield _row(value, number, file)
    except pyarrow.ArrowException as error:
        bad = Unreadable(f"not Parquet: {str(error).splitlines()[0]}", fix="write or fetch the file again", kind=NOT_PARQUET)
        raise placed(bad, file.shown, number + 1, None, b"") from None
    except OSError as error:
        if error.errno is None:  # of the library, for a page that ends too early
            bad = Unreadable(f"not Parquet: {error}", fix="write or fetch the file again", kind=NOT_PARQUET)
            raise placed(bad, file.shown, number + 1, None, b"") from None
        raise locked(error, file.shown) from None


def _refuse_column(schema: Any, field: str, file: RawFile, rows: int) -> None:
    """Raise Unreadable where the column is not there or holds no text."""
    from pyarrow import types

    if schema.names.count(field) != 1:
        bad = _no_column(field, schema.names)
    else:
        kind = schema.field(field).type
        kind = kind.value_type if types.is_dictionary(kind) or types.is_list(kind) or types.is_large_list(kind) else kind
        if any(holds(kind) for holds in (types.is_string, types.is_large_string, types.is_string_view, types.is_null)):
            return
        if types.is_binary(kind) or types.is_large_binary(kind):  # as some writers of tables without types leave UTF-8
            return
        fix = "name a column of strings, or of lists of strings, in `text_field`"
        bad = Unreadable(f"the column {field!r} holds {kind}, not text", fix=fix, kind=WRONG_TYPE)
    bad.counts_for = max(rows, 1)
    raise placed(bad, file.shown, 1, None, b"")


def _values(column: Any) -> Iterator[Any]:
    """Python values; bytes for a text that is not UTF-8."""
    import pyarrow

    try:
        yield from column.to_pylist()
    except UnicodeDecodeError:
        yield from (value.cast(pyarrow.large_binary()).as_py() for value in column)


def _row(value: Any, number: int, file: RawFile) -> Row | Unreadable:
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        value = "\n".join(value)
    if isinstance(value, bytes):
        return _decoded_row(value, number, file)
    if value is None or isinstance(value, str):
        return Row(value or "", number, len((value or "").encode()))
    bad = Unreadable("the text is a list that holds null, not only strings", fix="mend the row", kind=WRONG_TYPE)
    return placed(bad, file.shown, number, None, b"")


def _decoded_row(value: bytes, number: int, file: RawFile) -> Row | Unreadable:
    try:
        return Row(value.decode(), number, len(value))
    except UnicodeDecodeError as error:
        bad = Unreadable(f"byte {error.start} of the text is not utf-8 ({error.reason})", fix="mend the row", kind="undecodable")
        return placed(bad, file.shown, number, None, value)
