"""First look at the corpus: keys of documents, bands of their signatures, keys of their lines; and text of evaluation sets.

Tasks are the parts of the corpus. A task holds a batch of documents, and of each document 16 bytes for the exact key, 12 for
each band and 12 for each line that is long enough.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import xxhash
from numpy.typing import NDArray

from runtime import records
from runtime.contracts.dedup import Dedup, Lines, Near
from runtime.data import token_hashes
from runtime.data.deduplication import partitions
from runtime.data.deduplication.contaminated import CUT, DROP, Cleansed, Cleanser
from runtime.data.deduplication.texts import write_texts
from runtime.data.deduplication.units import keyed
from runtime.data.funnel import EXAMPLE_CHARACTERS, key_of
from runtime.data.minhash import band_keys, bands, signatures
from runtime.data.spread import Spread
from runtime.records import Record

EXAMPLES = 20  # documents of each source with text of an evaluation set that are written down
CODE = "code"  # the domain of programs, as runtime.contracts.rules has it, which this stage has no other use for
BATCH = 1 << 20  # characters of the documents that are hashed together

# Of each document: characters, source (its number among those of the part), and whether it holds text of an evaluation set.
ROW = np.dtype([("length", np.uint32), ("source", np.uint16), ("contaminated", np.bool_)])

Columns = dict[str, NDArray[Any]]
NOTHING: Columns = {"keys": np.zeros(0, np.uint64), "rows": np.zeros(0, np.uint32), "again": np.zeros(0, np.bool_)}


@dataclass(frozen=True)
class SurveyTask:
    """One part. `evaluation`: the file of what must not occur, None where nothing is looked for."""

    part: Path
    number: int
    work: Path
    parameters: Dedup
    evaluation: Path | None


@dataclass
class Surveyed:
    """What a part holds. `sources`: in the order they were met; `bands`, `lines`: how many keys of them were written.

    Of text of the evaluation sets: documents cut and characters lost, per source, and EXAMPLES documents of each source.
    """

    sources: list[str] = field(default_factory=list)
    documents: int = 0
    bands: int = 0
    lines: int = 0
    cut: Counter[str] = field(default_factory=Counter)
    cut_characters: Counter[str] = field(default_factory=Counter)
    examples: dict[str, Spread] = field(default_factory=dict)


def survey(task: SurveyTask) -> Surveyed:
    """Write the keys of one part."""
    work = _Survey(task)
    for batch in batches(records.read_part(task.part)):
        work.add(batch)
    return work.finished()


def batches(documents: Iterator[Record]) -> Iterator[list[Record]]:
    """Documents in order, together about BATCH characters."""
    batch, size = list[Record](), 0
    for document in documents:
        batch.append(document)
        size += len(document.text)
        if size >= BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def exact_key(text: str) -> bytes:
    """16 bytes; equal for texts that are equal but for white space."""
    return xxhash.xxh3_128_digest(" ".join(text.split()).encode())


def halves(keys: list[bytes]) -> tuple[token_hashes.Hashes, token_hashes.Hashes]:
    """The first and the second 64 bits of 16-byte keys."""
    pairs = np.frombuffer(b"".join(keys), ">u8").reshape(-1, 2).astype(np.uint64)
    return pairs[:, 0], pairs[:, 1]


class _Survey:
    def __init__(self, task: SurveyTask) -> None:
        self._task, self._found = task, Surveyed()
        self._cleanser = Cleanser.of(task.evaluation, task.parameters.decontaminate)
        self._of_source: dict[str, int] = {}
        self._rows: list[tuple[int, int, bool]] = []
        self._exact: list[bytes] = []
        self._bands: list[Columns] = []
        self._lines: list[Columns] = []
        self._texts: dict[int, str] = {}

    def add(self, batch: list[Record]) -> None:
        first = len(self._rows)
        texts = self._cleansed(batch, first)
        for record, text in zip(batch, texts, strict=True):
            source = self._of_source.setdefault(record.source, len(self._of_source))
            self._rows.append((len(record.text if text is None else text), source, text is None))
        known = [(first + place, text) for place, text in enumerate(texts) if text is not None]
        settings = self._task.parameters
        self._exact += [b"" if text is None else exact_key(text) for text in texts]
        if settings.documents.near and known:
            self._bands.append(_bands_of(known, settings.documents.near))
        if settings.lines.exact:
            prose = [(row, text) for row, text in known if batch[row - first].meta.get("domain") != CODE]
            self._lines.append(_lines_of(prose, settings.lines))

    def _cleansed(self, batch: list[Record], first: int) -> list[str | None]:
        """The texts as later steps see them; None for one that is dropped."""
        result: list[str | None] = [record.text for record in batch]
        for place, found in self._cleanser.cleansed([record.text for record in batch]) if self._cleanser else ():
            result[place] = found.text
            self._note(batch[place], found)
            if found.text is not None:
                self._texts[first + place] = found.text
        return result

    def _note(self, record: Record, found: Cleansed) -> None:
        removed = len(record.text) - len(found.text or "")
        self._found.cut[record.source] += found.text is not None
        self._found.cut_characters[record.source] += removed if found.text is not None else 0
        chosen = self._found.examples.setdefault(record.source, Spread(EXAMPLES))
        chosen.offer(key_of(record), lambda: _example(record, found))

    def finished(self) -> Surveyed:
        task, found = self._task, self._found
        found.sources, found.documents = list(self._of_source), len(self._rows)
        np.save(partitions.path(task.work, "documents", task.number, "rows"), np.array(self._rows, ROW))
        rows = [row for row, key in enumerate(self._exact) if key]
        high, low = halves([key for key in self._exact if key])
        partitions.write(task.work, "exact", task.number, high, low=low, rows=np.array(rows, np.uint32))
        found.bands, found.lines = self._write("bands", self._bands), self._write("lines", self._lines)
        write_texts(task.work, task.number, self._texts)
        return found

    def _write(self, kind: str, found: list[Columns]) -> int:
        """Write one run of what the batches gave; returns its rows."""
        whole = {name: np.concatenate([columns[name] for columns in found]) for name in found[0]} if found else NOTHING
        partitions.write(self._task.work, kind, self._task.number, **whole)
        return len(whole["keys"])


def _example(record: Record, found: Cleansed) -> dict[str, Any]:
    shown = {"id": record.id, "source": record.source, "passage": found.passage, "text": record.text[:EXAMPLE_CHARACTERS]}
    return {**shown, "action": DROP if found.text is None else CUT}


def _bands_of(texts: list[tuple[int, str]], near: Near) -> Columns:
    """The keys of all bands. A text shorter than a shingle, which is only ever like its equals, has one key instead of all."""
    bare = [text for _, text in texts]
    tokens = token_hashes.hashed(bare)
    shingles = token_hashes.shingles(bare, tokens, near.ngram)
    rows = np.array([row for row, _ in texts], np.uint32)
    some = tokens.counts > 0
    if not some.any():
        return {"keys": np.zeros(0, np.uint64), "rows": rows[:0]}
    count, height = bands(near.threshold, near.permutations)
    signed = signatures(token_hashes.Tokens(shingles.hashes, shingles.counts[some]), near.permutations)
    keys = band_keys(signed, count, height)
    wanted = np.ones(keys.shape, bool)
    wanted[tokens.counts[some] < near.ngram, 1:] = False
    return {"keys": keys[wanted], "rows": np.repeat(rows[some], wanted.sum(axis=1))}


def _lines_of(texts: list[tuple[int, str]], limits: Lines) -> Columns:
    """Each line of a document once: its key, and whether the document has it again."""
    rows, keys, again = list[int](), list[int](), list[bool]()
    for row, text in texts:
        found = [key for _, key in keyed(text, limits)]
        times = Counter(found) if len(set(found)) < len(found) else dict.fromkeys(found, 1)
        rows += [row] * len(times)
        keys += times
        again += [count > 1 for count in times.values()]
    return {"keys": np.array(keys, np.uint64), "rows": np.array(rows, np.uint32), "again": np.array(again, np.bool_)}
