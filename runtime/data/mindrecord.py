"""MindRecord files of int32 rows: written under their final names, read back, compared.

The index beside a file names the file without its folder. So a folder may be moved as a whole, and a single file may not be
renamed.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

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
    """files: data files in shard order, without folder; each has an index `<file>.db` beside it."""

    files: tuple[str, ...]
    rows: int


def write(folder: Path, split: str, rows: Iterable[Row], *, columns: tuple[str, ...], shards: int = 1, estimated_bytes: int = 0) -> Written:
    """Write rows of int32 columns as `<split>.mindrecord`, or `<split>.mindrecord0` ... with several shards; read them back.

    Raises StageFault where a value does not fit int32, there are fewer rows than shards, or other rows come back.
    """
    name = folder / f"{split}.mindrecord"
    writer = FileWriter(str(name), shard_num=shards)
    writer.set_page_size(PAGE)
    writer.set_header_size(header_size(estimated_bytes // shards))
    writer.add_schema({column: {"type": "int32", "shape": [-1]} for column in columns}, split)
    given: Counter[str] = Counter()
    pending = (_checked(row, columns, f"{split} row {index}") for index, row in enumerate(rows))
    while batch := list(islice(pending, BATCH)):
        given.update(_digest(row, columns) for row in batch)
        writer.write_raw_data(batch)
    if given.total() < shards:
        raise StageFault(
            f"{split} has {given.total()} rows for {shards} shards",
            where="",
            reason="a shard would be empty",
            fix="lower pack.shards, or give more text",
        )
    writer.commit()
    for file in folder.glob(f"{name.name}*"):
        file.chmod(0o644)  # the writer leaves them to their owner alone
    written = Written(file_names(f"{split}.mindrecord", shards), given.total())
    _compare(folder, written, columns, given)
    return written


def header_size(data_bytes: int) -> int:
    """Bytes to reserve for the table of pages: a power of two."""
    size = HEADER
    while size < MAX_HEADER and size // HEADER * PAGES_PER_HEADER * PAGE < 2 * data_bytes:
        size *= 2
    return size


def file_names(name: str, shards: int) -> tuple[str, ...]:
    """How MindRecord names the shards: no suffix for one, else the number with as many digits as the last one has."""
    digits = len(str(shards - 1))
    return (name,) if shards == 1 else tuple(f"{name}{shard:0{digits}d}" for shard in range(shards))


def read(folder: Path, file: str) -> Iterator[dict[str, np.ndarray]]:
    """The rows of one file in order; with several shards, of that shard alone."""
    reader = FileReader([str(folder / file)])
    try:
        yield from reader.get_next()
    finally:
        reader.close()


def _checked(row: Row, columns: tuple[str, ...], where: str) -> dict[str, np.ndarray]:
    """The writer drops rows of another type with a mere warning, so each value is checked and cast first."""
    limits = np.iinfo(np.int32)
    for column in columns:
        values = np.asarray(row[column])
        if (
            values.dtype.kind not in "iu"
            or values.ndim != 1
            or (values.size and not limits.min <= int(values.min()) <= int(values.max()) <= limits.max)
        ):
            raise StageFault(
                f"{column} is not a list of 32-bit integers: {values.dtype}, largest {values.max() if values.size else 'none'}",
                where=where,
                reason="the model reads int32 ids",
            )
    return {column: np.asarray(row[column]).astype(np.int32) for column in columns}


def _digest(row: Row, columns: tuple[str, ...]) -> str:
    return xxhash.xxh3_128_hexdigest(b"".join(np.ascontiguousarray(row[column], dtype="<i4").tobytes() for column in columns))


def _compare(folder: Path, written: Written, columns: tuple[str, ...], given: Counter[str]) -> None:
    """Every row given must come back as often as it was given; shards interleave, so the order is not compared."""
    found = Counter(_digest(row, columns) for file in written.files for row in read(folder, file))
    if found != given:
        lost, added = given - found, found - given
        raise StageFault(
            f"{lost.total()} of {written.rows} rows are missing and {added.total()} are new when {', '.join(written.files)} are read back",
            where=str(folder.name),
            reason="MindRecord dropped or changed rows",
            fix="report this as a bug of the pack stage",
        )
