"""How many there are of each size, where a data stage has counted it: groups of duplicates, documents, instruction rows."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from runtime.report.evidence import Evidence

UP_TO = "≤"


@dataclass(frozen=True)
class Bar:
    """One size, or range of sizes, and how many have it; `share`: of the longest bar."""

    label: str
    count: int
    share: float


@dataclass(frozen=True)
class Histogram:
    """`title`: a text of the catalogue; `kind`: a further word of the data, or nothing; `bars` from small to large."""

    title: str
    kind: str
    bars: tuple[Bar, ...]


def histograms(evidence: Evidence) -> tuple[Histogram, ...]:
    """Those that the metrics tell, in the order of the stages."""
    found: list[tuple[str, str, Any]] = [
        ("cluster_sizes", str(kind), sizes) for kind, sizes in (evidence.metric("dedup", "cluster_sizes") or {}).items()
    ]
    found.append(("document_lengths", "", _bounded(evidence.metric("pack-pretrain", "lengths", "train", "at_most"))))
    found.append(("row_lengths", "", _bounded(evidence.metric("format", "lengths", "up_to"))))
    return tuple(Histogram(title, kind, _bars(counts)) for title, kind, counts in found if counts)


def _bounded(counts: Any) -> dict[str, int]:
    return {f"{UP_TO} {int(bound):,}": count for bound, count in (counts or {}).items()}


def _bars(counts: Mapping[str, int]) -> tuple[Bar, ...]:
    most = max(counts.values())
    return tuple(Bar(label, count, count / most if most else 0.0) for label, count in counts.items())
