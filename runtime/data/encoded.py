"""The documents of a corpus as ids: each part of it becomes a file of ids, made by a task of `engine.each`.

Memory: one part a worker, as text and as ids (some 30 bytes an id). The files lie in the stage's scratch folder, 8 bytes an id,
and each is deleted when its rows are cut: few of them exist at a time.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from runtime import engine, records
from runtime.data import encoding
from runtime.data.encoding import Vocabulary
from runtime.data.rows import Stream, document_ids
from runtime.placement import Placement


@dataclass(frozen=True)
class EncodeTask:
    """One part of records, where its ids go, and the tokenizer folder with the identity it must have."""

    source: Path
    target: Path
    tokenizer: Path
    identity: str


@dataclass(frozen=True)
class Encoded:
    """What a task made: `names`: sources by their number in the file; `documents`, `tokens`, `bytes`: by source, in that order."""

    path: Path
    names: tuple[str, ...]
    documents: tuple[int, ...]
    tokens: tuple[int, ...]
    bytes: tuple[int, ...]

    def stream(self, numbers: Sequence[int]) -> Stream:
        """The documents, in order; `numbers`: of the sources, to be used instead of those of the file."""
        with self.path.open("rb") as file:
            ids, sizes, lengths, sources = (np.load(file) for _ in range(4))
        return Stream(ids, sizes, np.repeat(np.asarray([*numbers], np.int32)[sources], lengths), lengths)


def each_part(parts: Sequence[Path], scratch: Path, tokenizer: Path, identity: str, placement: Placement) -> Iterator[Encoded]:
    """The parts in order, encoded by as many workers as the placement says. A file is deleted when the next one is asked for."""
    scratch.mkdir(parents=True, exist_ok=True)
    tasks = [EncodeTask(part, scratch / f"ids-{number:05d}.npy", tokenizer, identity) for number, part in enumerate(parts)]
    for encoded in engine.each(encode_part, tasks, placement):
        yield encoded
        encoded.path.unlink()


@lru_cache(maxsize=1)
def vocabulary(folder: Path, _identity: str) -> Vocabulary:
    """A tokenizer folder, loaded once a process; `_identity` keeps folders of the same name apart."""
    return encoding.load(folder)


def encode_part(task: EncodeTask) -> Encoded:
    """Encode the documents of one part into a file."""
    known, numbers, sources = vocabulary(task.tokenizer, task.identity), dict[str, int](), list[int]()

    def documents() -> Iterator[tuple[np.ndarray, np.ndarray]]:
        for record in records.read_part(task.source):
            sources.append(numbers.setdefault(record.source, len(numbers)))
            yield document_ids(known, record.text)

    made = list(documents())
    stream = Stream.of(made)
    of_document = np.asarray(sources, np.int32)
    with task.target.open("wb") as file:
        for values in (stream.ids, stream.sizes, stream.lengths, of_document):
            np.save(file, values)
    sizes = np.asarray([int(document_sizes.sum()) for _, document_sizes in made], np.int64)
    sums = (np.bincount(of_document, weights, len(numbers)).astype(np.int64) for weights in (None, stream.lengths, sizes))
    return Encoded(task.target, tuple(numbers), *(tuple(map(int, total)) for total in sums))
