"""filter: the languages and topics the task asks for."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from runtime.contracts.filter import Filter
from runtime.data import parts
from runtime.data.funnel import Funnel
from runtime.data.language import primary
from runtime.faults import StageFault
from runtime.records import Record
from runtime.stage import Stage

LANGUAGE, DENIED, NOT_ALLOWED = "language", "denied", "not_allowed"


@dataclass(frozen=True)
class Sieve:
    """`languages` empty keeps all; `zh` also keeps `zh-Hant`. Patterns are searched anywhere in the text."""

    languages: frozenset[str]
    deny: tuple[re.Pattern[str], ...]
    allow: tuple[re.Pattern[str], ...]

    @classmethod
    def of(cls, parameters: Filter) -> "Sieve":
        """Compile the patterns. Raises StageFault for one that is no regular expression."""
        return cls(frozenset(parameters.languages), compiled("deny", parameters.deny), compiled("allow", parameters.allow))

    def refusal(self, record: Record) -> str | None:
        """Why a document is dropped; None where it is kept."""
        if self.languages and not self.languages & {record.language or "", primary(record.language)}:
            return LANGUAGE
        if any(pattern.search(record.text) for pattern in self.deny):
            return DENIED
        if self.allow and not any(pattern.search(record.text) for pattern in self.allow):
            return NOT_ALLOWED
        return None


def compiled(name: str, patterns: Sequence[str]) -> tuple[re.Pattern[str], ...]:
    """The patterns of one list. Raises StageFault that names the one that is wrong, and where in it."""
    return tuple(_compile(f"{name}[{index}]", pattern) for index, pattern in enumerate(patterns))


def _compile(name: str, pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise StageFault(
            f"{name} {pattern!r} is not a regular expression: {error}",
            where="config/filter.yaml",
            fix=f"mend data.pretrain.filter.{name}; a sign that is meant literally needs a backslash before it",
        ) from None


def kept(documents: Iterator[Record], parameters: Filter, funnel: Funnel) -> Iterator[Record]:
    """The documents that pass, in order; the others go to the funnel with a reason."""
    sieve = Sieve.of(parameters)
    for record in documents:
        funnel.enter(record)
        reason = sieve.refusal(record)
        if reason:
            funnel.drop(record, reason)
        else:
            yield funnel.keep(record)


def run(stage: Stage[Filter]) -> None:
    """Keep the documents that pass; see the module."""
    Sieve.of(stage.parameters)  # a pattern that is wrong is told before any work
    parts.sift(stage, "corpus/dedup", kept).conclude(stage)
