"""A MindRecord file as it lies on the disk, read many rows at a time: to see whether what was written is what was meant.

The library's own reader gives a row as a list of its single bytes, which takes a tenth of what it takes to encode the text.

A file (version 3.0) begins with 8 bytes, the length of the JSON behind them; pages of one size follow the header. The index
beside it, a table of SQLite, says in which page and between which bytes a row lies. A row is 8 bytes for its length and, for each
column, 8 bytes (big-endian, only where there are several columns) for its length and the numbers of the column: how many, as
4 bytes (big-endian); 2 bits for each, the binary logarithm of its bytes; then each in as few bytes as hold it, little-endian.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import BinaryIO

import numpy as np
import orjson
from numpy.typing import NDArray

ROWS = 256  # read at a time: about 8 MB in memory for rows of 1,025 numbers
_INDEX = "SELECT PAGE_ID_BLOB, PAGE_OFFSET_BLOB, PAGE_OFFSET_BLOB_END FROM INDEXES ORDER BY ROW_ID"
_WIDTHS = np.asarray([[byte >> shift & 3 for shift in (6, 4, 2, 0)] for byte in range(256)], np.uint8)
_LARGEST = 2  # binary logarithm of the bytes of an int32


class Unexpected(Exception):
    """The file is not laid out as described above, or its rows are of several lengths."""


def blocks(path: Path, columns: Sequence[str]) -> Iterator[dict[str, NDArray[np.int32]]]:
    """The rows in order, some at a time: (rows, length) for each column. `columns`: in the order of the file.

    Raises Unexpected, at once or later on.
    """
    with path.open("rb") as file, closing(sqlite3.connect(f"{path.resolve().as_uri()}.db?mode=ro", uri=True)) as index:
        length = int.from_bytes(file.read(8), "little")
        header = orjson.loads(file.read(length))
        rows = index.execute(_INDEX)
        while places := rows.fetchmany(ROWS):
            starts = [header["header_size"] + page * header["page_size"] + start for page, start, _ in places]
            yield _block(_rows(file, starts, [end - start for _, start, end in places]), columns)


def _rows(file: BinaryIO, starts: Sequence[int], sizes: Sequence[int]) -> Iterator[bytes]:
    for start, size in zip(starts, sizes, strict=True):
        file.seek(start)
        row = file.read(size)
        if len(row) != size or int.from_bytes(row[:8], "little") != size - 8:
            raise Unexpected
        yield row[8:]


def _block(rows: Iterator[bytes], columns: Sequence[str]) -> dict[str, NDArray[np.int32]]:
    packed = [_split(row, len(columns)) for row in rows]
    return {name: _numbers([row[number] for row in packed]) for number, name in enumerate(columns)}


def _split(row: bytes, columns: int) -> list[bytes]:
    """The columns of a row."""
    if columns == 1:
        return [row]
    found, at = list[bytes](), 0
    for _ in range(columns):
        end = at + 8 + int.from_bytes(row[at : at + 8], "big")
        found.append(row[at + 8 : end])
        at = end
    if at != len(row):
        raise Unexpected
    return found


def _numbers(rows: Sequence[bytes]) -> NDArray[np.int32]:
    """One column of rows of one length, as numbers: (rows, length)."""
    count = int.from_bytes(rows[0][:4], "big")
    data = 4 + -(-count // 4)  # where the numbers begin
    if any(row[:4] != rows[0][:4] or len(row) < data for row in rows):
        raise Unexpected
    logarithms = _WIDTHS[np.frombuffer(b"".join([row[4:data] for row in rows]), np.uint8)].reshape(len(rows), -1)[:, :count].ravel()
    found = np.frombuffer(b"".join([row[data:] for row in rows]), np.int8)
    ends = np.cumsum(np.left_shift(1, logarithms, dtype=np.int64))
    if count == 0 or logarithms.max() > _LARGEST or ends[-1] != len(found):
        raise Unexpected
    return _widened(found, ends, logarithms).reshape(len(rows), count)


def _widened(found: NDArray[np.int8], ends: NDArray[np.int64], logarithms: NDArray[np.uint8]) -> NDArray[np.int32]:
    """Numbers whose last bytes, which have the sign, stand before `ends`; what is before the last one is unsigned."""
    numbers = found[ends - 1].astype(np.int32)
    for logarithm in range(1, _LARGEST + 1):
        wide = np.flatnonzero(logarithms == logarithm)
        for place in range(2, (1 << logarithm) + 1):
            numbers[wide] = numbers[wide] << 8 | found.view(np.uint8)[ends[wide] - place]
    return numbers
