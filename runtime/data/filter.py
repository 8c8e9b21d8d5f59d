"""filter: the languages and topics the task asks for.

In this order: language, regular expressions, topics, classifier; the first that speaks against a document is the reason it is
dropped for. Memory: one part for each worker, and the classifier's model.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from runtime import engine, records
from runtime.contracts.filter import Filter
from runtime.data import classifier
from runtime.data.classifier import Model
from runtime.data.funnel import Funnel
from runtime.data.language import primary
from runtime.data.searching import Expression, compiled
from runtime.data.topics import Topics
from runtime.records import Record
from runtime.stage import Stage

LANGUAGE, DENIED, NOT_ALLOWED, OFF_TOPIC, CLASSIFIED = "language", "denied", "not_allowed", "off_topic", "classifier"
_AT_ONCE = 256  # documents whose features are held at a time


@dataclass
class Sifted:
    """What came of parts: the flow of documents, how many were on each topic, and how many of each label."""

    funnel: Funnel
    topics: Counter[str] = field(default_factory=Counter[str])
    labels: Counter[str] = field(default_factory=Counter[str])

    def add(self, other: "Sifted") -> None:
        """Count what came of another part."""
        self.funnel.add(other.funnel)
        self.topics.update(other.topics)
        self.labels.update(other.labels)


@dataclass(frozen=True)
class Part:
    """A part, where its kept documents go, and the file of the classifier's model, if there is one."""

    part: Path
    target: Path
    parameters: Filter
    model: Path | None


@dataclass(frozen=True)
class Sieve:
    """`languages` empty keeps all; `zh` also keeps `zh-Hant`. Patterns are searched anywhere in the text."""

    parameters: Filter
    languages: frozenset[str]
    deny: tuple[Expression, ...]
    allow: tuple[Expression, ...]
    topics: Topics
    model: Model | None = None

    @classmethod
    def of(cls, parameters: Filter, model: Path | None = None) -> "Sieve":
        """Compile the patterns. Raises StageFault for one that is no regular expression."""
        deny, allow = compiled("deny", parameters.deny), compiled("allow", parameters.allow)
        topics = Topics(parameters.topics)
        return cls(parameters, frozenset(parameters.languages), deny, allow, topics, Model.load(model) if model else None)

    def refusals(self, documents: Sequence[Record], sifted: Sifted) -> list[str | None]:
        """Why each document is dropped; None where it is kept."""
        reasons = [self._refusal(record, sifted) for record in documents]
        left = [place for place, reason in enumerate(reasons) if reason is None]
        for place, reason in zip(left, self._classified([documents[place].text for place in left], sifted), strict=True):
            reasons[place] = reason
        return reasons

    def _refusal(self, record: Record, sifted: Sifted) -> str | None:
        if self.languages and not self.languages & {record.language or "", primary(record.language)}:
            return LANGUAGE
        if any(expression.found(record) for expression in self.deny):
            return DENIED
        if self.allow and not any(expression.found(record) for expression in self.allow):
            return NOT_ALLOWED
        return self._off_topic(record, sifted) if self.parameters.topics else None

    def _off_topic(self, record: Record, sifted: Sifted) -> str | None:
        on = self.topics.of(record)
        sifted.topics.update(on)
        unwanted = next((name for name in on if name in self.parameters.drop_topics), None)
        if unwanted:
            return f"topic_{unwanted}"
        kept = self.parameters.keep_topics
        return OFF_TOPIC if kept and not set(kept) & set(on) else None

    def _classified(self, texts: Sequence[str], sifted: Sifted) -> list[str | None]:
        asked = self.parameters.classifier
        if not self.model or not asked or not texts:
            return [None] * len(texts)
        probabilities = self.model.probabilities(texts)
        sifted.labels.update(self.model.labels[place] for place in probabilities.argmax(axis=1))
        wanted = np.asarray([label in asked.keep for label in self.model.labels])
        return [None if keep else CLASSIFIED for keep in (probabilities[:, wanted].sum(axis=1) >= asked.threshold).tolist()]


def sift(task: Part) -> Sifted:
    """The documents of a part that pass, in order; the others go to the funnel with a reason."""
    sieve, sifted, documents = Sieve.of(task.parameters, task.model), Sifted(Funnel()), records.read_part(task.part)

    def kept() -> Iterator[dict[str, Any]]:
        while batch := list(islice(documents, _AT_ONCE)):
            for record, reason in zip(batch, sieve.refusals(batch, sifted), strict=True):
                sifted.funnel.enter(record)
                if reason:
                    sifted.funnel.drop(record, reason)
                else:
                    yield vars(sifted.funnel.keep(record))

    records.write_part(task.target, kept())
    return sifted


def run(stage: Stage[Filter]) -> None:
    """Keep the documents that pass; see the module."""
    parameters, made = stage.parameters, stage.manifest("corpus/dedup")
    Sieve.of(parameters)  # a pattern that is wrong is told before any work
    model, told = trained(stage)
    tasks = [Part(path, stage.out / path.name, parameters, model) for path in records.parts(stage.input("corpus/dedup"))]
    sifted = Sifted(Funnel(made.facts.get("sources", [])))
    with stage.bar(made.counts.get("documents"), "documents") as bar:
        for part in engine.each(sift, tasks, stage.placement):
            sifted.add(part)
            bar.advance(part.funnel.total.documents_in)
    more: dict[str, Any] = {"topics": {name: sifted.topics[name] for name in parameters.topics}} if parameters.topics else {}
    if told:
        more["classifier"] = {**told, "labels": dict(sorted(sifted.labels.items()))}
    sifted.funnel.conclude(stage, more)


def trained(stage: Stage[Filter]) -> tuple[Path | None, dict[str, Any]]:
    """The file of the model that was learned here, once, for all workers; and what the metrics tell of it."""
    asked = stage.parameters.classifier
    if asked is None:
        return None, {}
    model, told = classifier.train(asked, stage.root / asked.rows)
    path = stage.scratch / "classifier.npz"
    model.save(path)
    return path, told
