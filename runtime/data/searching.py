"""Regular expressions of the user, searched for a bounded time.

Python's `re` tries every way in which nested repeats can divide a text, which may take longer than the world lasts. It has what
linear engines lack (references back, looking around), and specs use it, so a search is bounded by processor time instead: a
search that is cut off stops the stage and says which expression and which document it was. It never decides about a document.
"""

import re
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from types import FrameType

from runtime.contracts.filter import NO_EXPRESSION
from runtime.faults import StageFault
from runtime.records import Record

CONFIG = "config/filter.yaml"
SECONDS = 5.0  # of processor time for one search, and as much for every further million characters


class _TooLong(Exception):
    """The bound is reached."""


@dataclass(frozen=True)
class Expression:
    """`name`: where in data.pretrain.filter it stands."""

    name: str
    pattern: re.Pattern[str]

    def found(self, record: Record) -> bool:
        """Whether the expression matches anywhere in the text. Raises StageFault where the search takes too long."""
        return self.count(record, 1) > 0

    def count(self, record: Record, most: int) -> int:
        """How many matches there are, up to `most`. Raises StageFault where the search takes too long."""
        seconds = SECONDS * (1 + len(record.text) / 1e6)
        try:
            with _bounded(seconds):
                return sum(1 for _ in islice(self.pattern.finditer(record.text), most))
        except _TooLong:
            raise StageFault(
                f"{self.name} {self.pattern.pattern!r} was searched for more than {seconds:.0f} seconds in one document",
                where=f"{record.source}: {record.id} ({len(record.text)} characters)",
                reason="repeats inside repeats, such as (a+)+ or (.*,)*, make the search try every way to divide a text among them",
                fix=f"rewrite data.pretrain.filter.{self.name} without a repeat inside a repeat, or with an atomic group (?>...)",
            ) from None


@contextmanager
def _bounded(seconds: float) -> Iterator[None]:
    """Raise _TooLong in the body after so much processor time of this process. Signals reach the main thread alone."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGVTALRM, _ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _ring(_number: int, _frame: FrameType | None) -> None:
    raise _TooLong


def compiled(name: str, patterns: Sequence[str]) -> tuple[Expression, ...]:
    """The expressions of one list. Raises StageFault that names the one that is wrong, and where in it."""
    return tuple(Expression(f"{name}[{index}]", _compile(f"{name}[{index}]", pattern)) for index, pattern in enumerate(patterns))


def _compile(name: str, pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except NO_EXPRESSION as error:
        raise StageFault(
            f"{name} {pattern!r} is not a regular expression: {error}",
            where=CONFIG,
            fix=f"mend data.pretrain.filter.{name}; a sign that is meant literally needs a backslash before it",
        ) from None
