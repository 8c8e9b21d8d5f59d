"""dedup: evaluation texts, then exact documents, then near documents, then repeated lines, across all sources.

Documents go before lines, so that a near copy is removed as a whole instead of leaving the lines in which it differs. Exact
copies may differ in white space. What holds text of an evaluation set goes first, so that a clean copy of it can stay.

The corpus is never in memory. Each step is a set of tasks: over the parts of the corpus, which hold one part, or over
partitions of what those wrote, which hold one partition while they sort it, some 200 MB, and 100 bytes for each document of a
key that more documents share than fit. This process holds, for each document, 9 bytes of facts, 8 of the sets of near
duplicates, and 17 if it is a candidate for one: 34 MB for a million documents; and 64 MB of shingles. Scratch on the disk takes,
for each document, about 40 bytes, 12 for each band and 13 for each line that is looked at; and 8 for each shingle of a
candidate. It is deleted with the stage's scratch folder.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import orjson

from runtime import engine, records
from runtime.contracts.dedup import Dedup, Near
from runtime.data.contamination import Contamination
from runtime.data.deduplication import exact, lines, near
from runtime.data.deduplication.apply import REASONS, ApplyTask, apply
from runtime.data.deduplication.clusters import (
    CHANGED,
    CONTAMINATED,
    DOCUMENT,
    EXACT,
    NEAR,
    TORSO,
    Clusters,
    checked,
    grouped,
    table_path,
)
from runtime.data.deduplication.contaminated import evaluation_texts
from runtime.data.deduplication.findings import Findings
from runtime.data.deduplication.partitions import Layout, Partition, partitions, path
from runtime.data.deduplication.survey import Surveyed, SurveyTask, survey
from runtime.data.funnel import Funnel
from runtime.data.spread import Spread
from runtime.placement import Placement
from runtime.stage import Stage

WARNED_SHARE = 0.5  # of one source's documents: the user should look before training on what is left
CLUSTERS, CONTAMINATIONS = "clusters.jsonl", "contaminated.jsonl"

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class Corpus:
    """Parts of the input, where scratch goes, where the result goes, names of sources, how tasks are run, and what is told of them."""

    parts: Sequence[Path]
    work: Path
    out: Path
    sources: Sequence[str]
    placement: Placement
    looked_at: Callable[[int], None] = lambda documents: None
    written: Callable[[int], None] = lambda documents: None

    def each(self, function: Callable[[T], R], tasks: Sequence[T]) -> Iterator[R]:
        """Results in the order of the tasks."""
        return engine.each(function, tasks, self.placement)


class Deduplication:
    """One run over a corpus: `survey`, the steps that decide, and `apply`."""

    def __init__(self, parameters: Dedup, corpus: Corpus) -> None:
        """Raises StageFault for an unknown policy."""
        self._parameters, self._corpus = parameters, corpus
        self._keep = checked(parameters.keep)
        self._cut, self._cut_characters = Counter[str](), Counter[str]()
        self._contaminations: dict[str, Spread] = {}
        self._compared = 0
        corpus.work.mkdir(parents=True, exist_ok=True)

    def run(self, evaluation: Iterable[str] = ()) -> Funnel:
        """Write what stays, and the examples, to the corpus's `out`; returns what was counted. `evaluation`: texts not to be had."""
        with engine.kept(self._corpus.placement):
            return self._run(evaluation)

    def _run(self, evaluation: Iterable[str]) -> Funnel:
        self._survey(evaluation)
        settings = self._parameters
        if settings.documents.exact:
            self._drop_exact()
        if settings.documents.near:
            self._drop_near(settings.documents.near)
        if settings.lines.exact:
            self._drop_lines()
            if settings.documents.exact:  # without their shared lines, documents may have become equal
                self._drop_exact(again=True)
        return self._apply()

    def metrics(self) -> dict[str, Any]:
        """What was found, beyond the funnel."""
        found = self._found.as_dict()
        if self._parameters.documents.near:
            found["pairs_compared"] = self._compared
        if self._parameters.decontaminate:
            found["decontaminated"] = dict(sorted((+self._cut).items()))
            found["decontaminated_characters"] = dict(sorted((+self._cut_characters).items()))
        return found

    def _survey(self, evaluation: Iterable[str]) -> None:
        corpus, stored = self._corpus, None
        if self._parameters.decontaminate:
            stored = corpus.work / "evaluation.npz"
            Contamination.of(evaluation, self._parameters.decontaminate.ngram).write(stored)
        tasks = [SurveyTask(part, number, corpus.work, self._parameters, stored) for number, part in enumerate(corpus.parts)]
        found = list[Surveyed]()
        for one in corpus.each(survey, tasks):
            corpus.looked_at(one.documents)
            self._cut.update(one.cut)
            self._cut_characters.update(one.cut_characters)
            for name, chosen in one.examples.items():
                self._contaminations.setdefault(name, Spread(chosen.size)).add(chosen)
            found.append(one)
        self._layout = Layout(corpus.work, tuple(np.cumsum([0, *(one.documents for one in found)]).tolist()))
        self._bands, self._lines = sum(one.bands for one in found), sum(one.lines for one in found)
        self._sources = list(dict.fromkeys([*corpus.sources, *(name for one in found for name in one.sources)]))
        self._found = Findings(self._sources)
        self._table = self._documents(found)

    def _documents(self, found: Sequence[Surveyed]) -> np.ndarray[Any, Any]:
        """The facts of all documents, with the numbers of sources that hold for the whole corpus."""
        table = np.zeros(self._layout.offsets[-1], DOCUMENT)
        ranks = {name: place for place, name in enumerate(self._parameters.priority)}
        for number, one in enumerate(found):
            rows, here = np.load(path(self._layout.work, "documents", number, "rows")), table[self._layout.documents(number)]
            of_source = np.array([self._sources.index(name) for name in one.sources], np.uint16)
            of_rank = np.array([ranks.get(name, len(ranks)) for name in one.sources], np.uint16)
            here["length"] = rows["length"]
            here["source"], here["rank"] = (of_source[rows["source"]], of_rank[rows["source"]]) if len(rows) else (0, 0)
            here["state"][rows["contaminated"]] = CONTAMINATED
        return table

    def _each(self, function: Callable[[T], R], tasks: Sequence[T]) -> Iterator[R]:
        """Tasks that look into the table of documents."""
        np.save(table_path(self._layout.work), self._table)
        return self._corpus.each(function, tasks)

    def _drop(self, found: Clusters, state: int, similarities: dict[int, float] | None = None) -> None:
        self._found.add(REASONS[state], found, self._table, similarities)
        self._table["state"][found.dropped] = state

    def _drop_exact(self, again: bool = False) -> None:
        of = partitions(self._layout, self._layout.offsets[-1], exact.ROW_BYTES)
        tasks = [exact.ExactTask(partition, self._keep, again) for partition in of]
        for found in self._each(exact.clusters, tasks):
            self._drop(found, EXACT)

    def _drop_near(self, settings: Near) -> None:
        of = partitions(self._layout, self._bands, near.ROW_BYTES)
        if not sum(self._each(near.buckets, of)):
            return
        links = near.link(of, self._shingles(of, settings.ngram), settings, self._layout.offsets[-1])
        self._compared = links.compared
        documents, roots = links.forest.joined()
        self._drop(grouped(documents, (roots,), self._table[documents], self._keep), NEAR, links.lowest())

    def _shingles(self, of: Sequence[Partition], ngram: int) -> near.Shingles:
        wanted, layout = near.candidates(self._layout, of), self._layout
        rows = [np.flatnonzero(wanted[layout.documents(number)]).astype(np.uint32) for number in range(layout.parts)]
        tasks = [near.ShingleTask(part, number, layout, rows[number], ngram) for number, part in enumerate(self._corpus.parts)]
        return near.Shingles(layout, rows, list(self._corpus.each(near.write_shingles, tasks)))

    def _drop_lines(self) -> None:
        limits, of = self._parameters.lines, partitions(self._layout, self._lines, lines.ROW_BYTES)
        if not sum(self._each(lines.repeats, [lines.RepeatTask(partition, limits) for partition in of])):
            of = []  # nothing repeats
        tasks = [lines.LossTask(part, number, self._layout, len(of), limits) for number, part in enumerate(self._corpus.parts)]
        for number, lost in enumerate(self._corpus.each(lines.losses, tasks)):
            here = self._table[self._layout.documents(number)]
            here["length"][lost["row"]] = lost["length"]
            here["state"][lost["row"]] = np.where(lines.is_torso(lost), TORSO, CHANGED)
            for source in np.unique(here["source"][lost["row"]]).tolist():
                of_source = lost[here["source"][lost["row"]] == source]
                self._found.lose(source, int(of_source["lines"].sum()), int(of_source["characters"].sum()))

    def _apply(self) -> Funnel:
        funnel, shown = Funnel(self._corpus.sources), dict[int, dict[str, str]]()
        for done in self._corpus.each(apply, list(self._apply_tasks())):
            funnel.add(done.funnel)
            shown |= done.shown
            self._corpus.written(done.funnel.total.documents_in)
        self._write_examples(shown)
        return funnel

    def _apply_tasks(self) -> Iterator[ApplyTask]:
        shown = sorted({member for sample in self._found.samples for member in sample.members})
        for number, part in enumerate(self._corpus.parts):
            here = self._layout.documents(number)
            rows = frozenset(document - here.start for document in shown if here.start <= document < here.stop)
            states, target = self._table["state"][here].copy(), self._corpus.out / part.name
            yield ApplyTask(part, target, number, self._layout, states, self._parameters.lines.unit, rows)

    def _write_examples(self, shown: dict[int, dict[str, str]]) -> None:
        rows = [
            {
                "kind": sample.kind,
                "size": sample.size,
                "kept": shown[sample.members[0]]["id"],
                "similarity": sample.similarity,
                "members": [shown[member] for member in sample.members],
            }
            for sample in self._found.samples
        ]
        _write_lines(self._corpus.out / CLUSTERS, rows)
        if self._parameters.decontaminate:
            told = (row for _, chosen in sorted(self._contaminations.items()) for row in chosen)
            _write_lines(self._corpus.out / CONTAMINATIONS, told)


def _write_lines(target: Path, rows: Iterable[Any]) -> None:
    target.write_bytes(b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows))


def run(stage: Stage[Dedup]) -> None:
    """Remove duplicates; see the module."""
    made, settings = stage.manifest("corpus/clean"), stage.parameters.decontaminate
    parts, sources = records.parts(stage.input("corpus/clean")), made.facts.get("sources", [])
    documents = made.counts.get("documents")
    name = stage.contract.name
    with stage.bar(documents, "documents", f"{name} first look") as looked, stage.bar(documents, "documents", name) as written:
        corpus = Corpus(parts, stage.scratch / "work", stage.out, sources, stage.placement, looked.advance, written.advance)
        work = Deduplication(stage.parameters, corpus)
        funnel = work.run(evaluation_texts(settings, stage.root) if settings else ())
    warnings = warnings_of(funnel)
    for warning in warnings:
        stage.terminal.say(f"warning: {warning}")
    funnel.conclude(stage, {**work.metrics(), "warnings": warnings})


def warnings_of(funnel: Funnel) -> list[str]:
    """A sentence for every source that lost more than WARNED_SHARE of its documents, to duplicates and to evaluation texts apart."""
    told = list[str]()
    for name, flow in funnel.sources.items():
        held = flow.dropped[REASONS[CONTAMINATED]]
        for count, what in ((flow.documents_in - flow.documents_out - held, "are duplicates"), (held, "hold text of evaluation sets")):
            if count > WARNED_SHARE * flow.documents_in:
                told.append(f"{count / flow.documents_in:.0%} of the documents of {name} {what}")
    return told
