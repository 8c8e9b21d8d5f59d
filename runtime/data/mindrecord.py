"""MindRecord files of int32 rows: written under their final names, read back, compared.

The index beside a file names the file without its folder. So a folder may be moved as a whole, and a single file may not be
renamed. With several shards, row i goes to shard i modulo shards, each a file with a writer of its own: MindRecord's writer of
many shards gives the rows that do not divide evenly to whichever thread is first.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import xxhash
from mindspore.mindrecord import FileReader, FileWriter

from runtime.faults import StageFault

Row = Mapping[str, np.ndarray]
BATCH = 1024
PAGE = 1 << 20  # the default of 32 MiB makes every small file 50 MB
HEADER = 1 << 16
PAGES_PER_HEADER = 64  # a page costs some 300 bytes of the header, and more with the number of row groups
MAX_HEADER = 1 << 27


@dataclass(frozen=True)
class Written:
    """files: data files in shard order, relative to the folder; each has an index `<file>.db` beside it."""

    files: tuple[str, ...]
    rows: int


def write(folder: Path, split: str, rows: Iterable[Row], *, columns: tuple[str, ...], shards: int = 1, estimated_bytes: int = 0) -> Written:
    """Write rows of int32 columns to the files of `file_names`, and read them back.

    Raises StageFault where a value does not fit int32, there are fewer rows than shards, or other rows come back.
    """
    files = file_names(split, shards)
    writers = [_open(folder / file, columns, header_size(estimated_bytes // shards)) for file in files]
    digests = [Digest(columns) for _ in files]
    count, pending = 0, iter(rows)
    while given := list(islice(pending, BATCH * shards)):
        batch = _checked(given, columns, split, count)
        for shard, (writer, digest) in enumerate(zip(writers, digests, strict=True)):
            part = batch[shard::shards]
            digest.update(part)
            if part:
                writer.write_raw_data(part)
        count += len(batch)
    if count < shards:
        raise StageFault(
            f"{split} has {count} rows for {shards} shards", reason="a shard would be empty", fix="lower pack.shards, or give more text"
        )
    for file, writer in zip(files, writers, strict=True):
        writer.commit()
        for path in (folder / file, folder / f"{file}.db"):
            path.chmod(0o644)  # the writer leaves them to their owner alone
    for file, digest in zip(files, digests, strict=True):
        _compare(folder, file, columns, digest)
    return Written(files, count)


def _open(path: Path, columns: tuple[str, ...], header: int) -> FileWriter:
    path.parent.mkdir(exist_ok=True)
    writer = FileWriter(str(path), shard_num=1)
    writer.set_page_size(PAGE)
    writer.set_header_size(header)
    writer.add_schema({column: {"type": "int32", "shape": [-1]} for column in columns}, "rows")
    return writer


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
    """The rows of one file in order; with several shards, of that shard alone."""
    reader = FileReader([str(folder / file)])
    try:
        yield from reader.get_next()
    finally:
        reader.close()


def _checked(rows: Sequence[Row], columns: tuple[str, ...], split: str, first: int) -> list[dict[str, np.ndarray]]:
    """The rows as int32. The writer drops rows of another type with a mere warning, so all are checked first.

    Raises StageFault for the first row that is wrong; `first`: the number of the first row given.
    """
    for column in columns:
        given = [np.asarray(row[column]) for row in rows]
        alike = all(values.ndim == 1 and values.dtype == given[0].dtype for values in given)
        if not alike or _wrong(np.concatenate(given)):
            for index, values in enumerate(given, first):
                _check(values, column, f"{split} row {index}")
    return [{column: np.ascontiguousarray(row[column], np.int32) for column in columns} for row in rows]


def _wrong(values: np.ndarray) -> bool:
    limits = np.iinfo(np.int32)
    return values.dtype.kind not in "iu" or bool(values.size and not limits.min <= int(values.min()) <= int(values.max()) <= limits.max)


def _check(values: np.ndarray, column: str, where: str) -> None:
    if values.ndim != 1 or _wrong(values):
        raise StageFault(
            f"{column} is not a list of 32-bit integers: {values.dtype}, largest {values.max() if values.size else 'none'}",
            where=where,
            reason="the model reads int32 ids",
        )


class Digest:
    """A hash of rows by column that does not depend on how many come at a time."""

    def __init__(self, columns: tuple[str, ...]) -> None:
        self._columns = {column: xxhash.xxh3_128() for column in columns}
        self.lengths: set[int] = set()
        self.rows = 0

    def update(self, rows: Sequence[Row]) -> None:
        """Take rows."""
        self.rows += len(rows)
        for column, digest in self._columns.items():
            self.lengths.update(row[column].size for row in rows)
            digest.update(b"".join(np.ascontiguousarray(row[column], "<i4").data for row in rows))

    def update_block(self, block: Row) -> None:
        """Take rows of one length, (rows, length) for each column."""
        self.rows += len(next(iter(block.values())))
        for column, digest in self._columns.items():
            digest.update(np.ascontiguousarray(block[column], "<i4").data)

    @property
    def value(self) -> tuple[int, tuple[str, ...]]:
        """(rows, hash of each column)."""
        return self.rows, tuple(digest.hexdigest() for digest in self._columns.values())


def blocks(folder: Path, file: str, columns: tuple[str, ...]) -> Iterator[dict[str, np.ndarray]]:
    """The rows of one file, all of one length, in order, by the loader that training uses: (rows, length) for each column."""
    from mindspore.dataset import MindDataset

    loader = MindDataset(str(folder / file), list(columns), shuffle=False, num_parallel_workers=1).batch(BATCH, num_parallel_workers=1)
    found: Any = loader.create_dict_iterator(num_epochs=1, output_numpy=True)
    yield from found


def _compare(folder: Path, file: str, columns: tuple[str, ...], expected: Digest) -> None:
    found = Digest(columns)
    if len(expected.lengths) == 1:
        for block in blocks(folder, file, columns):
            found.update_block(block)
    else:
        for row in read(folder, file):
            found.update([row])
    if found.value != expected.value:
        raise StageFault(
            f"{found.rows} rows come back of {expected.rows}"
            if found.rows != expected.rows
            else f"other values come back in {expected.rows} rows",
            where=file,
            reason="MindRecord dropped or changed rows",
            fix="report this as a bug of the pack stage",
        )
