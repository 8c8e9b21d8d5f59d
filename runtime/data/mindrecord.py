"""MindRecord files of int32 rows: written under their final names, read back, compared.

The index beside a file names the file without its folder. So a folder may be moved as a whole, and a single file may not be
renamed. With several shards, row i goes to shard i modulo shards, each a file with a writer of its own: MindRecord's writer of
many shards gives the rows that do not divide evenly to whichever thread is first.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, islice
from operator import itemgetter
from pathlib import Path

import numpy as np
import xxhash
from numpy.typing import NDArray

from runtime.contracts.counting import counted
from runtime.data import mindrecord_pages
from runtime.data.mindrecord_library import Reader, Writer
from runtime.faults import StageFault

Row = Mapping[str, np.ndarray]
BATCH, BATCH_NUMBERS = 1024, 1 << 24  # rows of one file that are written at a time, and numbers in them
PAGE = 1 << 20  # the default of 32 MiB makes every small file 50 MB
HEADER = 1 << 16
PAGES_PER_HEADER = 64  # a page costs some 300 bytes of the header, and more with the number of row groups
MAX_HEADER, MAX_PAGE = 1 << 27, 1 << 28


@dataclass(frozen=True)
class Written:
    """files: data files in shard order, relative to the folder; each has an index `<file>.db` beside it."""

    files: tuple[str, ...]
    rows: int


def write(folder: Path, split: str, rows: Iterable[Row], *, columns: tuple[str, ...], shards: int = 1, estimated_bytes: int = 0) -> Written:
    """Write rows of int32 columns to the files of `file_names`, and read them back.

    Raises StageFault where a value does not fit int32, there are fewer rows than shards, or other rows come back.
    """
    files, pending = file_names(split, shards), iter(rows)
    given = list(islice(pending, shards))
    _check_all(given, columns, split, 0)
    numbers = max(1, sum(len(given[0][column]) for column in columns)) if given else 1
    writers = [_open(folder / file, columns, page_size(numbers), header_size(estimated_bytes // shards)) for file in files]
    digests = [Digest(columns) for _ in files]
    count, pending, batch = 0, chain(given, pending), max(1, min(BATCH, BATCH_NUMBERS // numbers))
    while given := list(islice(pending, batch * shards)):
        _check_all(given, columns, split, count)
        for shard, (writer, digest) in enumerate(zip(writers, digests, strict=True)):
            for block in _blocks(given[shard::shards], columns):
                digest.update(block)
                writer.write(block)
        count += len(given)
    if count < shards:
        raise StageFault(
            f"{split} has {counted(count, 'row')} for {counted(shards, 'shard')}",
            reason="a shard would be empty",
            fix="lower pack.shards, or give more text",
        )
    for file, writer, digest in zip(files, writers, digests, strict=True):
        _finish(folder, file, writer)
        _compare(folder, file, columns, digest)
    return Written(files, count)


def _open(path: Path, columns: tuple[str, ...], page: int, header: int) -> Writer:
    path.parent.mkdir(exist_ok=True)
    return Writer(path, columns, page_bytes=page, header_bytes=header)


def _finish(folder: Path, file: str, writer: Writer) -> None:
    writer.commit()
    for path in (folder / file, folder / f"{file}.db"):
        path.chmod(0o644)  # the writer leaves them to their owner alone


def page_size(numbers: int) -> int:
    """Bytes of a page for rows of so many numbers, a power of two: a page holds a row as a whole."""
    size = PAGE
    while size < MAX_PAGE and size < 5 * numbers:  # 4 bytes and 2 bits each, and the lengths of the columns
        size *= 2
    return size


def header_size(data_bytes: int) -> int:
    """Bytes to reserve for the table of pages: a power of two."""
    size = HEADER
    while size < MAX_HEADER and size // HEADER * PAGES_PER_HEADER * PAGE < 2 * data_bytes:
        size *= 2
    return size


def file_names(split: str, shards: int) -> tuple[str, ...]:
    """`train.mindrecord` for one shard; `train/train.mindrecord00` ... for more, with as many digits as the last one needs."""
    digits = len(str(shards - 1))
    return (f"{split}.mindrecord",) if shards == 1 else tuple(f"{split}/{split}.mindrecord{shard:0{digits}d}" for shard in range(shards))


def read(folder: Path, file: str) -> Iterator[dict[str, np.ndarray]]:
    """The rows of one file in order, int32; with several shards, of that shard alone."""
    for row in Reader(folder / file).rows():
        yield {column: np.frombuffer(values, "<i4") for column, values in row.items()}


def _check_all(rows: Sequence[Row], columns: tuple[str, ...], split: str, first: int) -> None:
    """Raise StageFault for the first row that is no list of 32-bit integers; `first`: the number of the first row given."""
    for column in columns:
        if lacking := [index for index, row in enumerate(rows, first) if column not in row]:
            raise StageFault(f"{column} is missing", where=f"{split} row {lacking[0]}", reason="every row has the same columns")
        given = [np.asarray(row[column]) for row in rows]
        alike = len({(values.ndim, values.dtype.char) for values in given}) == 1
        if not alike or given[0].ndim != 1 or (given[0].dtype != np.int32 and _wrong(np.concatenate(given))):
            for index, values in enumerate(given, first):
                _check(values, column, f"{split} row {index}")


def _wrong(values: np.ndarray) -> bool:
    limits = np.iinfo(np.int32)
    return values.dtype.kind not in "iu" or bool(values.size and not limits.min <= int(values.min()) <= int(values.max()) <= limits.max)


def _check(values: np.ndarray, column: str, where: str) -> None:
    if values.ndim != 1 or _wrong(values):
        largest = values.max() if values.size and values.dtype.kind in "iufb" else "none"
        raise StageFault(
            f"{column} is not a list of 32-bit integers: {values.dtype}, largest {largest}",
            where=where,
            reason="the model reads int32 ids",
        )


def _blocks(rows: Sequence[Row], columns: tuple[str, ...]) -> Iterator[dict[str, NDArray[np.int32]]]:
    """The rows in order, as many at a time as are of one length: of each column, (rows, length)."""
    lengths = zip(*([len(row[column]) for row in rows] for column in columns), strict=True)
    for _, run in groupby(zip(lengths, rows, strict=True), key=itemgetter(0)):
        block = [row for _, row in run]
        yield {name: np.concatenate([row[name] for row in block]).astype("<i4", copy=False).reshape(len(block), -1) for name in columns}


class Digest:
    """A hash of rows by column that does not depend on how many come at a time."""

    def __init__(self, columns: tuple[str, ...]) -> None:
        self._columns = {column: (xxhash.xxh3_128(), xxhash.xxh3_128()) for column in columns}
        self.rows = 0

    def update(self, block: Mapping[str, NDArray[np.int32]]) -> None:
        """Take rows of one length: of each column, (rows, length)."""
        for name, (contents, lengths) in self._columns.items():
            contents.update(np.ascontiguousarray(block[name], "<i4").data)
            lengths.update(np.full(len(block[name]), block[name].shape[1], "<i8").data)
        self.rows += len(next(iter(block.values())))

    @property
    def value(self) -> tuple[int, tuple[str, ...]]:
        """(rows, hashes of each column)."""
        return self.rows, tuple(digest.hexdigest() for pair in self._columns.values() for digest in pair)


def _compare(folder: Path, file: str, columns: tuple[str, ...], expected: Digest) -> None:
    """Raise StageFault where other rows come back than went in. The library's reader judges what the fast one does not find right."""
    if _by_pages(folder / file, columns) == expected.value:
        return
    found = Digest(columns)
    for row in Reader(folder / file).rows():
        found.update({name: np.frombuffer(row[name], "<i4")[np.newaxis] for name in columns})
    if found.value != expected.value:
        raise StageFault(
            f"{found.rows} of {counted(expected.rows, 'row')} came back"
            if found.rows != expected.rows
            else f"other values come back in {counted(expected.rows, 'row')}",
            where=file,
            reason="MindRecord dropped or changed rows",
            fix="report this as a bug of the pack stage",
        )


def _by_pages(path: Path, columns: tuple[str, ...]) -> tuple[int, tuple[str, ...]] | None:
    """The digest of the file; None where the library alone can read it."""
    found = Digest(columns)
    try:
        for block in mindrecord_pages.blocks(path, columns):
            found.update(block)
    except (mindrecord_pages.Unexpected, sqlite3.Error, ValueError, KeyError):
        return None
    return found.value
