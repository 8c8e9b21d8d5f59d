"""What cannot be read: counted under a reason, named with file, line and byte offset, and refused where it is too much."""

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from runtime.contracts.counting import counted
from runtime.contracts.ingest import Ingest
from runtime.faults import StageFault

NAME = "quarantine.jsonl"
KEPT_PER_SOURCE = 1000  # rows that the file holds; all are counted
KEPT_BYTES = 10_000  # of one row; a longer one is cut, and says so
PLACES = 5  # in the message of a refusal
WITH_LOSS = "a text that is decoded with loss would be learned as it is"


@dataclass
class Unreadable(StageFault):
    """A row or a file that cannot be read.

    kind: the reason it is counted under; line: physical, from 1 (of JSON and Parquet: the row); offset: of its first byte, in
    the uncompressed file; row: its bytes, or their beginning; size: how many bytes are lost; counts_for: how many rows are in
    doubt because of it.
    """

    kind: str = ""
    line: int | None = None
    offset: int | None = None
    row: bytes = b""
    size: int = 0
    counts_for: int = 1

    def __reduce__(self) -> tuple[Any, ...]:
        """On its way from another process it is the fault that the user sees."""
        return StageFault, (self.message, self.where, self.reason, self.fix)


@dataclass
class Quarantine:
    """The unreadable rows of some tasks: the first ones of each source in full, and the number of all that are in doubt."""

    rows: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    reasons: dict[str, Counter[str]] = field(default_factory=dict)
    doubtful: Counter[str] = field(default_factory=Counter)
    first: dict[str, list[StageFault]] = field(default_factory=dict)

    def take(self, source: str, file: str, bad: Unreadable) -> None:
        """Keep one unreadable row of a source; `file`: its path as the spec would write it."""
        self._reasons(source)[bad.kind] += 1
        self.doubtful[source] += bad.counts_for
        if len(faults := self.first.setdefault(source, [])) < PLACES:
            faults.append(StageFault(bad.message, bad.where, bad.reason, bad.fix))
        if len(kept := self.rows.setdefault(source, [])) < KEPT_PER_SOURCE:
            kept.append(_described(source, file, bad))

    def add(self, other: "Quarantine") -> None:
        """Take what another one holds, as if it had come behind."""
        self.doubtful.update(other.doubtful)
        for source, reasons in other.reasons.items():
            self._reasons(source).update(reasons)
        for mine, theirs, most in ((self.rows, other.rows, KEPT_PER_SOURCE), (self.first, other.first, PLACES)):
            for source, values in theirs.items():
                known: list[Any] = mine.setdefault(source, [])
                known.extend(values[: most - len(known)])

    def refuse_above(self, source: str, rows: int, settings: Ingest, unit: str = "row") -> None:
        """Raise StageFault where more than the allowed share of a source's `rows` cannot be read. `unit`: what they are called."""
        doubtful = min(self.doubtful[source], rows)  # of a file that breaks off, a bad row counts with the file once more
        if doubtful <= settings.bad_rows_max * rows:
            return
        first, *others = self.first[source]
        left = self._reasons(source).total() - 1 - len(others)
        more = f" and {counted(left, f'further {unit}')}" if left else ""
        also = f"; also at {', '.join(fault.where for fault in others)}{more}" if others else ""
        enough = math.ceil(doubtful / rows * 1000) / 1000
        raise StageFault(
            f"{first.message} ({self.phrase(source)} of {counted(rows, unit)} in the source {source}, {doubtful} in doubt{also})",
            where=first.where,
            reason=f"more than {settings.bad_rows_max:.2%} of the {unit}s cannot be read or in doubt (data.pretrain.ingest.bad_rows_max)",
            fix=f"{first.fix}; to go on without what cannot be read, set data.pretrain.ingest.bad_rows_max to {enough:g} or more",
        )

    def warnings(self) -> list[str]:
        """A line for each source of which something could not be read."""
        return [f"source {source}: {self.phrase(source)} could not be read; see {NAME}" for source in self.reasons]

    def phrase(self, source: str) -> str:
        """How many, and why."""
        reasons = self._reasons(source)
        told = ", ".join(f"{reason}: {count}" for reason, count in sorted(reasons.items()))
        return f"{reasons.total()} ({told})"

    def write(self, path: Path, sources: Iterable[str]) -> None:
        """One JSON object a row, by source, in the order in which they were read."""
        rows = (row for source in sources for row in self.rows.get(source, []))
        path.write_bytes(b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows))

    def _reasons(self, source: str) -> Counter[str]:
        return self.reasons.setdefault(source, Counter())


def _described(source: str, file: str, bad: Unreadable) -> dict[str, Any]:
    """Bytes that are not UTF-8 are shown as escapes, so that the line is one of JSON and nothing of the row is hidden."""
    shown = bad.row[:KEPT_BYTES].decode("utf-8", "backslashreplace")
    place = {"source": source, "file": file, "line": bad.line, "offset": bad.offset}
    return {**place, "reason": bad.kind, "detail": bad.message, "bytes": bad.size, "cut": bad.size > KEPT_BYTES, "row": shown}
