"""split: training and validation documents without leakage.

Documents that are the same but for white space, case or character width go to one side together, so repeats of the mix
and copies that deduplication was told to keep cannot be learned and then scored. By file, so do all documents of one raw
file, since pages of one book tell of each other. Which side is a function of seed and text (or file) alone: more data never
moves a document that was chosen by its share from validation to training. Every source is held out in its own share, so
that small ones are scored too; where long documents are told apart, so are they. A validation document appears once.

Memory: about 100 bytes a document, and one part for each worker.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import xxhash
from numpy.typing import NDArray

from runtime import engine, records
from runtime.contracts.counting import counted
from runtime.contracts.split import Split
from runtime.data import holding_out, overlap
from runtime.data.funnel import Funnel
from runtime.data.holding_out import Looks, Sides, divide
from runtime.data.ordering import fingerprint, unit
from runtime.faults import StageFault
from runtime.records import Record
from runtime.stage import Stage

TRAIN, VALIDATION, LONG = "train", "validation", "validation_long"
REPEAT = "repeat_in_validation"


@dataclass(frozen=True)
class Look:
    """A part whose documents are to be told apart; `sources`: the names that strata are numbered by."""

    part: Path
    parameters: Split
    sources: tuple[str, ...]


@dataclass(frozen=True)
class Part:
    """A part to be divided: where its training and its validation documents go."""

    part: Path
    train: Path
    validation: Path
    sides: NDArray[np.int8]
    long_bytes: int | None


@dataclass
class Amount:
    """What is on one side: documents, UTF-8 bytes, documents per source."""

    documents: int = 0
    bytes: int = 0
    sources: Counter[str] = field(default_factory=Counter[str])

    def add(self, record: Record) -> None:
        """Count a document."""
        self.documents += 1
        self.bytes += record.size
        self.sources[record.source] += 1

    def join(self, other: "Amount") -> None:
        """Count what another one counted."""
        self.documents, self.bytes = self.documents + other.documents, self.bytes + other.bytes
        self.sources.update(other.sources)

    def as_dict(self) -> dict[str, Any]:
        """The counts, sources in order of name."""
        return {"documents": self.documents, "bytes": self.bytes, "sources": dict(sorted(self.sources.items()))}


@dataclass
class Divided:
    """What came of parts; `long` counts the long documents among `sides`."""

    funnel: Funnel
    sides: dict[str, Amount] = field(default_factory=lambda: {TRAIN: Amount(), VALIDATION: Amount()})
    long: dict[str, Amount] = field(default_factory=lambda: {TRAIN: Amount(), VALIDATION: Amount()})

    def add(self, other: "Divided") -> None:
        """Count what came of another part."""
        self.funnel.add(other.funnel)
        for mine, theirs in ((self.sides, other.sides), (self.long, other.long)):
            for side, amount in theirs.items():
                mine[side].join(amount)


def look(task: Look) -> Looks:
    """What decides about each document of a part."""
    numbers = {name: number for number, name in enumerate(task.sources)}
    texts, files, places, strata = list[tuple[int, int]](), list[int](), list[float](), list[int]()
    for record in records.read_part(task.part):
        text, file = fingerprint(record.text), file_of(record)
        texts.append((int(text[:16], 16), int(text[16:], 16)))
        files.append(file)
        places.append(unit(task.parameters.seed, "split", text if task.parameters.by == "document" else file))
        strata.append(2 * numbers.get(record.source, len(numbers)) + is_long(record, task.parameters.long_bytes))
    text_numbers = np.asarray(texts, np.uint64).reshape(-1, 2)
    return Looks(text_numbers, np.asarray(files, np.uint64), np.asarray(places, np.float64), np.asarray(strata, np.int64))


def file_of(record: Record) -> int:
    """A number for the raw file of a document; a document of no file is one of its own."""
    path = record.meta.get("path")
    return xxhash.xxh3_64_intdigest("\0".join((record.source, "file", path) if path else (record.source, "id", record.id)).encode())


def is_long(record: Record, long_bytes: int | None) -> bool:
    """Whether a document belongs to the long ones."""
    return long_bytes is not None and record.size >= long_bytes


def write(task: Part) -> Divided:
    """Write the documents of a part to their sides; long ones say so in `meta`."""
    divided, held = Divided(Funnel()), list[Record]()

    def training() -> Iterator[dict[str, Any]]:
        for record, side in zip(records.read_part(task.part), task.sides.tolist(), strict=True):
            divided.funnel.enter(record)
            if side == holding_out.REPEAT:
                divided.funnel.drop(record, REPEAT)
                continue
            kept = _counted(divided, record, TRAIN if side == holding_out.TRAIN else VALIDATION, task.long_bytes)
            if side == holding_out.TRAIN:
                yield vars(kept)
            else:
                held.append(kept)

    records.write_part(task.train, training())
    records.write_part(task.validation, map(vars, held))
    return divided


def _counted(divided: Divided, record: Record, side: str, long_bytes: int | None) -> Record:
    divided.funnel.keep(record)
    divided.sides[side].add(record)
    if not is_long(record, long_bytes):
        return record
    divided.long[side].add(record)
    return replace(record, meta={**record.meta, "long": True})


def run(stage: Stage[Split]) -> None:
    """Divide the mix; see the module."""
    made, paths = stage.manifest("corpus/mix"), records.parts(stage.input("corpus/mix"))
    sources = tuple(made.facts.get("sources", []))
    found = list(engine.each(look, [Look(path, stage.parameters, sources) for path in paths], stage.placement))
    looks = Looks.joined(found)
    sides = divide(looks, stage.parameters.validation, stage.parameters.by)
    starts = np.cumsum([0, *(len(part.place) for part in found)]).tolist()
    divided = written(stage, paths, [sides.sides[first:last] for first, last in pairwise(starts)], sources)
    shared = {"exact": exact(looks, sides), **measured(stage)}
    refuse_overlap(stage.parameters, shared)
    conclude(stage, divided, {"by": stage.parameters.by, "groups": sides.groups, "overlap": shared})


def written(stage: Stage[Split], paths: list[Path], sides: list[NDArray[np.int8]], sources: tuple[str, ...]) -> Divided:
    """Write both sides, and the long documents of validation once more in a folder of their own."""
    held, divided, limit = stage.scratch / "held", Divided(Funnel(sources)), stage.parameters.long_bytes
    tasks = [
        Part(path, stage.out / TRAIN / path.name, held / path.name, of_part, limit) for path, of_part in zip(paths, sides, strict=True)
    ]
    with stage.bar(sum(map(len, sides)), "documents") as bar:
        for part in engine.each(write, tasks, stage.placement):
            divided.add(part)
            bar.advance(part.funnel.total.documents_in)
    records.write_rows(stage.out / VALIDATION, records.read_rows(held))
    if limit is not None:
        records.write_rows(stage.out / LONG, (row for row in records.read_rows(held) if row["meta"].get("long")))
    return divided


def exact(looks: Looks, sides: Sides) -> int:
    """Validation documents that training holds but for white space, case and width of characters: 0, since groups are kept whole."""
    held = {tuple(text) for text in looks.text[sides.sides == holding_out.VALIDATION].tolist()}
    likely = np.isin(looks.text[:, 0], np.asarray(sorted(text[0] for text in held), np.uint64)) & (sides.sides == holding_out.TRAIN)
    return len({tuple(text) for text in looks.text[likely].tolist()} & held)


def measured(stage: Stage[Split]) -> dict[str, Any]:
    """The overlap of the sides as they were written."""
    train, validation = (records.parts(stage.out / side) for side in (TRAIN, VALIDATION))
    return overlap.measured(train, validation, stage.parameters.overlap.ngram, stage.scratch / "overlap", stage.placement)


def refuse_overlap(parameters: Split, shared: dict[str, Any]) -> None:
    """Raise StageFault where the sides have too much in common and that is to be refused."""
    if parameters.overlap.above == "refuse" and shared["share"] > parameters.overlap.limit:
        raise StageFault(
            _too_much(parameters, shared),
            where="config/split.yaml",
            reason="scores on the validation set would tell what was learned by heart",
            fix="lower data.pretrain.dedup.documents.near.threshold, "
            + ("" if parameters.by == "file" else "set data.pretrain.split.by=file, ")
            + "or raise data.pretrain.split.overlap.limit",
        )


def _too_much(parameters: Split, shared: dict[str, Any]) -> str:
    return (
        f"{shared['share']:.1%} of the runs of {shared['ngram']} tokens in the validation set are in the training set too, more than "
        f"{parameters.overlap.limit:.1%}; mostly there: {counted(shared['documents_mostly_seen'], 'document')}"
    )


def conclude(stage: Stage[Split], divided: Divided, more: dict[str, Any]) -> None:
    """Counts, metrics, warnings."""
    told = {"splits": {name: side.as_dict() for name, side in divided.sides.items()}, **more}
    parameters, warnings = stage.parameters, list[str]()
    if more["overlap"]["share"] > parameters.overlap.limit:
        warnings.append(_too_much(parameters, more["overlap"]))
    if parameters.long_bytes is not None:
        told["long"] = {"bytes_least": parameters.long_bytes, **{name: side.as_dict() for name, side in divided.long.items()}}
        if not divided.long[VALIDATION].documents:
            warnings.append(f"no document of {parameters.long_bytes} bytes or more is held out: the mix has too few of them")
    stage.counts.update({f"{name}_documents": side.documents for name, side in divided.sides.items()})
    for warning in warnings:
        stage.terminal.say(f"warning: {warning}")
    divided.funnel.conclude(stage, {**told, "warnings": warnings})
