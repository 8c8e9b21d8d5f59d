"""Which documents of each source go into a mix, and how often. Memory: about 60 bytes a document of the corpus."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from runtime.contracts.mix import Mix
from runtime.data.allocation import Holding, allocate, synthetic_shrink

Counts = NDArray[np.int64]
Ranks = Callable[[Mapping[str, int]], NDArray[np.uint64]]
UNKNOWN = -1
_BLOCK = 1 << 16


@dataclass(frozen=True)
class Documents:
    """Every document of the corpus, in order: arrays of one length.

    source: its place among `names`, UNKNOWN where it is none of them; bytes: of UTF-8; tokens: estimated.
    """

    names: tuple[str, ...]
    source: NDArray[np.int32]
    bytes: Counts
    tokens: Counts

    def of(self, name: str) -> NDArray[np.bool_]:
        """Which documents are of a source."""
        return self.source == self.names.index(name)

    def units(self, mix: Mix) -> Counts:
        """The size of each in the unit of the budget."""
        return self.bytes if mix.unit == "bytes" else self.tokens

    def held(self, uses: Counts | None = None) -> dict[str, Holding]:
        """What there is of each source; with `uses`, what that many uses of each document come to."""
        times = np.ones(len(self.source), np.int64) if uses is None else uses
        return {name: self._holding(self.of(name), times) for name in self.names}

    def _holding(self, mine: NDArray[np.bool_], times: Counts) -> Holding:
        used = times[mine]
        return Holding(int(used.sum()), int((self.bytes[mine] * used).sum()), int((self.tokens[mine] * used).sum()))


def draw(sizes: Counts, target: int, ranks: Callable[[int], NDArray[np.uint64]]) -> Counts:
    """How often each document of a source is used, so that their sizes add up to at most `target`.

    Whole epochs come first. The last one is another order of its own, `ranks(epoch)`; a document that does not fit any more is
    left out, and a smaller one behind it may still come in.
    """
    total = int(sizes.sum())
    if total == 0 or target <= 0:
        return np.zeros(len(sizes), np.int64)
    epochs, left = divmod(target, total)
    uses = np.full(len(sizes), epochs, np.int64)
    if left and left >= int(sizes.min()):
        order = np.argsort(ranks(epochs), kind="stable")
        uses[order[_fitting(sizes[order], left)]] += 1
    return uses


def _fitting(sizes: Counts, left: int) -> Counts:
    """Places of the documents that are taken when each, in order, is taken if it still fits."""
    whole = int(np.searchsorted(np.cumsum(sizes), left, side="right"))
    left -= int(sizes[:whole].sum())
    taken = list[int]()
    for start in range(whole, len(sizes), _BLOCK):
        block = sizes[start : start + _BLOCK]
        for place in np.flatnonzero(block <= left).tolist():
            if (size := int(block[place])) <= left:
                taken.append(start + place)
                left -= size
    return np.concatenate([np.arange(whole), np.asarray(taken, np.int64)])


def choose(mix: Mix, documents: Documents, ranks: Ranks) -> Counts:
    """How often each document is used.

    Natural sources go first: the synthetic share is measured against what really came of them. `ranks` gives a number to each
    document of the sources it is asked for, in the epoch that it is asked for.
    """
    there = documents.held()
    targets, uses = allocate(mix, there), np.zeros(len(documents.source), np.int64)
    made = {name: targets[name] for name, source in mix.sources.items() if source.synthetic}
    natural = {name: target for name, target in targets.items() if name not in made}
    uses += _chosen(mix, documents, natural, ranks)
    shrink = synthetic_shrink(mix, int((documents.units(mix) * uses).sum()), sum(made.values()))
    return uses + _chosen(mix, documents, {name: int(target * shrink) for name, target in made.items()}, ranks)


def _chosen(mix: Mix, documents: Documents, targets: Mapping[str, int], ranks: Ranks) -> Counts:
    uses, units = np.zeros(len(documents.source), np.int64), documents.units(mix)
    totals = {name: int(units[documents.of(name)].sum()) for name in targets}
    last = {name: target // totals[name] for name, target in targets.items() if totals[name] and target % totals[name]}
    ranked = ranks(last) if last else np.zeros(0, np.uint64)
    for name, target in targets.items():
        mine = documents.of(name)
        uses[mine] = draw(units[mine], target, lambda _epoch, mine=mine: ranked[mine])
    return uses
