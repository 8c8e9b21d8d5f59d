"""What a tokenizer is trained on: lines of training documents, all of them or a sample of a size that memory can hold.

SentencePiece holds its sentences in memory, with some ten times their size beside them. Where the documents are larger than the
budget, those of the lowest ranks are taken, in the order of the corpus: which ones depends on their ids and the budget alone.
Choosing needs 16 bytes of memory a document.
"""

import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from runtime import records
from runtime.data.ordering import rank

MAX_SENTENCE_BYTES = 4096  # SentencePiece skips longer ones without a word
BREAKS = re.compile("[\n\t\u2585]")  # the last one is SentencePiece's own sign of unknown text: it skips lines that hold it
SEED = 0


@dataclass
class Sentences:
    """Training sentences of the documents, counted while they pass: their lines, in parts where SentencePiece would skip them."""

    documents: int = 0
    bytes: int = 0
    sentences: int = 0
    split: int = 0
    characters: Counter[str] = field(default_factory=Counter[str])

    def of(self, texts: Iterable[str]) -> Iterator[str]:
        """The sentences of all texts, in order; never an empty one."""
        for text in texts:
            self.documents += 1
            self.bytes += len(text.encode())
            self.characters.update(text)
            for line in BREAKS.split(text):
                parts = split_line(line, MAX_SENTENCE_BYTES)
                self.split += len(parts) > 1
                self.sentences += len(parts)
                yield from parts


def split_line(line: str, limit: int) -> list[str]:
    """Cut a line into parts of at most `limit` UTF-8 bytes, after a blank where there is one; "" has no parts."""
    parts: list[str] = []
    while len(line) * 4 > limit and len(line.encode()) > limit:
        head = line.encode()[:limit].decode(errors="ignore")
        cut = head.rfind(" ") + 1 or len(head)
        parts.append(line[:cut])
        line = line[cut:]
    return [*parts, line] if line else parts


@dataclass(frozen=True)
class Sample:
    """Documents of rank `below` or less (None: all of them), of `documents` with `bytes` of text in all."""

    documents: int
    bytes: int
    below: int | None

    def of(self, folder: Path) -> Iterator[str]:
        """The texts of the sample, in the order of the corpus."""
        for record in records.read(folder):
            if self.below is None or rank(SEED, record.id) <= self.below:
                yield record.text


def draw(folder: Path, budget: int) -> Sample:
    """Choose at most `budget` UTF-8 bytes of the documents of a folder, and at least one document."""
    ranks, sizes = array("Q"), array("Q")
    for record in records.read(folder):
        ranks.append(rank(SEED, record.id))
        sizes.append(record.size)
    placed, held = np.frombuffer(ranks, np.uint64), np.frombuffer(sizes, np.uint64)
    total = int(held.sum())
    if total <= budget:
        return Sample(len(ranks), total, None)
    order = np.argsort(placed, kind="stable")
    fitting = int(np.searchsorted(np.cumsum(held[order]), budget, side="right"))
    return Sample(len(ranks), total, int(placed[order[max(fitting - 1, 0)]]))
