"""How much of the validation text is in the training text: runs of tokens that both hold.

A document whose runs are mostly in the training text is scored on what was learned by heart (Brown et al. 2020, "Language models
are few-shot learners", appendix C, with runs of 13 tokens). Runs are 64-bit numbers, and at most MOST of validation are looked
for, so the memory is bounded: of more, a fixed share is looked for, chosen by the numbers themselves.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from runtime import engine, records
from runtime.data.token_hashes import Hashes, hashed, runs
from runtime.placement import Placement
from runtime.records import Record

MOST = 1 << 23
MOSTLY = 0.5  # of its runs: such a document counts as seen
_AT_ONCE = 500  # documents whose tokens are held at a time
_BITS = 26


@dataclass(frozen=True)
class Scan:
    """A part of one side. `known`: sorted runs of validation that are looked for, as a file; `below`: only smaller numbers count."""

    part: Path
    ngram: int
    below: int
    known: Path | None = None
    seen: Path | None = None


def runs_of(texts: Sequence[str], ngram: int) -> tuple[Hashes, NDArray[np.int64]]:
    """All runs of `ngram` tokens, and the number of the text each is of. A text with fewer tokens is one run, one with none has none."""
    tokens = hashed(texts)
    owner = np.repeat(np.arange(len(texts)), tokens.counts)
    found = runs(tokens.hashes, ngram)
    inside = owner[: len(found)] == owner[len(owner) - len(found) :]
    short = np.flatnonzero((tokens.counts > 0) & (tokens.counts < ngram))
    starts = tokens.starts
    whole = [runs(tokens.hashes[starts[text] : starts[text] + tokens.counts[text]], int(tokens.counts[text]))[0] for text in short]
    return (
        np.concatenate([found[inside], np.asarray(whole, np.uint64)]),
        np.concatenate([owner[: len(found)][inside], short.astype(np.int64)]),
    )


def _batches(part: Path) -> Iterator[list[str]]:
    texts = (record.text for record in records.read_part(part) if _first_use(record))
    while batch := list(islice(texts, _AT_ONCE)):
        yield batch


def _first_use(record: Record) -> bool:
    return not record.meta.get("epoch")


def distinct(task: Scan) -> Hashes:
    """The distinct runs of a part."""
    found = [_sampled(runs_of(texts, task.ngram)[0], task.below) for texts in _batches(task.part)]
    return np.unique(np.concatenate([np.zeros(0, np.uint64), *found]))


def _sampled(found: Hashes, below: int) -> Hashes:
    return found if below >= 1 << 64 else found[found < np.uint64(below)]


class Known:
    """Runs that are looked for. A table of their first bits turns most others away before the search."""

    def __init__(self, path: Path) -> None:
        self.runs: Hashes = np.load(path)
        bits = min(max(len(self.runs).bit_length() + 3, 10), _BITS)
        self._shift = np.uint64(64 - bits)
        self._table = np.zeros(1 << bits, bool)
        self._table[self.runs >> self._shift] = True

    def places(self, found: Hashes) -> NDArray[np.int64]:
        """Places among the known runs of those that are known; -1 of the others."""
        places = np.full(len(found), -1, np.int64)
        likely = np.flatnonzero(self._table[found >> self._shift])
        at = np.minimum(np.searchsorted(self.runs, found[likely]), len(self.runs) - 1)
        same = self.runs[at] == found[likely]
        places[likely[same]] = at[same]
        return places


def met(task: Scan) -> NDArray[np.int64]:
    """Places among the known runs of those that a training part holds."""
    assert task.known
    known, found = Known(task.known), list[NDArray[np.int64]]()
    for texts in _batches(task.part):
        places = known.places(runs_of(texts, task.ngram)[0])
        found.append(np.unique(places[places >= 0]))
    return np.unique(np.concatenate([np.zeros(0, np.int64), *found]))


def mostly_seen(task: Scan) -> int:
    """Documents of a validation part more than MOSTLY of whose runs are in the training text."""
    assert task.known and task.seen
    known, seen, count = Known(task.known), np.load(task.seen), 0
    for texts in _batches(task.part):
        found, owner = runs_of(texts, task.ngram)
        places = known.places(found)
        looked_for = places >= 0
        of_text = np.bincount(owner[looked_for], minlength=len(texts))
        of_seen = np.bincount(owner[looked_for][seen[places[looked_for]]], minlength=len(texts))
        count += int((of_seen > MOSTLY * of_text).sum())
    return count


def measured(train: Sequence[Path], validation: Sequence[Path], ngram: int, scratch: Path, placement: Placement) -> dict[str, Any]:
    """Runs of validation, how many of them training holds (count, share in [0, 1]), and documents that it mostly holds."""
    scratch.mkdir(parents=True, exist_ok=True)
    looked_for, below = _looked_for(validation, ngram, placement)
    known, marks = scratch / "runs.npy", scratch / "seen.npy"
    np.save(known, looked_for)
    seen = np.zeros(len(looked_for), bool)
    if len(looked_for):
        for places in engine.each(met, [Scan(part, ngram, below, known) for part in train], placement):
            seen[places] = True
    np.save(marks, seen)
    documents = engine.each(mostly_seen, [Scan(part, ngram, below, known, marks) for part in validation], placement)
    return {
        "ngram": ngram,
        "sampled": round(below / 2**64, 6),
        "runs": len(looked_for),
        "runs_in_training": int(seen.sum()),
        "share": round(float(seen.mean()), 6) if len(seen) else 0.0,
        "documents_mostly_seen": sum(documents) if len(looked_for) else 0,
    }


def _looked_for(validation: Sequence[Path], ngram: int, placement: Placement) -> tuple[Hashes, int]:
    found, below = np.zeros(0, np.uint64), 1 << 64
    for part in engine.each(distinct, [Scan(path, ngram, below) for path in validation], placement):
        found = np.union1d(found, _sampled(part, below))
        while len(found) > MOST:
            below //= 2
            found = _sampled(found, below)
    return found, below
