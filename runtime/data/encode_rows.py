"""One task of the format stage: a piece of a file of instruction rows -> encoded rows in a scratch file and their index.

Memory: the index of one piece, one row, and what the file reader holds.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import numpy as np
import orjson

from runtime import records
from runtime.contracts.format import Format
from runtime.data import chat, encoding, instructions, row_files, row_index
from runtime.data.chat import Message, Renderer
from runtime.data.contamination import Contamination
from runtime.data.dialogue_rows import DROPPED, Encoder, Row, Unusable, keys_of
from runtime.data.instructions import ANSWER, Reader
from runtime.data.row_files import RawRow
from runtime.evaluation import cases
from runtime.faults import StageFault

CONTAMINATED, BAD_ROW = "contaminated", "bad_row"
REASONS = ("", *DROPPED, CONTAMINATED)  # a verdict is an index
EXAMPLES = 10  # dropped rows of each reason and source that are kept to look at
SHOWN = 200  # characters of such a row
TOGETHER = records.Limit(rows=256, bytes=1 << 20)  # rows that are encoded in one call


@dataclass(frozen=True)
class EncodeTask:
    """A piece of a file of a source; `number`: of the task, and of its files in `scratch`."""

    number: int
    source: str
    piece: row_files.Range
    parameters: Format
    scratch: Path
    tokenizer: Path
    template: Path
    root: Path


@dataclass
class Encoded:
    """What a task did besides its files: rows read, and those that were dropped by reason, with examples."""

    read: int = 0
    bad: int = 0
    examples: dict[str, list[dict[str, str]]] = field(default_factory=dict)

    def example(self, reason: str, row: dict[str, str]) -> None:
        """Keep a dropped row, if there are not enough of its reason, and it is no copy of one."""
        known = self.examples.setdefault(reason, [])
        if len(known) < EXAMPLES and row["id"] not in (one["id"] for one in known):
            known.append(row)

    def add(self, other: "Encoded") -> None:
        """Count what another task counted."""
        self.read, self.bad = self.read + other.read, self.bad + other.bad
        for reason, examples in other.examples.items():
            for one in examples:
                self.example(reason, one)


def index_file(scratch: Path, number: int) -> Path:
    """The index of a task's rows."""
    return scratch / f"index-{number:06d}.npy"


def rows_file(scratch: Path, number: int) -> Path:
    """The encoded rows of a task."""
    return scratch / f"rows-{number:06d}.bin"


def bad_file(scratch: Path, number: int) -> Path:
    """The rows of a task that could not be read."""
    return scratch / f"bad-{number:06d}.jsonl"


def encode(task: EncodeTask) -> Encoded:
    """Read, check and encode the rows of a piece. Raises StageFault for a bad row where those are refused."""
    return _Work(task).done()


class _Work:
    """A task with what it needs to be done."""

    def __init__(self, task: EncodeTask) -> None:
        parameters, template = task.parameters, chat.load_template(task.template)
        self._task, self._found = task, Encoded()
        self._encoder = Encoder(Renderer(template, encoding.load(task.tokenizer)), parameters)
        self._read: Reader = instructions.reader_of(parameters.sources[task.source], template)
        self._source = list(parameters.sources).index(task.source)
        self._contaminated = known_cases(parameters, task.root)
        self._entries = bytearray()  # of row_index.INDEX

    def done(self) -> Encoded:
        """Write the three files."""
        task = self._task
        with rows_file(task.scratch, task.number).open("wb") as file, bad_file(task.scratch, task.number).open("wb") as bad:
            for rows in _blocks(row_files.rows_of(task.piece)):
                dialogues = [self._dialogue(raw) for raw in rows]
                self._encoder.renderer.prepare(dialogue for dialogue in dialogues if not isinstance(dialogue, StageFault))
                for raw, dialogue in zip(rows, dialogues, strict=True):
                    self._found.read += 1
                    try:
                        self._take(dialogue, raw.where, file)
                    except StageFault as fault:
                        self._refuse(raw, fault, bad)
        np.save(index_file(task.scratch, task.number), np.frombuffer(self._entries, row_index.INDEX))
        return self._found

    def _dialogue(self, raw: RawRow) -> Sequence[Message] | StageFault:
        if raw.fault:
            return raw.fault
        try:
            return self._read(raw.row, raw.where)
        except StageFault as fault:
            return fault

    def _take(self, messages: Sequence[Message] | StageFault, where: str, file: BinaryIO) -> None:
        if isinstance(messages, StageFault):
            raise messages
        (key, prompt), row, reason = keys_of(messages), None, ""
        try:
            row = self._encoded(messages, where)
        except Unusable as unusable:
            reason = str(unusable)
            self._found.example(reason, _example(key, self._task.source, reason, messages[-2:]))
        place = file.tell()
        if row:
            file.write(row.ids + row.marks)
        counts = (len(row.marks), row.trained, row.length) if row else (0, 0, 0)
        keys = (*row_index.key_of(key), *row_index.key_of(prompt))
        self._entries += row_index.PACKED.pack(*keys, place, self._task.number, *counts, self._source, REASONS.index(reason))

    def _encoded(self, messages: Sequence[Message], where: str) -> Row:
        row = self._encoder.encode(messages, where)
        if self._contaminated and self._contaminated.holds(messages):
            raise Unusable(CONTAMINATED)
        return row

    def _refuse(self, raw: RawRow, fault: StageFault, bad: BinaryIO) -> None:
        if self._task.parameters.bad_rows == "refuse":
            raise fault
        text = raw.text.decode(errors="replace")
        file, _, line = raw.where.rpartition(":")
        told = {"source": self._task.source, "file": file, "line": int(line), "reason": fault.message, "text": text[:SHOWN]}
        bad.write(orjson.dumps(told, option=orjson.OPT_APPEND_NEWLINE))
        self._found.bad += 1
        self._found.example(BAD_ROW, {"id": raw.where, "source": self._task.source, "reason": fault.message, "text": text[:SHOWN]})


def _blocks(rows: Iterator[RawRow]) -> Iterator[list[RawRow]]:
    """The rows, as many at a time as are encoded together."""
    block, size = list[RawRow](), 0
    for row in rows:
        block.append(row)
        size += row.size
        if len(block) >= TOGETHER.rows or size >= TOGETHER.bytes:
            yield block
            block, size = [], 0
    yield block


def _example(key: str, source: str, reason: str, messages: Sequence[Message]) -> dict[str, str]:
    text = "\n".join(f"{message.role}: {message.content}" for message in messages)
    return {"id": key, "source": source, "reason": reason, "text": text[:SHOWN]}


@dataclass(frozen=True)
class KnownCases:
    """Questions of the cases, wherever they stand in what people ask; references, where they are long enough to be told apart."""

    questions: Contamination
    answers: Contamination

    def holds(self, messages: Sequence[Message]) -> bool:
        """Whether a dialogue has text of a case."""
        asked = [message.content for message in messages if message.role != ANSWER]
        answered = [message.content for message in messages if message.role == ANSWER]
        return any(self.questions.hits(asked)) or any(self.answers.hits(answered))


def known_cases(parameters: Format, root: Path) -> KnownCases | None:
    """The cases whose text must not be trained on; None without them. Raises StageFault where their file is wrong."""
    if parameters.decontaminate is None:
        return None
    shown, ngram = parameters.decontaminate.cases, parameters.decontaminate.ngram
    known = cases.read(root / shown, shown)
    questions = [text for case in known for text in (case.instruction, f"{case.instruction}\n{case.input}", case.input)]
    long = Contamination.of((case.reference for case in known), ngram)
    return KnownCases(Contamination.of(questions, ngram), Contamination(long.inside, {}))


def tasks(parameters: Format, files: dict[str, list[tuple[str, Path]]], **places: Path) -> Iterator[EncodeTask]:
    """The tasks of all sources but those of weight 0, in the order of sources, files and lines."""
    number = 0
    for source, found in files.items():
        for shown, path in found if parameters.sources[source].weight != 0 else ():
            for piece in row_files.ranges_of(shown, path):
                yield EncodeTask(number, source, piece, parameters, **places)
                number += 1
