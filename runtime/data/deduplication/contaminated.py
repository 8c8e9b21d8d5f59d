"""Evaluation texts that must not be in the corpus: where they come from, and what happens to a document that has some."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

import numpy as np

from runtime.contracts.dedup import Decontamination
from runtime.data import token_hashes
from runtime.data.characters import tidy
from runtime.data.contamination import Contamination, comparable
from runtime.data.deduplication.units import sentences
from runtime.evaluation import cases
from runtime.faults import StageFault
from runtime.raw_file import text_of

DROP, CUT = "drop", "cut"
LEAST = 0.2  # of its characters: a document of which less is left is a torso, and is dropped


@dataclass(frozen=True)
class Cleansed:
    """A document that had a passage. `text`: what is left of it, None where it is dropped; `passage`: the first of them."""

    text: str | None
    passage: str


@dataclass(frozen=True)
class Cleanser:
    """What is looked for, and what is done: `drop` the document, or `cut` the sentences."""

    known: Contamination
    action: str

    @classmethod
    def of(cls, stored: Path | None, settings: Decontamination | None) -> "Cleanser | None":
        """None where nothing is looked for. `stored`: what `Contamination.write` has written."""
        if stored is None or settings is None:
            return None
        return cls(_stored(stored.absolute(), stored.stat().st_mtime_ns), settings.action)

    def cleansed(self, texts: Sequence[str]) -> Iterator[tuple[int, Cleansed]]:
        """Those of the texts that have a passage, with their places."""
        for place, passage in enumerate(self.known.hits(texts)):
            if passage is not None:
                yield place, Cleansed(self._left(texts[place]) if self.action == CUT else None, passage)

    def _left(self, text: str) -> str | None:
        """The text without the sentences that a passage touches; None where too little is left."""
        lines = [sentences(line) for line in text.split("\n")]
        flat = [sentence for line in lines for sentence in line]
        touched = self._touched(text, flat)
        left, place = list[str](), 0
        for line in lines:
            kept = [sentence for offset, sentence in enumerate(line) if not touched[place + offset]]
            place += len(line)
            if kept or not line:
                left.append("".join(kept))
        rest = tidy("\n".join(left))
        return rest if len(rest) >= LEAST * len(text) and rest.strip() else None

    def _touched(self, text: str, flat: Sequence[str]) -> list[bool]:
        """Whether each sentence has a token of a passage; sentences end where tokens do, so their tokens are those of the text."""
        ends = np.cumsum(token_hashes.hashed([comparable(sentence) for sentence in flat]).counts)
        touched = np.zeros(len(flat), bool)
        for first, last in self.known.passages(text):
            touched[int(np.searchsorted(ends, first, "right")) : int(np.searchsorted(ends, last - 1, "right")) + 1] = True
        return touched.tolist()


@lru_cache(maxsize=1)
def _stored(path: Path, _written: int) -> Contamination:
    return Contamination.read(path)


def evaluation_texts(settings: Decontamination, root: Path) -> Iterator[str]:
    """The texts of all files and of the core cases. Raises StageFault for a file that cannot be read."""
    for name in settings.files:
        yield from _texts_of_file(root / name, name)
    for case in cases.read(root / settings.cases, settings.cases) if settings.cases else ():
        yield from (case.instruction, case.input, f"{case.instruction}\n{case.input}\n{case.reference}")


def _texts_of_file(path: Path, shown: str) -> Iterator[str]:
    """The strings of each row of a `.jsonl`, alone and together; the lines of any other file."""
    lines = text_of(path, shown, "mend data.pretrain.dedup.decontaminate.paths").split("\n")
    if path.suffix != ".jsonl":
        yield from lines
        return
    for number, line in enumerate(lines, 1):
        if line.strip():
            found = list(_strings(_row(line, f"{shown}:{number}")))
            yield from (*found, "\n".join(found))


def _row(line: str, where: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise StageFault(f"not JSON: {error}", where=where, fix="write one JSON value a line") from None


def _strings(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for one in cast(dict[str, Any], value).values():
                yield from _strings(one)
        case list():
            for one in cast(list[Any], value):
                yield from _strings(one)
        case _:
            return
