"""dedup: exact documents, then near documents, then repeated lines, across all sources.

Documents go first, so that a near copy is removed as a whole instead of leaving the lines in which it differs. Exact
copies may differ in white space.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import xxhash

from runtime import records
from runtime.contracts.dedup import Dedup, Lines
from runtime.data.characters import tidy
from runtime.data.funnel import Funnel
from runtime.data.minhash import clusters as near_clusters
from runtime.faults import StageFault
from runtime.records import Record
from runtime.stage import Stage

EXACT, NEAR, LINES = "exact_duplicate", "near_duplicate", "repeated_lines"
REMAINDER = 0.2  # of its characters: a document that lost more to repeated lines is a torso, and is dropped
WARNED_SHARE = 0.5  # of one source's documents: the user should look before training on what is left

Choice = Callable[[Sequence[Record]], int]


@dataclass
class Duplicates:
    """What was found: clusters of each kind, in all and per source that has a member in them; lines removed per source."""

    clusters: Counter[str] = field(default_factory=Counter)
    by_source: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    lines: Counter[str] = field(default_factory=Counter)
    characters: Counter[str] = field(default_factory=Counter)

    def cluster(self, kind: str, members: Sequence[Record]) -> None:
        """Count a cluster once in all, and once for every source in it."""
        self.clusters[kind] += 1
        for source in {member.source for member in members}:
            self.by_source[source][kind] += 1

    def as_dict(self) -> dict[str, Any]:
        """The counts, names in alphabetical order."""
        return {
            "clusters": dict(sorted(self.clusters.items())),
            "clusters_by_source": {source: dict(sorted(kinds.items())) for source, kinds in sorted(self.by_source.items())},
            "lines_removed": dict(sorted(self.lines.items())),
            "line_characters_removed": dict(sorted(self.characters.items())),
        }


def exact_clusters(documents: Sequence[Record]) -> list[list[int]]:
    """Groups of two or more documents whose texts are equal but for white space; empty ones are in none."""
    same: dict[bytes, list[int]] = defaultdict(list)
    for index, document in enumerate(documents):
        same[xxhash.xxh3_128_digest(" ".join(document.text.split()).encode())].append(index)
    return [group for group in same.values() if len(group) > 1]


def chooser(keep: str) -> Choice:
    """Which of a cluster stays: the position of the `first`, or of the `longest` (the first of equally long ones). Raises StageFault."""
    match keep:
        case "first":
            return lambda members: 0
        case "longest":
            return lambda members: max(range(len(members)), key=lambda position: (len(members[position].text), -position))
        case _:
            raise StageFault(f"unknown keep {keep!r}", where="config/dedup.yaml", fix="use longest or first")


def without_repeated_lines(text: str, limits: Lines, seen: set[bytes]) -> tuple[str, int]:
    """The text without lines of `min_length` characters or more that are in `seen`, to which its own are added; and how many went."""
    kept, removed = list[str](), 0
    for line in text.split("\n"):
        bare = line.strip()
        key = xxhash.xxh3_128_digest(bare.encode()) if len(bare) >= limits.min_length else b""
        if key and key in seen:
            removed += 1
        else:
            kept.append(line)
        if key:
            seen.add(key)
    return (tidy("\n".join(kept)), removed) if removed else (text, 0)


@dataclass
class Deduplication:
    """One pass over a corpus; what is dropped goes to the funnel, what is found to `found`."""

    parameters: Dedup
    funnel: Funnel
    found: Duplicates = field(default_factory=Duplicates)

    def survivors(self, documents: list[Record]) -> list[Record]:
        """The documents that stay, in order, without the lines that were seen before."""
        settings = self.parameters.documents
        if settings.exact:
            documents = self._one_of_each(documents, exact_clusters(documents), EXACT)
        if settings.near:
            documents = self._one_of_each(documents, near_clusters([document.text for document in documents], settings.near), NEAR)
        if self.parameters.lines.exact:
            documents = list(self._without_lines(documents))
            if settings.exact:  # without their shared lines, documents may have become equal
                documents = self._one_of_each(documents, exact_clusters(documents), EXACT)
        return documents

    def _one_of_each(self, documents: list[Record], clusters: Iterable[list[int]], kind: str) -> list[Record]:
        choose, dropped = chooser(self.parameters.keep), set[int]()
        for cluster in clusters:
            members = [documents[index] for index in cluster]
            self.found.cluster(kind, members)
            dropped |= set(cluster) - {cluster[choose(members)]}
        for index in sorted(dropped):
            self.funnel.drop(documents[index], kind)
        return [document for index, document in enumerate(documents) if index not in dropped]

    def _without_lines(self, documents: Iterable[Record]) -> Iterable[Record]:
        seen: set[bytes] = set()
        for document in documents:
            text, removed = without_repeated_lines(document.text, self.parameters.lines, seen)
            if removed:
                self.found.lines[document.source] += removed
                self.found.characters[document.source] += len(document.text) - len(text)
            if len(text) < REMAINDER * len(document.text):
                self.funnel.drop(document, LINES)
            else:
                yield document.with_text(text)


def run(stage: Stage[Dedup]) -> None:
    """Remove duplicates; see the module."""
    made = stage.manifest("corpus/clean")
    funnel = Funnel(made.facts.get("sources", []))
    work = Deduplication(stage.parameters, funnel)
    documents: list[Record] = []
    with stage.bar(made.counts.get("documents"), "documents") as bar:
        for record in records.read(stage.input("corpus/clean")):
            funnel.enter(record)
            documents.append(record)
            bar.advance()
        kept = work.survivors(documents)
        records.write(stage.out, map(funnel.keep, kept))
    warnings = warnings_of(funnel)
    for warning in warnings:
        stage.terminal.say(f"warning: {warning}")
    funnel.conclude(stage, {**work.found.as_dict(), "warnings": warnings})


def warnings_of(funnel: Funnel) -> list[str]:
    """A sentence for every source that lost more than WARNED_SHARE of its documents."""
    seen = {name: flow for name, flow in funnel.sources.items() if flow.documents_in}
    removed = {name: 1 - flow.documents_out / flow.documents_in for name, flow in seen.items()}
    return [f"{share:.0%} of the documents of {name} are duplicates" for name, share in removed.items() if share > WARNED_SHARE]
