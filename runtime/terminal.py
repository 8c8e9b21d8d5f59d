"""The terminal belongs to progress and messages; what libraries print goes to the stage's log file."""

import os
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO, TypeVar

from tqdm import tqdm

T = TypeVar("T")


class Terminal:
    """The standard error the process was started with, kept while descriptors 1 and 2 lead to a log file."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        if not stream.isatty():
            tqdm.monitor_interval = 0  # of a thread that draws bars again, of which there is none

    def say(self, text: str) -> None:
        """Print a line, without breaking a progress bar."""
        tqdm.write(text, file=self.stream)
        self.stream.flush()

    def bar(self, total: int | None, unit: str, title: str) -> "Bar":
        """A progress bar on a terminal; elsewhere a line when it starts, one every ten seconds, and one when it ends."""
        return Bar(self, total, unit, title)

    def track(self, items: Iterable[T], total: int | None, unit: str, title: str) -> Iterator[T]:
        """Pass items through while a bar counts them."""
        with self.bar(total, unit, title) as bar:
            for item in items:
                yield item
                bar.advance()


class Bar:
    """Counts work that is done; `note` shows a short value beside the count (a loss, a rate)."""

    INTERVAL = 10.0

    def __init__(self, terminal: Terminal, total: int | None, unit: str, title: str) -> None:
        self._terminal = terminal
        self._live = terminal.stream.isatty()
        self._bar = tqdm(total=total, unit=unit, desc=title, file=terminal.stream, disable=not self._live, dynamic_ncols=True)
        self._title, self._unit, self._total, self._done, self._said, self._note = title, unit, total, 0, time.monotonic(), ""

    def __enter__(self) -> "Bar":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._bar.close()
        if not self._live:
            self._line("stopped" if kind else "done")

    def advance(self, count: int = 1) -> None:
        """Count `count` more units as done."""
        self._done += count
        self._bar.update(count)
        if not self._live and time.monotonic() - self._said > self.INTERVAL:
            self._said = time.monotonic()
            self._line("...")

    def note(self, text: str) -> None:
        """Show a short value beside the count."""
        self._note = text
        self._bar.set_postfix_str(text, refresh=False)

    def _line(self, state: str) -> None:
        amount = f"{self._done:,}" if self._total is None else f"{self._done:,} of {self._total:,}"
        counted = f"{amount} {self._unit} {self._note}".rstrip()
        self._terminal.say(f"{self._title}: " + (f"stopped after {counted}" if state == "stopped" else f"{counted} {state}"))


@contextmanager
def output_to(log: Path) -> Iterator[Terminal]:
    """Lead descriptors 1 and 2 (also those of C++ libraries) into `log`, and yield the terminal they led to before."""
    log.parent.mkdir(parents=True, exist_ok=True)
    sys.stdout.flush()
    sys.stderr.flush()
    saved_out, saved_err = os.dup(1), os.dup(2)
    with log.open("wb", buffering=0) as file, os.fdopen(os.dup(saved_err), "w", buffering=1, encoding="utf-8", errors="replace") as stream:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
        try:
            yield Terminal(stream)
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os.dup2(saved_out, 1)
            os.dup2(saved_err, 2)
            os.close(saved_out)
            os.close(saved_err)
