"""MindRecord files of int32 rows: written under their final names, read back, compared.

The index beside a file names the file without its folder. So a folder may be moved as a whole, and a single file may not be
renamed. With several shards, row i goes to shard i modulo shards, each a file with a writer of its own: MindRecord's writer of
many shards gives the rows that do not divide evenly to whichever thread is first.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
import xxhash
from numpy.typing import NDArray

from runtime.contracts.counting import counted
from runtime.data import mindrecord_pages
from runtime.data.mindrecord_library import Reader, Writer
from runtime.faults import StageFault

Block = Mapping[str, np.ndarray]  # of each column the same rows: (rows, length)
Rows = dict[str, NDArray[np.int32]]
BATCH, BATCH_NUMBERS = 256, 1 << 24  # rows of one file that are written at a time, and numbers in them
PAGE = 1 << 20  # the default of 32 MiB makes every small file 50 MB
HEADER = 1 << 16
PAGES_PER_HEADER = 64  # a page costs some 300 bytes of the header, and more with the number of row groups
MAX_HEADER, MAX_PAGE = 1 << 27, 1 << 28


@dataclass(frozen=True)
class Written:
    """files: data files in shard order, relative to the folder; each has an index `<file>.db` beside it."""

    files: tuple[str, ...]
    rows: int


def write(
    folder: Path, split: str, blocks: Iterable[Block], *, columns: tuple[str, ...], shards: int = 1, estimated_bytes: int = 0
) -> Written:
    """Write the rows of blocks, (rows, length) for each column, to the files of `file_names`, and read them back.

    Raises StageFault where a value does not fit int32, there are fewer rows than shards, or other rows come back.
    """
    files, pending = file_names(split, shards), _checked(blocks, columns, split)
    first = next(pending, None)
    numbers = max(1, sum(block.shape[1] for block in first.values())) if first else 1
    writers = [_open(folder / file, columns, page_size(numbers), header_size(estimated_bytes // shards)) for file in files]
    digests = [Digest(columns) for _ in files]
    batch, count = max(1, min(BATCH, BATCH_NUMBERS // (numbers * shards))), 0
    for rows in _batches(chain([first] if first else [], pending), columns, batch * shards):
        for shard, (writer, digest) in enumerate(zip(writers, digests, strict=True)):
            own = {column: values[(shard - count) % shards :: shards] for column, values in rows.items()}
            if _size(own):
                digest.update(own)
                writer.write(own)
        count += _size(rows)
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


def _size(block: Block) -> int:
    return len(next(iter(block.values())))


def _checked(blocks: Iterable[Block], columns: tuple[str, ...], split: str) -> Iterator[Rows]:
    """The blocks that have rows, as int32. Raises StageFault for the first row that is no list of 32-bit integers."""
    count = 0
    for block in blocks:
        if lacking := [column for column in columns if column not in block]:
            raise StageFault(f"{', '.join(lacking)} is missing", where=f"{split} row {count}", reason="every row has the same columns")
        rows = {column: _int32(np.asarray(block[column]), column, split, count) for column in columns}
        if len({len(values) for values in rows.values()}) > 1:
            told = ", ".join(f"{column} {len(values)}" for column, values in rows.items())
            raise StageFault(f"different numbers of rows: {told}", where=f"{split} row {count}", reason="every row has the same columns")
        count += _size(rows)
        if _size(rows):
            yield rows


def _int32(values: np.ndarray, column: str, split: str, first: int) -> NDArray[np.int32]:
    if values.ndim == 2 and (values.dtype == np.int32 or not _wrong(values)):
        return values.astype("<i4", copy=False)
    rows = [np.asarray(row) for row in (values if values.ndim else [values])]
    number, wrong = next(((number, row) for number, row in enumerate(rows) if row.ndim != 1 or _wrong(row)), (0, values))
    largest = wrong.max() if wrong.size and wrong.dtype.kind in "iufb" else "none"
    raise StageFault(
        f"{column} is not a list of 32-bit integers: {wrong.dtype}, largest {largest}",
        where=f"{split} row {first + number}",
        reason="the model reads int32 ids",
    )


def _wrong(values: np.ndarray) -> bool:
    limits = np.iinfo(np.int32)
    return values.dtype.kind not in "iu" or bool(values.size and not limits.min <= int(values.min()) <= int(values.max()) <= limits.max)


def _batches(blocks: Iterable[Rows], columns: tuple[str, ...], size: int) -> Iterator[Rows]:
    """The same rows, `size` at a time; fewer where rows of other lengths follow."""
    held, count = list[Rows](), 0
    for block in blocks:
        if held and any(held[0][column].shape[1] != block[column].shape[1] for column in columns):
            yield _joined(held, columns)
            held, count = [], 0
        start = 0
        while start < _size(block):
            end = min(start + size - count, _size(block))
            held.append({column: block[column][start:end] for column in columns})
            start, count = end, count + end - start
            if count == size:
                yield _joined(held, columns)
                held, count = [], 0
    if held:
        yield _joined(held, columns)


def _joined(held: Sequence[Rows], columns: tuple[str, ...]) -> Rows:
    return held[0] if len(held) == 1 else {column: np.concatenate([rows[column] for rows in held]) for column in columns}


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
