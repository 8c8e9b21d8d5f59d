"""Near duplicates: MinHash signatures, locality-sensitive hashing in bands, verified by the true Jaccard similarity.

Broder 1997, "On the resemblance and containment of documents", for the signatures; Leskovec, Rajaraman, Ullman, "Mining of
Massive Datasets", section 3.4, for the bands. A band only proposes a pair; the shingles themselves decide.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from runtime.contracts.dedup import Near
from runtime.data.shingles import jaccard, shingles, tokens

SEED = 1
RECALL = 0.95  # least probability that a pair right at the threshold shares a band
LEADERS = 32  # documents of one bucket that are not alike and that others are compared with: keeps a huge bucket linear
_CACHED = 4096


def clusters(texts: Sequence[str], near: Near) -> list[list[int]]:
    """Groups (two members or more, in order) of indices whose documents are linked by similarities of the threshold or more.

    A text with fewer tokens than `near.ngram` is only ever grouped with texts of the same tokens; one without any token
    with none.
    """
    spaced = [spaced_out(text) for text in texts]
    forest = Forest(len(texts))
    for group in _short_groups(spaced, near.ngram):
        for member in group[1:]:
            forest.join(group[0], member)
    long = [index for index, line in enumerate(spaced) if _length(line) >= near.ngram]
    _join_similar(forest, spaced, long, near)
    return forest.groups()


def spaced_out(text: str) -> str:
    """The tokens of a text with a blank between them: what daft splits again, and far smaller than a list of them."""
    return " ".join(tokens(text))


def _length(spaced: str) -> int:
    return spaced.count(" ") + 1 if spaced else 0


def bands(threshold: float, permutations: int) -> tuple[int, int]:
    """Number of bands and rows of each: the most rows (fewest false candidates) that still find RECALL of the pairs at the threshold."""
    fitting = (rows for rows in range(permutations, 0, -1) if 1 - (1 - threshold**rows) ** (permutations // rows) >= RECALL)
    rows = next(fitting, 1)
    return permutations // rows, rows


def signatures(spaced: Sequence[str], near: Near) -> NDArray[np.uint32]:
    """MinHash signatures, shape (documents, permutations); every document has at least `near.ngram` tokens."""
    import daft  # starts its threads when it is imported

    column = daft.col("tokens").minhash(num_hashes=near.permutations, ngram_size=near.ngram, seed=SEED, hash_function="xxhash64")
    table = daft.from_pydict({"tokens": list(spaced)}).select(column).to_arrow()
    values = table.column(0).combine_chunks().values.to_numpy()
    return values.astype(np.uint32, copy=False).reshape(len(spaced), near.permutations)


class Forest:
    """Disjoint sets of document indices; the root of a set is its lowest index."""

    def __init__(self, size: int) -> None:
        self._parent = list(range(size))

    def root(self, index: int) -> int:
        """The lowest index of the set that holds `index`."""
        while self._parent[index] != index:
            self._parent[index] = self._parent[self._parent[index]]
            index = self._parent[index]
        return index

    def join(self, left: int, right: int) -> None:
        """Unite two sets."""
        low, high = sorted((self.root(left), self.root(right)))
        self._parent[high] = low

    def groups(self) -> list[list[int]]:
        """The sets of two or more, members in order, sets in the order of their first member."""
        members: dict[int, list[int]] = defaultdict(list)
        for index in range(len(self._parent)):
            members[self.root(index)].append(index)
        return [group for group in members.values() if len(group) > 1]


def _short_groups(spaced: Sequence[str], ngram: int) -> list[list[int]]:
    same: dict[str, list[int]] = defaultdict(list)
    for index, line in enumerate(spaced):
        if 0 < _length(line) < ngram:
            same[line].append(index)
    return list(same.values())


def _join_similar(forest: Forest, spaced: Sequence[str], long: list[int], near: Near) -> None:
    if len(long) < 2:
        return

    @lru_cache(maxsize=_CACHED)
    def shingles_of(index: int) -> frozenset[tuple[str, ...]]:
        return shingles(spaced[index].split(" "), near.ngram)

    for bucket in _buckets(signatures([spaced[index] for index in long], near), near):
        leaders: list[int] = []
        for member in (long[position] for position in bucket):
            if any(forest.root(leader) == forest.root(member) for leader in leaders):
                continue
            like = next((leader for leader in leaders if jaccard(shingles_of(leader), shingles_of(member)) >= near.threshold), None)
            if like is not None:
                forest.join(like, member)
            elif len(leaders) < LEADERS:
                leaders.append(member)


def _buckets(signature: NDArray[np.uint32], near: Near) -> Iterator[list[int]]:
    """Positions that agree in all rows of some band, band by band, in order."""
    count, rows = bands(near.threshold, near.permutations)
    for band in range(count):
        keys = _band_keys(signature[:, band * rows : (band + 1) * rows])
        order = np.argsort(keys, kind="stable")
        starts = np.flatnonzero(np.diff(keys[order])) + 1
        yield from (part.tolist() for part in np.split(order, starts) if len(part) > 1)


def _band_keys(rows: NDArray[np.uint32]) -> NDArray[np.uint64]:
    """One 64-bit number a row (multiplication modulo 2^64); a collision costs one comparison, never a wrong merge."""
    keys = np.zeros(len(rows), np.uint64)
    for column in rows.T:
        keys = (keys ^ column) * np.uint64(0x9E3779B97F4A7C15)
    return keys
