"""How many documents, characters and bytes enter and leave a data stage, and why the rest was dropped.

Every stage of the corpus counts through a `Funnel`, so that the metrics of all of them have one shape and the numbers
of one stage's way out are the numbers of the next one's way in. Beside the counts it holds examples of what was dropped and
a sample of what was kept, both of every source and spread over it: memory for a few texts a reason and a source, however many there are.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import orjson

from runtime.contracts.counting import counted
from runtime.data.spread import Spread
from runtime.faults import StageFault
from runtime.records import Record
from runtime.stage import Stage

EXAMPLES, SAMPLE = "dropped.jsonl", "sample.jsonl"
EXAMPLES_PER_REASON, SAMPLE_PER_SOURCE = 10, 20  # of each source
EXAMPLE_CHARACTERS, SAMPLE_CHARACTERS = 200, 1_000
K = TypeVar("K")
UNKNOWN_LANGUAGE = "und"  # ISO 639-2: undetermined


@dataclass
class Flow:
    """What passed one gate; characters are Unicode code points, bytes are those of UTF-8."""

    documents_in: int = 0
    documents_out: int = 0
    characters_in: int = 0
    characters_out: int = 0
    bytes_in: int = 0
    bytes_out: int = 0
    dropped: Counter[str] = field(default_factory=Counter)

    def enter(self, characters: int, size: int) -> None:
        """Count a document on its way in."""
        self.documents_in += 1
        self.characters_in += characters
        self.bytes_in += size

    def leave(self, characters: int, size: int) -> None:
        """Count a document on its way out."""
        self.documents_out += 1
        self.characters_out += characters
        self.bytes_out += size

    def add(self, other: "Flow") -> None:
        """Count what another flow counted."""
        for name in ("documents_in", "documents_out", "characters_in", "characters_out", "bytes_in", "bytes_out"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.dropped.update(other.dropped)

    def reasons(self) -> str:
        """The reasons and their counts as a phrase."""
        return ", ".join(f"{reason}: {count}" for reason, count in sorted(self.dropped.items()))

    def as_dict(self) -> dict[str, Any]:
        """The counts, reasons in alphabetical order."""
        return {**vars(self), "dropped": dict(sorted(self.dropped.items()))}


class Funnel:
    """The counts of one stage: in all, per source, and per language of what was decided on."""

    def __init__(self, sources: Iterable[str] = ()) -> None:
        """`sources`: names that appear in the metrics even if none of their documents does."""
        self.total = Flow()
        self.sources: dict[str, Flow] = {name: Flow() for name in sources}
        self.languages: dict[str, Flow] = {}
        self.noted: dict[str, Counter[Any]] = {}  # what else a stage counts, by name
        self._examples: dict[tuple[str, str], Spread] = {}  # by reason and source
        self._sample: dict[str, Spread] = {}

    def enter(self, record: Record) -> None:
        """Count a document that the stage looks at; `keep` or `drop` must follow."""
        characters, size = len(record.text), record.size
        for flow in (self.total, self._source(record)):
            flow.enter(characters, size)

    def enter_bytes(self, source: str, size: int) -> None:
        """Count a document that is too large to be held: its bytes are known, its characters are not."""
        for flow in (self.total, _of(self.sources, source)):
            flow.documents_in += 1
            flow.bytes_in += size

    def keep(self, record: Record) -> Record:
        """Count a document that leaves, as it leaves; returns it."""
        self._language(record).documents_in += 1
        return self.repeat(record)

    def repeat(self, record: Record) -> Record:
        """Count a document that leaves once more; returns it."""
        characters, size = len(record.text), record.size
        for flow in (self.total, self._source(record), self._language(record)):
            flow.leave(characters, size)
        if (sample := self._sample.get(record.source)) is None:
            sample = self._sample[record.source] = Spread(SAMPLE_PER_SOURCE)
        sample.offer(key_of(record), lambda: _kept(record))
        return record

    def drop(self, record: Record, reason: str) -> None:
        """Count a document that does not leave, and keep a few of each reason and source as examples."""
        for flow in (self.total, self._source(record), self._language(record)):
            flow.dropped[reason] += 1
        self._language(record).documents_in += 1
        chosen = self._examples.setdefault((reason, record.source), Spread(EXAMPLES_PER_REASON))
        chosen.offer(key_of(record), lambda: _dropped(record, reason))

    def note(self, name: str) -> Counter[Any]:
        """The counts of a name, for what a stage counts beside documents."""
        return self.noted.setdefault(name, Counter())

    def add(self, other: "Funnel") -> None:
        """Count what another funnel counted, as if it had come behind this one."""
        for name, counts in other.noted.items():
            self.note(name).update(counts)
        self.total.add(other.total)
        for mine, theirs in ((self.sources, other.sources), (self.languages, other.languages)):
            for name, flow in theirs.items():
                _of(mine, name).add(flow)
        _merge(self._examples, other._examples)
        _merge(self._sample, other._sample)

    def as_dict(self) -> dict[str, Any]:
        """The metrics every corpus stage has; sources in the order they were met, languages in alphabetical order."""
        languages = {name: _decided(flow) for name, flow in sorted(self.languages.items())}
        return {**self.total.as_dict(), "sources": {name: flow.as_dict() for name, flow in self.sources.items()}, "languages": languages}

    def conclude(self, stage: Stage[Any], more: Mapping[str, Any] | None = None) -> None:
        """Set the stage's counts, facts and metrics and write `dropped.jsonl` and `sample.jsonl`. Raises StageFault if nothing is left."""
        if self.total.documents_out == 0:
            raise StageFault(
                f"none of {counted(self.total.documents_in, 'document')} is left",
                where=stage.contract.config,
                reason=self.total.reasons() or "there was none to begin with",
                fix="loosen the settings of this stage, or mend the sources",
            )
        stage.counts.update(documents=self.total.documents_out, bytes=self.total.bytes_out)
        stage.facts["sources"] = list(self.sources)
        stage.metrics({**self.as_dict(), **(more or {})})
        self.write_examples(stage.out / EXAMPLES)

    def examples(self) -> Iterator[dict[str, Any]]:
        """Dropped documents, grouped by reason, and those of a reason by source."""
        return (entry for which in sorted(self._examples) for entry in self._examples[which])

    def sample(self) -> Iterator[dict[str, Any]]:
        """Kept documents as they left, grouped by source."""
        return (entry for name in sorted(self._sample) for entry in self._sample[name])

    def write_examples(self, path: Path) -> None:
        """Write the examples of dropped documents, and beside them the sample of kept ones."""
        _write(path, self.examples())
        _write(path.with_name(SAMPLE), self.sample())

    def _source(self, record: Record) -> Flow:
        return _of(self.sources, record.source)

    def _language(self, record: Record) -> Flow:
        return _of(self.languages, record.language or UNKNOWN_LANGUAGE)


def _merge(chosen: dict[K, Spread], more: Mapping[K, Spread]) -> None:
    for name, spread in more.items():
        chosen.setdefault(name, Spread(spread.size)).add(spread)


def _of(flows: dict[str, Flow], name: str) -> Flow:
    """Three times a document, so that no flow is made in vain."""
    flow = flows.get(name)
    if flow is None:
        flow = flows[name] = Flow()
    return flow


def _decided(flow: Flow) -> dict[str, Any]:
    """Of a language, what is known on the way in is the number of documents alone: a text has none before it is looked at."""
    told = ("documents_in", "documents_out", "characters_out", "bytes_out")
    return {**{name: getattr(flow, name) for name in told}, "dropped": dict(sorted(flow.dropped.items()))}


def key_of(record: Record) -> str:
    """Document and place: copies in several files are several documents, a document that a mix repeats is one."""
    return f"{record.id}\0{record.meta.get('path')}\0{record.meta.get('line')}"


def _dropped(record: Record, reason: str) -> dict[str, Any]:
    return {"id": record.id, "source": record.source, "reason": reason, "text": record.text[:EXAMPLE_CHARACTERS]}


def _kept(record: Record) -> dict[str, Any]:
    return {"id": record.id, "source": record.source, "language": record.language, "text": record.text[:SAMPLE_CHARACTERS]}


def _write(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    path.write_bytes(b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows))
