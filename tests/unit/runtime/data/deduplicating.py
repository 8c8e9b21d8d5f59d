"""Deduplication of a few texts, and what near duplicates are by definition."""

import itertools
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from runtime import records
from runtime.contracts.dedup import Decontamination, Dedup, Documents, Lines, Near
from runtime.data.dedup import Corpus, Deduplication
from runtime.data.funnel import Funnel
from runtime.data.shingles import tokens
from runtime.placement import Placement
from runtime.records import Record

NEAR_SETTINGS = Near(threshold=0.8, permutations=128, ngram=5)
HAN = [chr(code) for code in range(0x4E00, 0x4E00 + 3000)]
NO_LINES = Lines(exact=False, min_length=20)
LARGE = Lines(exact=True, min_length=20)


def paragraph(seed: int, length: int = 200) -> str:
    return "".join(random.Random(seed).choices(HAN, k=length))


def edited(text: str, changes: int, seed: int) -> str:
    """The text with `changes` characters replaced."""
    characters, dice = list(text), random.Random(seed)
    for place in dice.sample(range(len(characters)), changes):
        characters[place] = dice.choice(HAN)
    return "".join(characters)


class Deduplicated:
    """What became of documents: the records `kept`, the `funnel`, the `metrics`, and the folders of the result and of scratch."""

    kept: list[Record]
    funnel: Funnel
    metrics: dict[str, Any]

    def __init__(self, folder: Path, documents: Sequence[Record], parameters: Dedup, evaluation: Sequence[str] = (), **placed: Any) -> None:
        given, self.out, self.work = folder / "in", folder / "out", folder / "work"
        self.out.mkdir(parents=True)
        records.write(given, documents)
        corpus = Corpus(records.parts(given), self.work, self.out, [], Placement(**placed))
        work = Deduplication(parameters, corpus)
        self.funnel = work.run(evaluation)
        self.kept, self.metrics = list(records.read(self.out)), work.metrics()
        for record in self.kept:
            assert record.text

    @property
    def texts(self) -> list[str]:
        return [record.text for record in self.kept]


def settings(
    *,
    near: Near | None = NEAR_SETTINGS,
    keep: str = "longest",
    lines: Lines = NO_LINES,
    exact: bool = True,
    priority: tuple[str, ...] = (),
    decontaminate: Decontamination | None = None,
) -> Dedup:
    return Dedup(lines=lines, documents=Documents(exact=exact, near=near), keep=keep, priority=priority, decontaminate=decontaminate)


def of_texts(texts: Sequence[str], source: str = "s") -> list[Record]:
    return [Record(str(index), text, source) for index, text in enumerate(texts)]


def shingle_set(text: str, ngram: int) -> frozenset[tuple[str, ...]]:
    """All runs of `ngram` tokens; a text with fewer tokens is one shingle."""
    parts = tokens(text)
    if len(parts) < ngram:
        return frozenset([tuple(parts)])
    return frozenset(zip(*(parts[start:] for start in range(ngram)), strict=False))


def similarity(left: frozenset[tuple[str, ...]], right: frozenset[tuple[str, ...]]) -> float:
    """Jaccard."""
    return len(left & right) / len(left | right)


def alike(texts: Sequence[str], threshold: float, ngram: int = 5) -> set[tuple[int, int]]:
    """All pairs at the threshold or above, by comparing each with each."""
    sets = [shingle_set(text, ngram) for text in texts]
    pairs = itertools.combinations(range(len(texts)), 2)
    return {(left, right) for left, right in pairs if similarity(sets[left], sets[right]) >= threshold}
