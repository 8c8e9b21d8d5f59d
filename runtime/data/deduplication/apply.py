"""Last look at the corpus: what stays is written, what goes is counted. Tasks are its parts, each becomes the part of its number."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from runtime import records
from runtime.data.deduplication.clusters import CHANGED, CONTAMINATED, EXACT, NEAR, TORSO
from runtime.data.deduplication.lines import lost_places
from runtime.data.deduplication.partitions import Layout
from runtime.data.deduplication.texts import documents
from runtime.data.deduplication.units import without
from runtime.data.funnel import EXAMPLE_CHARACTERS, Funnel
from runtime.records import Record

REASONS = {EXACT: "exact_duplicate", NEAR: "near_duplicate", TORSO: "repeated_lines", CONTAMINATED: "contaminated"}


@dataclass(frozen=True)
class ApplyTask:
    """One part of the corpus: the states of its documents, the unit of repeats, rows to be shown."""

    part: Path
    target: Path
    number: int
    layout: Layout
    states: NDArray[np.uint8]
    unit: str
    shown: frozenset[int]


@dataclass
class Applied:
    """What became of a part. `shown`: document -> its id, source and the start of its text."""

    funnel: Funnel = field(default_factory=Funnel)
    shown: dict[int, dict[str, str]] = field(default_factory=dict)


def apply(task: ApplyTask) -> Applied:
    """Write the documents of a part that stay, without the lines that they lose."""
    result = Applied()
    records.write_part(task.target, (vars(record) for record in _kept(task, result)))
    return result


def _kept(task: ApplyTask, result: Applied) -> Iterator[Record]:
    lost = lost_places(task.layout, task.number) if CHANGED in task.states else {}
    for row, (came, record) in enumerate(documents(task.part, task.layout.work, task.number)):
        result.funnel.enter(came)
        if row in task.shown:
            text = record.text[:EXAMPLE_CHARACTERS]
            result.shown[task.layout.offsets[task.number] + row] = {"id": record.id, "source": record.source, "text": text}
        state = int(task.states[row])
        if state in REASONS:
            result.funnel.drop(record, REASONS[state])
        elif state == CHANGED:
            yield result.funnel.keep(record.with_text(without(record.text, task.unit, lost[row])))
        else:
            yield result.funnel.keep(record)
