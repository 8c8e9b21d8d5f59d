"""One source's files -> records: formats, limits, and what is dropped or cannot be read."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, BinaryIO

from runtime.contracts.ingest import Ingest, Source
from runtime.data.decoding import Codec, Decoded, Hints, blocks_of, codec_of, decode, repair, without_marks
from runtime.data.fitting import Fitted, Limits, fits, fitted
from runtime.data.funnel import Funnel
from runtime.data.json_rows import Row, json_document, json_lines
from runtime.data.lines import codec_for
from runtime.data.listing import RawFile
from runtime.data.pieces import Piece
from runtime.data.quarantine import Quarantine, Unreadable
from runtime.data.tables import csv_rows, parquet_rows
from runtime.records import Record

EMPTY, OVERSIZED, OVERSIZED_PAGE = "empty", "oversized_line", "oversized_page"
WHOLE = 16_000_000  # bytes up to which a file of text is decoded at once; a longer one is read as a stream
EXAMPLE = 1000  # characters of a text that is refused
DOCUMENTS_OF_A_ROW = 4  # as many may one row become where long lines are split; a longer row is dropped


@dataclass
class Observations:
    """What was found beside the text: files per codec, byte order marks removed, documents whose mojibake was repaired."""

    encodings: Counter[str] = field(default_factory=Counter)
    byte_order_marks: int = 0
    mojibake_repaired: int = 0

    def file(self, encoding: str, byte_order_marks: int) -> None:
        """Note how a file was decoded."""
        self.encodings[encoding] += 1
        self.byte_order_marks += byte_order_marks

    def add(self, other: "Observations") -> None:
        """Count what was observed elsewhere."""
        self.encodings.update(other.encodings)
        self.byte_order_marks += other.byte_order_marks
        self.mojibake_repaired += other.mojibake_repaired

    def as_dict(self) -> dict[str, Any]:
        """The observations, codecs in alphabetical order."""
        return {**vars(self), "encodings": dict(sorted(self.encodings.items()))}


@dataclass
class Reader:
    """Reads the documents of one source; what it drops goes to the funnel with a reason."""

    name: str
    source: Source
    settings: Ingest
    funnel: Funnel = field(default_factory=Funnel)
    seen: Observations = field(default_factory=Observations)
    quarantine: Quarantine = field(default_factory=Quarantine)
    hashes: dict[str, str] = field(default_factory=dict)  # SHA-256 of files that were held whole, by their path below the source

    def __post_init__(self) -> None:
        longest, document = self.settings.max_line_bytes, self.settings.max_document_bytes
        self._limits = Limits(longest, document, self.settings.long_lines == "split")
        self._longest_row = DOCUMENTS_OF_A_ROW * document if self._limits.split else longest
        self._hints = Hints(self.settings.encodings, self.source.format == "html", self.source.language)

    def documents(self, piece: Piece) -> Iterator[Record]:
        """The records of one piece. Raises StageFault for a file that cannot be read, and where bad rows are to be refused."""
        before = self.funnel.total.documents_in
        try:
            yield from self._documents(piece)
        except Unreadable as bad:
            bad.counts_for = max(bad.counts_for, self.funnel.total.documents_in - before + 1)
            bad.size = bad.size or piece.file.size
            self._refuse(piece.file, bad)

    def _documents(self, piece: Piece) -> Iterator[Record]:
        match self.source.format:
            case "text" | "markdown":
                yield from self._text(piece.file)
            case "html":
                yield from self._page(piece.file)
            case _:
                for row in self._rows(piece):
                    yield from self._of_row(piece.file, row)

    def _rows(self, piece: Piece) -> Iterator[Row | Unreadable]:
        column = self.source.text_field or ""
        match self.source.format:
            case "json":
                content, rows = json_document(piece.file, column, self._hints)
                self.seen.file(content.encoding, content.byte_order_marks)
                return rows
            case "parquet":
                return parquet_rows(piece.file, column)
            case "csv":
                return csv_rows(piece, self._codec(piece), column, self.source.delimiter, self._longest_row)
            case _:
                return json_lines(piece, self._codec(piece), column, self._longest_row)

    def _codec(self, piece: Piece) -> Codec:
        codec = codec_for(piece, self._hints)
        if piece.start == 0:
            self.seen.file(codec.name, bool(codec.mark))
        return codec

    def _text(self, file: RawFile) -> Iterator[Record]:
        with file.open() as stream:
            head = _beginning(stream, file, WHOLE)
            if len(head) <= WHOLE:
                content = self._decoded(head, file)
                yield from self._accepted([content.text], {"path": file.relative})
                return
            codec = codec_of(head[: 1 << 22], False, file.shown, self._hints)
        self.seen.file(codec.name, bool(codec.mark))
        with file.open() as stream:
            yield from self._accepted(blocks_of(stream, codec, file.shown), {"path": file.relative})

    def _page(self, file: RawFile) -> Iterator[Record]:
        """Markup is never cut: half a page is no page."""
        most = self.settings.max_document_bytes
        with file.open() as stream:
            data = _beginning(stream, file, most)
        place = {"path": file.relative}
        if len(data) > most:
            start = data[: EXAMPLE * 4].decode("utf-8", "replace")
            self._drop(Fitted(start, max(file.size, len(data))), place, OVERSIZED_PAGE)
            return
        text = self._repaired(self._decoded(data, file).text)
        if self._limits.split or fits(text, self._limits):
            yield from self._kept(text, place)
        else:
            self._drop(Fitted(text, len(text.encode())), place, OVERSIZED)

    def _decoded(self, data: bytes, file: RawFile) -> Decoded:
        if not file.compressed:
            self.hashes[file.relative] = hashlib.sha256(data).hexdigest()
        content = decode(data, file.shown, self._hints)
        self.seen.file(content.encoding, content.byte_order_marks)
        return content

    def _of_row(self, file: RawFile, row: Row | Unreadable) -> Iterator[Record]:
        if isinstance(row, Unreadable):
            self._refuse(file, row)
            return
        self.seen.byte_order_marks += row.byte_order_marks
        place = {"path": file.relative, "line": row.line}
        if row.text is None:
            self._drop(Fitted("", row.size), place, OVERSIZED)
        else:
            yield from self._accepted([row.text], place)

    def _accepted(self, blocks: Iterable[str], place: dict[str, Any]) -> Iterator[Record]:
        """The records that a text becomes; where it becomes several, their meta says which part they are."""
        documents = self._fitting(blocks)
        first, second = next(documents, Fitted("", 0)), next(documents, None)
        if second is None:
            yield from self._fitted(first, place)
            return
        for number, document in enumerate(chain((first, second), documents), 1):
            yield from self._fitted(document, {**place, "part": number})

    def _fitting(self, blocks: Iterable[str]) -> Iterator[Fitted]:
        if isinstance(blocks, list) and fits(blocks[0], self._limits):
            return iter((Fitted(blocks[0], 0),))
        return fitted(blocks, self._limits)

    def _fitted(self, document: Fitted, place: dict[str, Any]) -> Iterator[Record]:
        if document.refused:
            self._drop(document, place, OVERSIZED)
        else:
            yield from self._kept(self._repaired(document.text), place)

    def _repaired(self, text: str) -> str:
        bare, marks = without_marks(text)
        mended = repair(bare) if self.settings.fix_mojibake == "suspected" else bare
        if mended != bare:
            self.seen.mojibake_repaired += 1
            mended, more = without_marks(mended)  # a mark that was read as three letters is one again
            marks += more
        self.seen.byte_order_marks += marks
        return mended

    def _kept(self, text: str, place: dict[str, Any]) -> Iterator[Record]:
        record = self._record(text, place)
        self.funnel.enter(record)
        if not text or text.isspace():
            self.funnel.drop(record, EMPTY)
        else:
            yield self.funnel.keep(record)

    def _drop(self, document: Fitted, place: dict[str, Any], reason: str) -> None:
        self.funnel.enter_bytes(self.name, document.size)
        self.funnel.drop(self._record(document.text[:EXAMPLE], place), reason)

    def _refuse(self, file: RawFile, bad: Unreadable) -> None:
        if self.settings.bad_rows == "refuse":
            raise bad
        self.quarantine.take(self.name, file.shown, bad)
        place = {"path": file.relative, "line": bad.line}
        self._drop(Fitted(bad.row[: EXAMPLE * 4].decode("utf-8", "backslashreplace"), bad.size), place, bad.kind)

    def _record(self, text: str, place: dict[str, Any]) -> Record:
        meta = {**place, "format": self.source.format, "domain": self.source.domain}
        return Record(record_id(self.name, text), text, self.name, self.source.language, meta)


def _beginning(stream: BinaryIO, file: RawFile, most: int) -> bytes:
    """Up to `most` bytes and one more. Asking a small file for many would first make room for them."""
    known = not file.compressed and file.size <= most
    return stream.read(file.size + 1 if known else most + 1)


def record_id(source: str, text: str) -> str:
    """`<source>-` and the first 16 hexadecimal digits of the SHA-256 of source and text."""
    digest = hashlib.sha256(f"{source}\0{text}".encode()).hexdigest()
    return f"{source}-{digest[:16]}"
