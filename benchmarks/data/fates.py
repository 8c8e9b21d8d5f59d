"""What became of every document of a corpus: here, in datatrove's chain, and where the two differ."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import orjson
from experiment import CHAIN, TEXT, Experiment

from runtime import records

KEPT = "kept"
Fates = Mapping[str, str]


@dataclass(frozen=True)
class Corpus:
    """Names and sizes of the documents; `places`: (source, line of its file) -> name."""

    sizes: dict[str, int]
    places: dict[tuple[str, int], str]

    @classmethod
    def read(cls, folder: Path) -> "Corpus":
        """Read a folder that `corpus.py` made."""
        sizes: dict[str, int] = {}
        places: dict[tuple[str, int], str] = {}
        for source in TEXT:
            with (folder / f"text/{source}.jsonl").open("rb") as file:
                for number, line in enumerate(file, 1):
                    row = orjson.loads(line)
                    sizes[row["name"]] = len(row["text"].encode())
                    places[source, number] = row["name"]
        return cls(sizes, places)


def ours(experiment: Experiment, corpus: Corpus) -> dict[str, str]:
    """KEPT, or the stage that dropped it."""
    fates = dict.fromkeys(corpus.sizes, CHAIN[0])
    for stage, after in zip(CHAIN, (*CHAIN[1:], KEPT), strict=True):
        for place in _left(experiment.folder / "corpus" / stage):
            fates[corpus.places[place]] = after
    return fates


def _left(folder: Path) -> Iterator[tuple[str, int]]:
    for record in records.read(folder):
        yield record.source, record.meta["line"]


def theirs(folder: Path) -> dict[str, str]:
    """KEPT, or the step that dropped it, as `datatrove_chain.py` tells."""
    return json.loads((folder / "fates.json").read_bytes())


def compared(first: Fates, second: Fates, sizes: Mapping[str, int]) -> list[tuple[str, str, int, float]]:
    """(fate here, fate there, documents, MB of text), most text first; `second` by the step alone."""
    documents, size = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for name, fate in first.items():
        pair = fate, second.get(name, "lost").split()[0]
        documents[pair] += 1
        size[pair] += sizes[name]
    return [(*pair, documents[pair], size[pair] / 1e6) for pair, _ in size.most_common()]
