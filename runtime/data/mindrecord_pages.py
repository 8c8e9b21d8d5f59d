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
_FOUR = np.asarray([[byte >> shift & 3 for shift in (6, 4, 2, 0)] for byte in range(256)], np.uint8).view("<u4").ravel()  # widths of four
LENGTH = 8  # bytes of the length of a row or a column
Places = NDArray[np.int64]
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
            pages = header["header_size"], header["page_size"]
            starts, ends = (np.asarray([pages[0] + place[0] * pages[1] + place[side] for place in places]) for side in (1, 2))
            yield _block(file, starts, ends, columns)


def _block(file: BinaryIO, starts: Places, ends: Places, columns: Sequence[str]) -> dict[str, NDArray[np.int32]]:
    """The rows between these places of a file, in order."""
    size = int(ends[-1] - starts[0])
    file.seek(int(starts[0]))
    data = np.frombuffer(file.read(size), np.uint8) if (np.diff(starts) > 0).all() else np.empty(0, np.uint8)
    at, end = starts - starts[0], ends - starts[0]
    if len(data) != size or (_whole(data, at, "<i8") != end - at - LENGTH).any():
        raise Unexpected
    found, at = dict[str, NDArray[np.int32]](), at + LENGTH
    for column in columns:
        begin = at if len(columns) == 1 else at + LENGTH
        at = end if len(columns) == 1 else begin + _whole(data, at, ">i8")
        if (at > end).any() or (at < begin + 4).any():
            raise Unexpected
        found[column] = _numbers(data, begin, at)
    if (at != end).any():
        raise Unexpected
    return found


def _whole(data: NDArray[np.uint8], places: Places, kind: str) -> Places:
    """The whole numbers at these places."""
    width = np.dtype(kind).itemsize
    if int(places.max()) + width > len(data):
        raise Unexpected
    return data[places[:, np.newaxis] + np.arange(width)].view(kind).ravel().astype(np.int64)


def _numbers(data: NDArray[np.uint8], starts: Places, ends: Places) -> NDArray[np.int32]:
    """One column of rows of one length, as numbers: (rows, length)."""
    counts = _whole(data, starts, ">u4")
    count, widths = int(counts[0]), -(-int(counts[0]) // 4)
    begin = starts + 4 + widths  # where the numbers do
    if count == 0 or (counts != count).any() or (begin > ends).any():
        raise Unexpected
    given = data[(starts + 4)[:, np.newaxis] + np.arange(widths)]
    mixed = np.minimum(4 * (widths - np.argmax(given[:, ::-1] != 0, axis=1)) * given.any(axis=1), count)  # padding behind: a byte each
    rest = ends - (count - mixed)
    if (begin > rest).any():
        raise Unexpected
    places = list(zip(mixed.tolist(), begin.tolist(), rest.tolist(), ends.tolist(), strict=True))
    found = np.concatenate([data[place:middle] for _, place, middle, _ in places]).view(np.int8)
    four = _FOUR[given].view(np.uint8)
    wide = _widened(found, np.concatenate([row[:one] for row, (one, *_) in zip(four, places, strict=True)]))
    numbers, at = np.empty((len(starts), count), np.int32), 0
    for row, (one, _, middle, end) in zip(numbers, places, strict=True):
        row[:one], row[one:] = wide[at : at + one], data[middle:end].view(np.int8)
        at += one
    return numbers


def _pairs(found: NDArray[np.int8], widths: NDArray[np.uint8]) -> NDArray[np.int32]:
    """As `_widened`, where no number takes more than two bytes, as in vocabularies below 32,768: half the time."""
    lasts = np.cumsum(widths, dtype=np.int64) + np.arange(len(widths))
    if len(found) != (int(lasts[-1]) + 1 if len(lasts) else 0):
        raise Unexpected
    values = found[lasts].astype(np.int32)
    return np.where(widths, values << 8 | found.view(np.uint8)[lasts - widths], values)


def _widened(found: NDArray[np.int8], widths: NDArray[np.uint8]) -> NDArray[np.int32]:
    """Numbers that are written in 1, 2 or 4 bytes: `widths` says in which power of two. The last byte has the sign."""
    if widths.max(initial=0) <= 1:
        return _pairs(found, widths)
    wide = np.flatnonzero(widths != 0)
    logarithms = widths[wide]
    more = (1 << logarithms.astype(np.int64)) - 1  # bytes behind the first one
    first = wide + np.cumsum(more) - more
    if logarithms.max(initial=0) > _LARGEST or len(widths) + int(more.sum()) != len(found):
        raise Unexpected
    is_first = np.ones(len(found), np.bool_)
    for byte in range(1, 1 << _LARGEST):
        is_first[first[more >= byte] + byte] = False
    numbers = found[is_first].astype(np.int32)
    for last in (1, 3):
        places = first[more == last]
        value = found[places + last].astype(np.int32)
        for byte in range(last - 1, -1, -1):
            value = value << 8 | found.view(np.uint8)[places + byte]
        numbers[wide[more == last]] = value
    return numbers
