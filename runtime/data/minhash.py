"""MinHash signatures, and the bands of them in which near duplicates meet.

Broder 1997, "On the resemblance and containment of documents", for the signatures; Leskovec, Rajaraman, Ullman, "Mining of
Massive Datasets", section 3.4, for the bands. A band only proposes a pair; the shingles themselves decide.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from runtime.data.token_hashes import Hashes, Tokens, mixed

SEED = 1
RECALL = 0.98  # least probability that a pair right at the threshold shares a band
_BLOCK = 1 << 15  # shingles that are permuted at a time: few enough for the cache of a core


def bands(threshold: float, permutations: int) -> tuple[int, int]:
    """Number of bands and rows of each: the most rows (fewest false candidates) that still find RECALL of the pairs at the threshold."""
    fitting = (rows for rows in range(permutations, 0, -1) if 1 - (1 - threshold**rows) ** (permutations // rows) >= RECALL)
    rows = next(fitting, 1)
    return permutations // rows, rows


def signatures(shingles: Tokens, permutations: int) -> NDArray[np.uint32]:
    """For each text, the least value of its shingles under each permutation; shape (texts, permutations), every text with a shingle.

    A permutation of the 32-bit numbers is an exclusive or and a product with an odd number (multiply-shift: Dietzfelbinger et
    al. 1997, "A reliable randomized algorithm for the closest-pair problem"); the shingles themselves are hashed, so uniform.
    """
    values = (shingles.hashes >> np.uint64(32)).astype(np.uint32)
    result = np.empty((permutations, len(shingles.counts)), np.uint32)
    starts, ends = shingles.starts, np.cumsum(shingles.counts)
    first = 0
    while first < len(starts):
        last = max(int(np.searchsorted(ends, starts[first] + _BLOCK, "right")), first + 1)
        block, inside = values[starts[first] : ends[last - 1]], starts[first:last] - starts[first]
        for row, (mask, factor) in enumerate(_permutations(permutations)):
            result[row, first:last] = np.minimum.reduceat((block ^ mask) * factor, inside)
        first = last
    return result.T


@cache
def _permutations(count: int) -> list[tuple[np.uint32, np.uint32]]:
    """`count` masks and odd factors."""
    numbers = mixed(np.arange(1, 2 * count + 1, dtype=np.uint64) + (np.uint64(SEED) << np.uint64(32)))
    drawn = (numbers >> np.uint64(32)).astype(np.uint32)
    return list(zip(drawn[:count], drawn[count:] | np.uint32(1), strict=True))


def band_keys(signature: NDArray[np.uint32], count: int, rows: int) -> Hashes:
    """One number for each text and band, shape (texts, count): equal where all rows of the band are.

    A collision costs one comparison of shingles, never a wrong merge.
    """
    keys = np.empty((len(signature), count), np.uint64)
    for band in range(count):
        key = np.full(len(signature), band, np.uint64)
        for column in signature[:, band * rows : (band + 1) * rows].T:
            key = mixed(key ^ column)
        keys[:, band] = key
    return keys
