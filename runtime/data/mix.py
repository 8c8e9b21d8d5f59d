"""mix: documents of every source by weight, or by an amount of its own, up to a budget, in a seeded order.

A document is taken whole, and none that would exceed what its source may give: the mix is never larger than the budget.
Sources that are too small are repeated, whole epochs first, at most `epochs_max` times; what they still lack is missing
from the mix, is given by the others or is refused, as `exhausted` says (`allocation`). The metrics state what was asked and
what came out.

Memory: about 60 bytes a document, and a few parts for each worker. The corpus is read twice: for the sizes, on which the choice
depends, and for the text, which an external sort (`shuffle`) brings into order.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

import numpy as np
import orjson
from numpy.typing import NDArray

from runtime import engine, records
from runtime.contracts.mix import Mix
from runtime.data import shuffle
from runtime.data.drawing import UNKNOWN, Counts, Documents, choose
from runtime.data.funnel import Funnel
from runtime.data.language import primary
from runtime.data.ordering import rank
from runtime.data.realised import refuse_empty, refuse_short, refuse_undrawn, report
from runtime.data.shuffle import Gathering
from runtime.records import Record
from runtime.stage import Stage

T = TypeVar("T", bound=np.generic)

OVER_BUDGET, NO_WEIGHT = "over_budget", "no_weight"
_OVERHEAD = 250  # bytes of JSON around a text: id, source, language, meta


@dataclass(frozen=True)
class Survey:
    """A part to be measured; the ids of its documents go to a file of their own, so that no process has to hold them all."""

    part: Path
    ids: Path
    mix: Mix


@dataclass(frozen=True)
class Ranking:
    """Documents of a part that are to be ranked: `epochs` by the number of their source."""

    ids: Path
    source: NDArray[np.int32]
    epochs: Mapping[int, int]
    seed: int


@dataclass(frozen=True)
class Placing:
    """A part whose documents go, as often as `uses` says, to the buckets of a file."""

    part: Path
    target: Path
    mix: Mix
    uses: Counts
    buckets: int


@dataclass
class Placed:
    """What came of parts: the flow of documents, and UTF-8 bytes by domain and by language."""

    funnel: Funnel
    domains: Counter[str] = field(default_factory=Counter[str])
    languages: Counter[str] = field(default_factory=Counter[str])

    def add(self, other: "Placed") -> None:
        """Count what came of another part."""
        self.funnel.add(other.funnel)
        self.domains.update(other.domains)
        self.languages.update(other.languages)


def estimated_tokens(mix: Mix, language: str | None, size: int) -> int:
    """Tokens of a text of `size` UTF-8 bytes, at least 1: the tokenizer is trained later, so a declared ratio stands for it."""
    ratios = mix.bytes_per_token_of
    return max(1, round(size / ratios.get(language or "", ratios.get(primary(language), mix.bytes_per_token))))


def survey(task: Survey) -> Documents:
    """Source and size of each document of a part."""
    names = tuple(task.mix.sources)
    numbers = {name: number for number, name in enumerate(names)}
    rows, ids = list[tuple[int, int, int]](), list[str]()
    for record in records.read_part(task.part):
        size = record.size
        rows.append((numbers.get(record.source, UNKNOWN), size, estimated_tokens(task.mix, record.language, size)))
        ids.append(record.id)
    task.ids.write_bytes(orjson.dumps(ids))
    table = np.asarray(rows, np.int64).reshape(-1, 3)
    return Documents(names, table[:, 0].astype(np.int32), table[:, 1], table[:, 2])


def ranks(task: Ranking) -> NDArray[np.uint64]:
    """The place of each document in the last epoch of its source; 0 where its source is not asked for."""
    ids: list[str] = orjson.loads(task.ids.read_bytes())
    asked = ((task.epochs.get(source), id) for source, id in zip(task.source.tolist(), ids, strict=True))
    return np.fromiter((0 if epoch is None else rank(task.seed, "draw", epoch, id) for epoch, id in asked), np.uint64, len(ids))


def place(task: Placing) -> Placed:
    """Bring the uses of a part's documents into the order of the mix; a repeat says in `meta` which epoch it belongs to."""
    placed, documents = Placed(Funnel(task.mix.sources)), list[Record]()
    rows = list[tuple[int, tuple[int, int]]]()
    for record, count in zip(records.read_part(task.part), task.uses.tolist(), strict=True):
        _count(placed, task.mix, record, count)
        rows += ((rank(task.mix.seed, "order", record.source, epoch, record.id), (len(documents), epoch)) for epoch in range(count))
        documents.append(record)

    def line(use: tuple[int, int]) -> bytes:
        record, epoch = documents[use[0]], use[1]
        return records.encode(replace(record, meta={**record.meta, "epoch": epoch}) if epoch else record)

    shuffle.scatter(task.target, rows, task.buckets, line)
    return placed


def _count(placed: Placed, mix: Mix, record: Record, count: int) -> None:
    placed.funnel.enter(record)
    if count == 0:
        placed.funnel.drop(record, OVER_BUDGET if record.source in mix.sources and asked(mix, record.source) else NO_WEIGHT)
        return
    placed.funnel.keep(record)
    for _ in range(count - 1):
        placed.funnel.repeat(record)
    size = record.size * count
    placed.domains[str(record.meta.get("domain", "general"))] += size
    placed.languages[record.language or "und"] += size


def asked(mix: Mix, name: str) -> bool:
    """Whether a source is to give anything."""
    return mix.sources[name].own or mix.sources[name].weight > 0


@dataclass(frozen=True)
class Corpus:
    """The parts of the input, with the documents of all of them and the number of the first one of each part."""

    parts: Sequence[Path]
    ids: Sequence[Path]
    documents: Documents
    starts: Sequence[int]

    def of_parts(self, values: NDArray[T]) -> Iterator[NDArray[T]]:
        """An array of all documents, part by part."""
        return (values[first:last] for first, last in pairwise(self.starts))


def surveyed(stage: Stage[Mix], paths: Sequence[Path]) -> Corpus:
    """Measure every document."""
    folder, mix = stage.scratch / "ids", stage.parameters
    folder.mkdir(parents=True, exist_ok=True)
    tasks = [Survey(path, folder / f"{number:05d}.json", mix) for number, path in enumerate(paths)]
    found = list(engine.each(survey, tasks, stage.placement))
    joined = Documents(
        tuple(mix.sources),
        np.concatenate([part.source for part in found]),
        np.concatenate([part.bytes for part in found]),
        np.concatenate([part.tokens for part in found]),
    )
    starts = np.cumsum([0, *(len(part.source) for part in found)]).tolist()
    return Corpus(paths, [task.ids for task in tasks], joined, starts)


def chosen(stage: Stage[Mix], corpus: Corpus) -> Counts:
    """How often each document is used."""
    mix, documents = stage.parameters, corpus.documents

    def ranked(epochs: Mapping[str, int]) -> NDArray[np.uint64]:
        numbers = {documents.names.index(name): epoch for name, epoch in epochs.items()}
        sources = corpus.of_parts(documents.source)
        tasks = [Ranking(ids, source, numbers, mix.seed) for ids, source in zip(corpus.ids, sources, strict=True)]
        return np.concatenate(list(engine.each(ranks, tasks, stage.placement)))

    return choose(mix, documents, ranked)


def written(stage: Stage[Mix], corpus: Corpus, uses: Counts) -> Placed:
    """Write the mix, and tell what came of it."""
    mix, placed = stage.parameters, Placed(Funnel(stage.parameters.sources))
    size = int(((corpus.documents.bytes + _OVERHEAD) * uses).sum())
    count = shuffle.buckets(int(uses.sum()), size, records.PART)
    scattered = tuple(stage.scratch / "scattered" / f"{number:05d}" for number in range(len(corpus.parts)))
    of_parts = zip(corpus.parts, scattered, corpus.of_parts(uses), strict=True)
    tasks = [Placing(part, target, mix, used, count) for part, target, used in of_parts]
    with stage.bar(len(uses), "documents") as bar:
        for part in engine.each(place, tasks, stage.placement):
            placed.add(part)
            bar.advance(part.funnel.total.documents_in)
    gathered = stage.scratch / "gathered"
    gatherings = [Gathering(scattered, bucket, gathered / f"{bucket:05d}", records.PART) for bucket in range(count)]
    filled = [one.folder for one, rows in zip(gatherings, engine.each(shuffle.gather, gatherings, stage.placement), strict=True) if rows]
    shuffle.into_place(filled, stage.out)
    return placed


def run(stage: Stage[Mix]) -> None:
    """Mix the sources; see the module."""
    mix, corpus = stage.parameters, surveyed(stage, records.parts(stage.input("corpus/filter")))
    refuse_empty(mix, corpus.documents.held())
    uses = chosen(stage, corpus)
    refuse_undrawn(mix, corpus.documents, uses)
    refuse_short(mix, corpus.documents, uses)
    placed = written(stage, corpus, uses)
    told = report(mix, corpus.documents, uses)
    for warning in told["warnings"]:
        stage.terminal.say(f"warning: {warning}")
    more = {"domains": dict(sorted(placed.domains.items())), "language_bytes": dict(sorted(placed.languages.items()))}
    placed.funnel.conclude(stage, {**told, **more})
