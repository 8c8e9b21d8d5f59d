"""All answers of a recipe, kept where no stage and no DVC deletes them, so that none is paid for twice.

JSON lines, appended and flushed to the disk one by one: `{"key", "request", "answer"}`, or `{"lost", "cost"}` for a request
that was sent and may have been charged although no answer arrived. Memory: an index with one entry for each answer.
"""

import fcntl
import os
from collections.abc import Iterator
from pathlib import Path
from threading import Lock
from typing import Any, cast

import orjson

from runtime import atomic
from runtime.data.synthetic.exchange import JSON, Answer, Request, key_of
from runtime.faults import StageFault
from runtime.terminal import Terminal


class Transcript:
    """Answers by the key of their request: those that were given, which are only read, and those of this project.

    One process at a time holds the project's file; a second one waits, and then finds what the first has paid for.
    """

    def __init__(self, own: Path, given: Path | None, terminal: Terminal) -> None:
        self._own, self._lock = own, Lock()
        self._index: dict[str, tuple[int, int, int]] = {}
        self.lost = 0
        own.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(own, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        self._given = os.open(given, os.O_RDONLY) if given else None
        try:
            _claim(self._file, own, terminal)
            self._load(self._file, own, own=True)
            if given and self._given is not None:
                self._load(self._given, given)
            atomic.sync_folder(own.parent)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let go of the files."""
        for descriptor in (self._file, self._given):
            if descriptor is not None:
                os.close(descriptor)

    def __enter__(self) -> "Transcript":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def answer(self, request: Request) -> Answer | None:
        """The answer that a request had; None for one that was never answered."""
        place = self._index.get(request.key)
        return Answer.of(orjson.loads(_read(*place))["answer"]) if place else None

    def add(self, request: Request, answer: Answer) -> None:
        """Keep an answer; it is on the disk when this returns."""
        place = self._append(entry(request, answer))
        self._index[request.key] = place

    def lose(self, request: Request, cost: int) -> None:
        """Keep in mind what a request without an answer may have cost, in billionths."""
        self._append(_line({"lost": request.key, "cost": cost}))
        self.lost += cost

    def _append(self, line: bytes) -> tuple[int, int, int]:
        with self._lock:
            start = os.lseek(self._file, 0, os.SEEK_END)
            written = 0
            while written < len(line):
                written += os.write(self._file, line[written:])
            os.fsync(self._file)
        return self._file, start, len(line)

    def _load(self, descriptor: int, path: Path, *, own: bool = False) -> None:
        with open(descriptor, "rb", closefd=False) as lines:
            start = 0
            for number, line in enumerate(lines, 1):
                if not line.endswith(b"\n"):
                    if own:
                        os.ftruncate(descriptor, start)  # the process was killed while it wrote
                    return
                self._enter(line, f"{path}:{number}", (descriptor, start, len(line)), own=own)
                start += len(line)

    def _enter(self, line: bytes, where: str, place: tuple[int, int, int], *, own: bool) -> None:
        row = _parsed(line, where)
        if "lost" not in row:
            self._index[_known_by(row)] = place
        elif own:
            self.lost += row["cost"]


def entry(request: Request, answer: Answer) -> bytes:
    """One line of a transcript: a function of question and answer alone."""
    return _line({"key": request.key, "request": request.as_dict(), "answer": answer.as_dict()})


def lines_of(exchanges: Iterator[tuple[Request, Answer]]) -> Iterator[bytes]:
    """A transcript of the questions in their order, each once."""
    told = set[str]()
    for request, answer in exchanges:
        if request.key not in told:
            told.add(request.key)
            yield entry(request, answer)


def _line(row: JSON) -> bytes:
    return orjson.dumps(row, option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE)


def _read(descriptor: int, start: int, size: int) -> bytes:
    return os.pread(descriptor, size, start)


def _known_by(row: JSON) -> str:
    """The key of an entry. Those of earlier versions told the address too, which is no part of a question."""
    request = cast(JSON, row["request"])
    return key_of({name: value for name, value in request.items() if name != "url"}) if "url" in request else row["key"]


def _parsed(line: bytes, where: str) -> JSON:
    """A line of a transcript. Raises StageFault for one that is damaged, or whose question is not that of its key."""
    try:
        row = cast(dict[str, Any], orjson.loads(line))
        if "lost" in row:
            return {"lost": str(row["lost"]), "cost": int(row["cost"])}
        Answer.of(row["answer"])
        sound = key_of(row["request"]) == row["key"]
    except (ValueError, TypeError, KeyError) as error:
        raise _damaged(where, f"not an entry of a transcript ({type(error).__name__})") from None
    if not sound:
        raise _damaged(where, "the question is not the one of its key")
    return row


def _damaged(where: str, message: str) -> StageFault:
    reason = "an answer would be taken for one to another question"
    return StageFault(message, where=where, reason=reason, fix="delete the line; its request is then asked again")


def _claim(descriptor: int, path: Path, terminal: Terminal) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        terminal.say(f"waiting for another run that writes {path.name}: what it is paying for need not be paid for again")
        fcntl.flock(descriptor, fcntl.LOCK_EX)
