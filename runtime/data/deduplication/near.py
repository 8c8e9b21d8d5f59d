"""Near duplicates: documents that share a band of their signatures are compared by their shingles.

Candidates are found by tasks over partitions of the bands (12 bytes a band and document) and their shingles written by tasks
over the parts of the corpus (8 bytes a shingle of a candidate). One process then goes through the buckets in order, because
which pairs need a comparison depends on those before: two documents that are already linked are not compared again.
"""

from array import array
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from runtime.contracts.dedup import Near
from runtime.data import token_hashes
from runtime.data.deduplication import partitions
from runtime.data.deduplication.clusters import CHANGED, read_table
from runtime.data.deduplication.forest import Forest
from runtime.data.deduplication.partitions import Layout, Partition
from runtime.data.deduplication.survey import batches
from runtime.data.deduplication.texts import documents as documents_of
from runtime.data.token_hashes import Hashes

ROW_BYTES = 12
LEADERS = 32  # documents of one bucket that are not alike and that others are compared with: keeps a huge bucket linear
CACHE = 64_000_000  # bytes of shingles that are held


def buckets(partition: Partition) -> int:
    """Write the groups of documents that share a band; returns how many there are."""
    documents, keys = partitions.take(partition, "bands")
    there = read_table(partition.layout)["state"][documents] <= CHANGED
    documents, keys = documents[there], keys[there]
    order = np.argsort(keys, kind="stable")
    documents, keys = documents[order], keys[order]
    edges = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1], [True]])) if len(keys) else np.zeros(1, np.int64)
    sizes = np.diff(edges)
    np.save(_bucket_path(partition, "members"), documents[np.repeat(sizes > 1, sizes)])
    np.save(_bucket_path(partition, "sizes"), sizes[sizes > 1])
    return int((sizes > 1).sum())


def _bucket_path(partition: Partition, column: str) -> Path:
    return partitions.path(partition.layout.work, "buckets", partition.number, column)


def candidates(layout: Layout, of: Sequence[Partition]) -> NDArray[np.bool_]:
    """Of every document, whether it is in a bucket."""
    found = np.zeros(layout.offsets[-1], bool)
    for partition in of:
        found[np.load(_bucket_path(partition, "members"))] = True
    return found


@dataclass(frozen=True)
class ShingleTask:
    """One part of the corpus, and the rows of its candidates."""

    part: Path
    number: int
    layout: Layout
    rows: NDArray[np.uint32]
    ngram: int


def write_shingles(task: ShingleTask) -> NDArray[np.int64]:
    """Write the shingles of the candidates, of each sorted and without repeats; returns how many each has."""
    wanted, counts = set(task.rows.tolist()), list[int]()
    rows = enumerate(documents_of(task.part, task.layout.work, task.number) if wanted else ())
    chosen = (document for row, (_, document) in rows if row in wanted)
    with _shingle_path(task.layout, task.number).open("wb") as file:
        for batch in batches(chosen):
            texts = [record.text for record in batch]
            shingles = token_hashes.shingles(texts, token_hashes.hashed(texts), task.ngram)
            for of_one in np.split(shingles.hashes, np.cumsum(shingles.counts)[:-1]):
                distinct = np.unique(of_one)
                file.write(distinct.tobytes())
                counts.append(len(distinct))
    return np.array(counts, np.int64)


def _shingle_path(layout: Layout, part: int) -> Path:
    return layout.work / f"shingles-{part:05d}.bin"


class Shingles:
    """The shingles of candidates, read when they are asked for. Memory: 16 bytes a candidate, and CACHE."""

    def __init__(self, layout: Layout, rows: Sequence[NDArray[np.uint32]], counts: Sequence[NDArray[np.int64]]) -> None:
        self._layout, self._rows = layout, rows
        self._edges = [np.concatenate([[0], np.cumsum(of_part)]) for of_part in counts]
        self._held: OrderedDict[int, Hashes] = OrderedDict()
        self._bytes = 0

    def of(self, document: int) -> Hashes:
        """Sorted and without repeats."""
        known = self._held.pop(document, None)
        if known is None:
            known = self._read(document)
            self._bytes += known.nbytes
        self._held[document] = known
        while self._bytes > CACHE and len(self._held) > 2:
            self._bytes -= self._held.popitem(last=False)[1].nbytes
        return known

    def size(self, document: int) -> int:
        """How many there are, without reading them."""
        edges, place = self._place(document)
        return int(edges[place + 1] - edges[place])

    def _place(self, document: int) -> tuple[NDArray[np.int64], int]:
        part = bisect_right(self._layout.offsets, document) - 1
        return self._edges[part], int(np.searchsorted(self._rows[part], document - self._layout.offsets[part]))

    def _read(self, document: int) -> Hashes:
        part = bisect_right(self._layout.offsets, document) - 1
        edges, place = self._place(document)
        with _shingle_path(self._layout, part).open("rb") as file:
            file.seek(int(edges[place]) * 8)
            return np.frombuffer(file.read(int(edges[place + 1] - edges[place]) * 8), np.uint64)


def jaccard(left: Hashes, right: Hashes) -> float:
    """Size of the intersection over size of the union, in [0, 1], of two sorted arrays without repeats."""
    small, large = (left, right) if len(left) <= len(right) else (right, left)
    places = np.searchsorted(large, small)
    common = int(np.count_nonzero(large[np.minimum(places, len(large) - 1)] == small))
    return common / (len(left) + len(right) - common)


class Links:
    """What was found alike. `compared`: pairs whose shingles were looked at. Memory: 8 bytes a document, 16 a link."""

    def __init__(self, documents: int) -> None:
        self.forest = Forest(documents)
        self.compared = 0
        self._linked, self._similarities = array("q"), array("d")

    def add(self, left: int, right: int, similarity: float) -> None:
        """Two documents are alike."""
        self.forest.join(left, right)
        self._linked.append(left)
        self._similarities.append(similarity)

    def lowest(self) -> dict[int, float]:
        """First document of a set -> the lowest similarity of two documents that link it."""
        found: dict[int, float] = {}
        for document, similarity in zip(self._linked, self._similarities, strict=True):
            root = self.forest.root(document)
            found[root] = min(similarity, found.get(root, 1.0))
        return found


def link(of: Sequence[Partition], shingles: Shingles, near: Near, documents: int) -> Links:
    """Link the documents of each bucket that are alike, bucket after bucket."""
    links = Links(documents)
    for bucket in _buckets(of):
        _link_bucket(bucket, shingles, near.threshold, links)
    return links


def _buckets(of: Sequence[Partition]) -> Iterator[list[int]]:
    for partition in of:
        members, sizes = np.load(_bucket_path(partition, "members"), mmap_mode="r"), np.load(_bucket_path(partition, "sizes"))
        start = 0
        for size in sizes.tolist():
            yield members[start : start + size].tolist()
            start += size


def _link_bucket(bucket: list[int], shingles: Shingles, threshold: float, links: Links) -> None:
    root, leaders = links.forest.root, list[int]()
    for member in bucket:
        own = root(member)
        if any(root(leader) == own for leader in leaders):
            continue
        for leader in leaders:
            similarity = _similarity(leader, member, shingles, threshold, links)
            if similarity >= threshold:
                links.add(leader, member, similarity)
                break
        else:
            if len(leaders) < LEADERS:
                leaders.append(member)


def _similarity(left: int, right: int, shingles: Shingles, threshold: float, links: Links) -> float:
    """0 where the sizes alone rule the threshold out."""
    small, large = sorted((shingles.size(left), shingles.size(right)))
    if small < threshold * large:
        return 0.0
    links.compared += 1
    return jaccard(shingles.of(left), shingles.of(right))
