"""ingest: raw folders and files of many formats and encodings -> canonical records.

A record's id is a function of its source and its text, so it does not move when other files come and go. Pages keep their
markup: `clean` extracts the text. The metrics count a file, or a row, as one document.

Tasks are bounded by the sizes of the files (`pieces`); each writes parts of its own, which get their numbers when all are
there. Memory: one file of 16 MB or one document of `max_document_bytes` a worker, several times over while it is decoded.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from runtime import engine, records
from runtime.contracts.counting import counted
from runtime.contracts.ingest import OF_FILES, SUFFIXES, Ingest, Source
from runtime.data import pieces, provenance, quarantine
from runtime.data.decoding import Hints
from runtime.data.funnel import Flow, Funnel
from runtime.data.listing import Files, RawFile, files_of
from runtime.data.pieces import Piece, Survey, SurveyTask
from runtime.data.quarantine import Quarantine
from runtime.data.reading import OVERSIZED, OVERSIZED_PAGE, Observations, Reader, record_id
from runtime.faults import StageFault, several
from runtime.raw_file import hash_of
from runtime.records import Limit, Record
from runtime.stage import Stage

__all__ = ["record_id", "run"]

LEFT = f"logs/ingest.{quarantine.NAME}"  # what cannot be read, where the stage refuses and leaves no result


@dataclass(frozen=True)
class Task:
    """Some files of one source, or lines of one; `folder`: where its parts go; `settings` without the sources."""

    source: str
    description: Source
    settings: Ingest
    pieces: tuple[Piece, ...]
    folder: Path
    part: Limit


@dataclass(frozen=True)
class Done:
    """What a task counted, and the SHA-256 of each file that it read whole, by its path below the source."""

    source: str
    folder: Path
    files: int
    funnel: Funnel
    seen: Observations
    bad: Quarantine
    hashes: dict[str, str]


def run(stage: Stage[Ingest]) -> None:
    """Read every source into records; see the module."""
    sources = stage.parameters.sources
    listed, skipped = _listed(stage)
    surveys = _surveyed(stage, listed)
    tasks = list(_tasks(stage, listed, surveys))
    funnel, seen, bad = Funnel(sources), Observations(), Quarantine()
    hashes = {name: {file: survey.sha256 for file, survey in known.items()} for name, known in surveys.items()}
    written = 0
    with stage.bar(sum(map(len, listed.values())), "files") as bar:
        for done in engine.each(_read, tasks, stage.placement):
            funnel.add(done.funnel)
            seen.add(done.seen)
            bad.add(done.bad)
            hashes[done.source].update(done.hashes)
            written = _collect(done.folder, stage.out, written)
            bar.advance(done.files)
    _refuse_faulty(stage, funnel, bad)
    bad.write(stage.out / quarantine.NAME, sources)
    stage.facts["raw"] = {
        name: provenance.described((file.relative, hashes[name][file.relative]) for file in listed[name]) for name in listed
    }
    _conclude(stage, funnel, {**seen.as_dict(), **skipped}, bad)


def _conclude(stage: Stage[Ingest], funnel: Funnel, observed: Mapping[str, Any], bad: Quarantine) -> None:
    warnings = bad.warnings()
    for warning in warnings:
        stage.terminal.say(f"warning: {warning}")
    funnel.conclude(stage, {**observed, **({"warnings": warnings} if warnings else {})})


def _listed(stage: Stage[Ingest]) -> tuple[dict[str, list[RawFile]], dict[str, Any]]:
    """The files of each source, and what the metrics say of those that were left out. Raises StageFault for all sources at once."""
    found, skipped, faults = dict[str, list[RawFile]](), dict[str, dict[str, int]](), list[StageFault]()
    for name, source in stage.parameters.sources.items():
        try:
            files = _files(stage, name, source)
        except StageFault as fault:
            faults.append(fault)
            continue
        found[name] = files.read
        if files.skipped:
            skipped[name] = dict(sorted(files.skipped.items()))
            stage.terminal.say(f"source {name}: {files.told()}")
    if faults:
        raise several(faults)
    return found, {"skipped_files": skipped} if skipped else {}


def _files(stage: Stage[Ingest], name: str, source: Source) -> Files:
    if source.format not in SUFFIXES:
        raise StageFault(f"unknown format {source.format!r}", where="config/ingest.yaml", fix=f"use one of {', '.join(SUFFIXES)}")
    if source.text_field is None and source.format not in OF_FILES:
        raise StageFault(
            f"the source {name} has no text_field",
            where="config/ingest.yaml",
            fix=f"set data.pretrain.sources.{name}.text_field to the field that holds the text",
        )
    return files_of(stage.place_of(source.made), name, source)


def _surveyed(stage: Stage[Ingest], listed: Mapping[str, Sequence[RawFile]]) -> dict[str, dict[str, Survey]]:
    """What is known of the long files of each source, by their path below it."""
    found: dict[str, dict[str, Survey]] = {name: {} for name in listed}
    tasks = [(name, task) for name, files in listed.items() for task in _to_survey(stage.parameters, name, files)]
    if tasks:
        surveys = engine.each(pieces.survey, [task for _, task in tasks], stage.placement)
        for (name, task), survey in zip(tasks, surveys, strict=True):
            found[name][task.file.relative] = survey
    return found


def _to_survey(settings: Ingest, name: str, files: Sequence[RawFile]) -> list[SurveyTask]:
    source = settings.sources[name]
    hints = Hints(settings.encodings, False, source.language)
    return [SurveyTask(file, hints, pieces.GROUP) for file in files if pieces.is_long(file, source.format)]


def _tasks(stage: Stage[Ingest], listed: Mapping[str, list[RawFile]], surveys: Mapping[str, Mapping[str, Survey]]) -> Iterator[Task]:
    settings, number = replace(stage.parameters, sources={}), 0
    for name, source in stage.parameters.sources.items():
        for group in pieces.planned(listed[name], surveys[name]):
            yield Task(name, source, settings, group, stage.scratch / "tasks" / f"{number:06}", records.PART)
            number += 1


def _read(task: Task) -> Done:
    reader = Reader(task.source, task.description, task.settings)
    records.write(task.folder, _documents(reader, task.pieces), task.part)
    read = [piece.file for piece in task.pieces if piece.whole]
    hashes = {file.relative: reader.hashes.get(file.relative) or hash_of(file.path, file.shown) for file in read}
    files = sum(piece.last for piece in task.pieces)
    return Done(task.source, task.folder, files, reader.funnel, reader.seen, reader.quarantine, hashes)


def _documents(reader: Reader, files: Sequence[Piece]) -> Iterator[Record]:
    for piece in files:
        yield from reader.documents(piece)


def _collect(folder: Path, out: Path, written: int) -> int:
    """Move the parts of a task behind those that are there, but for one without a record; returns how many there are now."""
    for part in records.parts(folder):
        if next(records.rows_of(part), None) is not None:
            part.rename(out / records.part_name(written))
            written += 1
    return written


def _refuse_faulty(stage: Stage[Ingest], funnel: Funnel, bad: Quarantine) -> None:
    """Raise StageFault for all sources at once of which too much cannot be read, or nothing is left."""
    faults = list[StageFault]()
    for name, source in stage.parameters.sources.items():
        try:
            _refuse(name, source, stage.parameters, funnel.sources[name], bad)
        except StageFault as fault:
            faults.append(fault)
    if faults:
        if bad.rows:
            bad.write(stage.folder / LEFT, stage.parameters.sources)
            faults[-1].fix += f"; everything that cannot be read: experiments/{stage.folder.name}/{LEFT}"
        raise several(faults)


def _refuse(name: str, source: Source, settings: Ingest, flow: Flow, bad: Quarantine) -> None:
    bad.refuse_above(name, flow.documents_in, settings, "file" if source.format in OF_FILES else "row")
    if flow.documents_out == 0:
        raise StageFault(
            f"the source {name} has no text: {counted(flow.documents_in, 'document')} seen, none kept",
            where=source.path,
            reason=flow.reasons() or "its files have no rows",
            fix=f"{_way_out(flow)}, or take data.pretrain.sources.{name} out of the spec",
        )


def _way_out(flow: Flow) -> str:
    """What is to be changed where a source lost all of its documents: the limit, where it was that."""
    if flow.dropped[OVERSIZED_PAGE]:
        return "raise data.pretrain.ingest.max_document_bytes"
    return "raise data.pretrain.ingest.max_line_bytes, or set long_lines to split" if flow.dropped[OVERSIZED] else "put text there"
