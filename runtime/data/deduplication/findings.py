"""What deduplication found, for the metrics and for `clusters.jsonl`."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nlargest, nsmallest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from runtime.data.deduplication.clusters import Clusters, Table
from runtime.data.token_hashes import mixed

SHOWN = 10  # clusters of each kind that are shown for their size, and as many drawn from all
MEMBERS = 10  # of a cluster that are shown


@dataclass(frozen=True)
class Sample:
    """A cluster to be shown: its kind, how large it is, the first members, the one that stays in front, and the lowest similarity."""

    kind: str
    size: int
    members: tuple[int, ...]
    similarity: float
    first: int


@dataclass
class Findings:
    """Clusters of each kind, in all and per source that has a member in them; whose copies were dropped; lines removed per source.

    `of_sources`: source of a dropped document -> source of the document that stays for it -> documents.
    """

    sources: Sequence[str]
    clusters: Counter[str] = field(default_factory=Counter)
    by_source: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    sizes: dict[str, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))
    of_sources: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    lines: Counter[str] = field(default_factory=Counter)
    characters: Counter[str] = field(default_factory=Counter)
    _largest: dict[str, list[Sample]] = field(default_factory=lambda: defaultdict(list))
    _drawn: dict[str, list[Sample]] = field(default_factory=lambda: defaultdict(list))

    def add(self, kind: str, found: Clusters, table: Table, similarities: Mapping[int, float] | None = None) -> None:
        """Count clusters. `similarities`: of a cluster by its lowest document, 1 where it has none."""
        if not len(found.sizes):
            return
        self.clusters[kind] += len(found.sizes)
        self._count_sources(kind, found, table)
        self.sizes[kind].update(_powers(found))
        samples = list(_samples(kind, found, similarities or {}))
        self._largest[kind] = nlargest(SHOWN, (*self._largest[kind], *samples), key=lambda one: (one.size, -one.first))
        self._drawn[kind] = nsmallest(SHOWN, (*self._drawn[kind], *samples), key=_lot)

    def _count_sources(self, kind: str, found: Clusters, table: Table) -> None:
        names, source = self.sources, table["source"][found.members].astype(np.int64)
        cluster = np.repeat(np.arange(len(found.sizes)), found.sizes)
        for number, count in _counted(np.unique(cluster * len(names) + source) % len(names)):
            self.by_source[names[number]][kind] += count
        dropped, kept = found.members != found.kept, table["source"][found.kept]
        for pair, count in _counted((source * len(names) + kept)[dropped]):
            self.of_sources[names[pair // len(names)]][names[pair % len(names)]] += count

    def lose(self, source: int, lines: int, characters: int) -> None:
        """Count what the documents of a source lost to repeated lines."""
        self.lines[self.sources[source]] += lines
        self.characters[self.sources[source]] += characters

    @property
    def samples(self) -> list[Sample]:
        """The largest clusters of each kind, and some drawn from all of them; each once."""
        return [one for kind in sorted(self._largest) for one in dict.fromkeys((*self._largest[kind], *self._drawn[kind]))]

    def as_dict(self) -> dict[str, Any]:
        """The counts, names in alphabetical order, sizes from small to large."""
        return {
            "clusters": dict(sorted(self.clusters.items())),
            "clusters_by_source": _sorted(self.by_source),
            "cluster_sizes": {
                kind: {_range(power): counts[power] for power in sorted(counts)} for kind, counts in sorted(self.sizes.items())
            },
            "duplicates_of": _sorted(self.of_sources),
            "lines_removed": dict(sorted(self.lines.items())),
            "line_characters_removed": dict(sorted(self.characters.items())),
        }


def _sorted(counts: Mapping[str, Counter[str]]) -> dict[str, dict[str, int]]:
    return {name: dict(sorted(of_name.items())) for name, of_name in sorted(counts.items())}


def _counted(values: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Each value and how often it occurs."""
    distinct, counts = np.unique(values, return_counts=True)
    return zip(distinct.tolist(), counts.tolist(), strict=True)


def _powers(found: Clusters) -> dict[int, int]:
    """Power of two that a size reaches -> clusters."""
    powers, counts = np.unique(np.floor(np.log2(found.sizes)).astype(int), return_counts=True)
    return dict(zip(powers.tolist(), counts.tolist(), strict=True))


def _range(power: int) -> str:
    return f"{2**power}-{2 ** (power + 1) - 1}"


def _lot(sample: Sample) -> int:
    return int(mixed(np.array([sample.first], np.uint64))[0])


def _samples(kind: str, found: Clusters, similarities: Mapping[int, float]) -> Iterator[Sample]:
    """Those that may be shown: the largest, and those with the lowest lots."""
    firsts = np.minimum.reduceat(found.members, found.starts)
    large = np.argsort(-found.sizes, kind="stable")[:SHOWN]
    drawn = np.argsort(mixed(firsts.astype(np.uint64)), kind="stable")[:SHOWN]
    for place in np.union1d(large, drawn).tolist():
        start, size, first = int(found.starts[place]), int(found.sizes[place]), int(firsts[place])
        members = tuple(found.members[start : start + min(size, MEMBERS)].tolist())
        yield Sample(kind, size, members, round(similarities.get(first, 1.0), 4), first)
