"""ingest: raw folders and files of many formats and encodings -> canonical records.

A record's id is a function of its source and its text, so it does not move when other files come and go. Pages keep their
markup: `clean` extracts the text. The metrics count a file, or a row of JSON, as one document.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from runtime import records
from runtime.contracts.ingest import Ingest, Source
from runtime.data import provenance
from runtime.data.decoding import Decoded, Hints, decode, repair, without_marks
from runtime.data.funnel import Funnel
from runtime.data.json_rows import Row, json_document, json_lines
from runtime.data.listing import SUFFIXES, RawFile, files_of
from runtime.faults import StageFault
from runtime.records import Record
from runtime.stage import Stage

EMPTY, OVERSIZED = "empty", "oversized_line"


@dataclass
class Observations:
    """What was found beside the text: files per codec, byte order marks removed, documents whose mojibake was repaired."""

    encodings: Counter[str] = field(default_factory=Counter)
    byte_order_marks: int = 0
    mojibake_repaired: int = 0

    def file(self, decoded: Decoded) -> Decoded:
        """Note how a file was decoded; returns it."""
        self.encodings[decoded.encoding] += 1
        self.byte_order_marks += decoded.byte_order_marks
        return decoded

    def as_dict(self) -> dict[str, Any]:
        """The observations, codecs in alphabetical order."""
        return {**vars(self), "encodings": dict(sorted(self.encodings.items()))}


@dataclass
class Reader:
    """Reads the documents of one source; what it drops goes to the funnel with a reason."""

    name: str
    source: Source
    settings: Ingest
    funnel: Funnel
    seen: Observations

    def documents(self, file: RawFile) -> Iterator[Record]:
        """The records of one file. Raises StageFault at the place of a fault."""
        match self.source.format:
            case "jsonl":
                encoding, rows = json_lines(file, self._field(), self.settings.max_line_bytes, self._hints())
                self.seen.encodings[encoding] += 1
                yield from self._rows(file, rows)
            case "json":
                decoded, rows = json_document(file, self._field(), self._hints())
                self.seen.file(decoded)
                yield from self._rows(file, rows)
            case _:
                decoded = self.seen.file(decode(file.read(), file.shown, self._hints()))
                yield from self._accepted(decoded.text, {"path": file.relative})

    def _rows(self, file: RawFile, rows: Iterable[Row]) -> Iterator[Record]:
        for row in rows:
            self.seen.byte_order_marks += row.byte_order_marks
            place = {"path": file.relative, "line": row.line}
            if row.text is None:
                self.funnel.enter_bytes(self.name, row.size)
                self.funnel.drop(self._record("", place), OVERSIZED)
            else:
                yield from self._accepted(row.text, place)

    def _accepted(self, text: str, place: dict[str, Any]) -> Iterator[Record]:
        bare, marks = without_marks(text)
        mended = repair(bare) if self.settings.fix_mojibake == "suspected" else bare
        self.seen.byte_order_marks += marks
        self.seen.mojibake_repaired += mended != bare
        record = self._record(mended, place)
        self.funnel.enter(record)
        reason = self._refusal(mended)
        if reason:
            self.funnel.drop(record, reason)
        else:
            yield self.funnel.keep(record)

    def _refusal(self, text: str) -> str | None:
        if not text.strip():
            return EMPTY
        limit = self.settings.max_line_bytes
        long = len(text) * 4 > limit and any(len(line.encode()) > limit for line in text.split("\n"))
        return OVERSIZED if long else None

    def _record(self, text: str, place: dict[str, Any]) -> Record:
        meta = {**place, "format": self.source.format, "domain": self.source.domain}
        return Record(record_id(self.name, text), text, self.name, self.source.language, meta)

    def _hints(self) -> Hints:
        return Hints(self.settings.encodings, self.source.format == "html", self.source.language)

    def _field(self) -> str:
        if self.source.text_field is None:
            raise StageFault(
                f"the source {self.name} has no text_field",
                where="config/ingest.yaml",
                fix=f"set data.pretrain.sources.{self.name}.text_field to the field that holds the text",
            )
        return self.source.text_field


def record_id(source: str, text: str) -> str:
    """`<source>-` and the first 16 hexadecimal digits of the SHA-256 of source and text."""
    digest = hashlib.sha256(f"{source}\0{text}".encode()).hexdigest()
    return f"{source}-{digest[:16]}"


def run(stage: Stage[Ingest]) -> None:
    """Read every source into records; see the module."""
    funnel, seen = Funnel(stage.parameters.sources), Observations()
    listed = {name: _files(stage, name, source) for name, source in stage.parameters.sources.items()}
    with stage.bar(sum(map(len, listed.values())), "files") as bar:

        def ingested() -> Iterator[Record]:
            for name, source in stage.parameters.sources.items():
                reader = Reader(name, source, stage.parameters, funnel, seen)
                for file in listed[name]:
                    yield from reader.documents(file)
                    bar.advance()
                _refuse_empty(name, source, funnel)

        records.write(stage.out, ingested())
    stage.facts["raw"] = {name: provenance.describe((file.relative, file.path) for file in files) for name, files in listed.items()}
    funnel.conclude(stage, seen.as_dict())


def _files(stage: Stage[Ingest], name: str, source: Source) -> list[RawFile]:
    if source.format not in SUFFIXES:
        raise StageFault(f"unknown format {source.format!r}", where="config/ingest.yaml", fix=f"use one of {', '.join(SUFFIXES)}")
    return files_of(stage.place_of(source.made), name, source)


def _refuse_empty(name: str, source: Source, funnel: Funnel) -> None:
    flow = funnel.sources[name]
    if flow.documents_out == 0:
        raise StageFault(
            f"the source {name} has no text: {flow.documents_in} documents seen, none kept",
            where=source.path,
            reason=flow.reasons() or "its files have no rows",
            fix=f"put text there, or take data.pretrain.sources.{name} out of the spec",
        )
