"""What one task of ingest reads: some whole files of a source, or a range of lines of one long file.

The bounds follow from the sizes of the files alone, so they are the same for any number of workers.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import BinaryIO

from runtime.data.archives import block_of
from runtime.data.decoding import Codec, Hints, codec_of
from runtime.data.listing import RawFile
from runtime.data.quarantine import Unreadable
from runtime.raw_file import locked, size_of

GROUP = 16_000_000  # bytes on disk of the files of a task, and of a range of a long one
SAMPLE = 4_000_000  # bytes that the encoding of a long file is judged by
_WINDOWS, _WINDOW = 16, 64_000  # further places of a file that can be entered anywhere
_BLOCK = 1 << 20


@dataclass(frozen=True)
class Piece:
    """A file, or the lines of it that begin in the bytes from `start` up to `end`; `before`: line ends in front of `start`.

    `codec`: where it was found out before; None leaves it to the reader.
    """

    file: RawFile
    start: int = 0
    end: int | None = None
    before: int = 0
    codec: Codec | None = None

    @property
    def whole(self) -> bool:
        """Whether it is all of the file."""
        return self.start == 0 and self.end is None

    @property
    def last(self) -> bool:
        """Whether no other piece of its file follows."""
        return self.end is None or self.end >= self.file.size


@dataclass(frozen=True)
class Survey:
    """A long file: its hash, its codec (None where that is to be found out by the reader), line ends before each range."""

    sha256: str
    codec: Codec | None
    before: tuple[int, ...]


@dataclass(frozen=True)
class SurveyTask:
    """A file, what may be known of its encoding, and how long its ranges are."""

    file: RawFile
    hints: Hints
    range: int


def is_long(file: RawFile, format: str) -> bool:
    """Whether a file is read in ranges: rows of JSON have no line ends within, and bytes of an archive cannot be entered."""
    return format == "jsonl" and not file.compressed and file.size > GROUP


def survey(task: SurveyTask) -> Survey:
    """Read a long file once, for what all its ranges need to know. Raises StageFault."""
    file, digest, before = task.file, hashlib.sha256(), [0]
    lines = position = 0
    size_of(file.path, file.shown)
    try:
        with file.path.open("rb") as stream:
            while block := stream.read(min(_BLOCK, len(before) * task.range - position)):
                digest.update(block)
                lines, position = lines + block.count(b"\n"), position + len(block)
                if position == len(before) * task.range:
                    before.append(lines)
    except OSError as error:
        raise locked(error, file.shown) from None
    return Survey(digest.hexdigest(), _codec(file, task.hints), tuple(before))


def planned(files: Iterable[RawFile], surveys: Mapping[str, Survey]) -> Iterator[tuple[Piece, ...]]:
    """The pieces of each task, in the order of the files. `surveys`: of the long ones, by their path below the source."""
    group, size = list[Piece](), 0
    for file in files:
        ranges = _ranges(file, surveys[file.relative]) if file.relative in surveys else []
        if group and (ranges or size + file.size > GROUP):
            yield tuple(group)
            group, size = [], 0
        yield from ((piece,) for piece in ranges)
        if not ranges:
            group.append(Piece(file))
            size += file.size
    if group:
        yield tuple(group)


def sample_of(file: RawFile) -> tuple[bytes, bool]:
    """What the encoding of a file is judged by, and whether it is the whole file. Raises StageFault and Unreadable.

    The beginning and, of a long file that can be entered anywhere, whole lines from places spread over the rest.
    """
    with file.open() as stream:
        head = block_of(stream, SAMPLE + 1)
        if len(head) <= SAMPLE:
            return head, _is_sound(stream)
        head = head[: head.rfind(b"\n") + 1] or head[:SAMPLE]
        if file.compressed:
            return head, False
        step = (file.size - len(head)) // _WINDOWS
        for window in range(_WINDOWS):
            stream.seek(len(head) + window * step)
            _, _, whole_lines = stream.read(_WINDOW).partition(b"\n")
            head += whole_lines[: whole_lines.rfind(b"\n") + 1]
    return head, False


def _is_sound(stream: BinaryIO) -> bool:
    """Whether a stream that was read to its end ends there, or is damaged."""
    try:
        return not stream.read(1)
    except Unreadable:
        return False


def _codec(file: RawFile, hints: Hints) -> Codec | None:
    try:
        sample, whole = sample_of(file)
        return codec_of(sample, whole, file.shown, hints)
    except Unreadable:
        return None


def _ranges(file: RawFile, known: Survey) -> list[Piece]:
    """None where the bytes of the file cannot be split at line ends."""
    if known.codec is None or not known.codec.splits_at_lf:
        return []
    starts = range(0, file.size, GROUP)
    return [Piece(file, start, start + GROUP, known.before[number], known.codec) for number, start in enumerate(starts)]
