"""A global order of rows that are too many to be held: an external sort by rank, in two passes over files.

`scatter` writes the rows of one part, by ranges of ranks (buckets), to one file; `gather` reads one bucket out of all these files,
sorts it and writes parts. Memory: one part and its uses, or one bucket, whatever the corpus. Disk: the compressed rows once more.
"""

import math
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
import zstandard
from numpy.typing import NDArray

from runtime import records
from runtime.records import Limit

K = TypeVar("K")

RANKS = 1 << 64
_FILLED = 0.8  # of a part: ranks are spread by chance, and few buckets should overflow into a second part
_LEVEL = 1  # what is read once and deleted
_ROW = struct.Struct("<QI")  # rank, bytes of the line behind


def buckets(rows: int, size: int, part: Limit) -> int:
    """Into how many ranges of ranks rows of `size` bytes in all are divided, so that each comes to about a part."""
    fill = max(rows / part.rows, size / part.bytes)
    return 1 if fill <= 1 else math.ceil(fill / _FILLED)


def scatter(path: Path, rows: Iterable[tuple[int, K]], count: int, line: Callable[[K], bytes]) -> None:
    """Write rows, each with its rank, to a file of `count` buckets; `line` makes a row's JSON when it is written.

    The file: `count` + 1 offsets (64-bit, little-endian), then one compressed frame a bucket.
    """
    ordered = sorted(rows, key=lambda row: row[0])
    path.parent.mkdir(parents=True, exist_ok=True)
    offsets = np.zeros(count + 1, "<i8")
    with path.open("wb") as file:
        file.seek(offsets.nbytes)
        for bucket, part in enumerate(_divided(ordered, count)):
            offsets[bucket] = file.tell()
            if part:
                with zstandard.ZstdCompressor(level=_LEVEL).stream_writer(file, closefd=False) as stream:
                    for rank, key in part:
                        content = line(key)
                        stream.write(_ROW.pack(rank, len(content)) + content)
        offsets[count] = file.tell()
        file.seek(0)
        file.write(offsets.tobytes())


def _divided(ordered: Sequence[tuple[int, K]], count: int) -> Iterator[Sequence[tuple[int, K]]]:
    start = 0
    for bucket in range(count):
        end = start
        while end < len(ordered) and ordered[end][0] * count // RANKS == bucket:
            end += 1
        yield ordered[start:end]
        start = end


@dataclass(frozen=True)
class Gathering:
    """One bucket of all scattered files, and the folder that gets its rows as parts of at most `part`."""

    scattered: tuple[Path, ...]
    bucket: int
    folder: Path
    part: Limit


def gather(task: Gathering) -> int:
    """Write the rows of a bucket in the order of their ranks; how many there were. Rows of one rank stay in the order of the files."""
    rows = [row for path in task.scattered for row in _rows(path, task.bucket)]
    rows.sort(key=lambda row: row[0])
    return records.write_lines(task.folder, (line for _, line in rows), task.part)


def _rows(path: Path, bucket: int) -> Iterator[tuple[int, bytes]]:
    with path.open("rb") as file:
        file.seek(8 * bucket)
        start, end = _offsets(file.read(16))
        file.seek(start)
        frame = file.read(end - start)
    content = zstandard.ZstdDecompressor().decompressobj().decompress(frame) if frame else b""
    place = 0
    while place < len(content):
        rank, size = _ROW.unpack_from(content, place)
        place += _ROW.size + size
        yield rank, content[place - size : place]


def _offsets(content: bytes) -> tuple[int, int]:
    offsets: NDArray[np.int64] = np.frombuffer(content, "<i8")
    return int(offsets[0]), int(offsets[1])


def into_place(folders: Iterable[Path], out: Path) -> None:
    """Move the parts of buckets, in order, to a folder under running numbers."""
    out.mkdir(parents=True, exist_ok=True)
    for number, path in enumerate(path for folder in folders for path in records.parts(folder)):
        path.rename(out / records.part_name(number))
