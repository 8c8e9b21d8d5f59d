"""A stage that looks at one document at a time: each part of its input becomes the part of the same number of its result.

Parts are worked on by `engine.each`, so a stage needs memory for one part a worker, whatever the corpus.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from runtime import engine, records
from runtime.data.funnel import Funnel
from runtime.records import Record
from runtime.stage import Stage

P = TypeVar("P")


@dataclass(frozen=True)
class PartTask(Generic[P]):
    """One part: where it is, where its result goes, the stage's parameters, and how the kept documents are chosen.

    keep: a function of a module that gets documents, parameters and a funnel. It enters every document into the funnel, and
    yields the kept ones or drops them with a reason.
    """

    source: Path
    target: Path
    parameters: P
    keep: "Keep[P]"


Keep = Callable[[Iterator[Record], P, Funnel], Iterator[Record]]


def sift(stage: Stage[Any], folder: str, keep: Keep[Any], into: Path | None = None, parameters: Any = None) -> Funnel:
    """Pass the documents of an input folder through `keep`, part by part; returns what was counted.

    into: where the parts go, `stage.out` unless it is named; parameters: what `keep` gets, the stage's own unless they are named.
    """
    made, given = stage.manifest(folder), stage.parameters if parameters is None else parameters
    tasks = [PartTask(path, (into or stage.out) / path.name, given, keep) for path in records.parts(stage.input(folder))]
    funnel = Funnel(made.facts.get("sources", []))
    with stage.bar(made.counts.get("documents"), "documents") as bar:
        for part in engine.each(_sift_part, tasks, stage.placement):
            funnel.add(part)
            bar.advance(part.total.documents_in)
    return funnel


def _sift_part(task: PartTask[Any]) -> Funnel:
    funnel = Funnel()
    kept = task.keep(records.read_part(task.source), task.parameters, funnel)
    records.write_part(task.target, (vars(record) for record in kept))
    return funnel
