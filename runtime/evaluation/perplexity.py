"""Token-weighted loss of a language model, computed in float64 from its logits.

A mean of window means gives a window with ten scored tokens the weight of one with a thousand; so losses are sums of
nats beside the number of tokens they come from, and are divided once, at the very end.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.integer]
Floats = NDArray[np.floating]
LogitsOf = Callable[[Ints], Floats]
"""ids [batch, length] -> logits [batch, length, vocabulary]; position t predicts the id at t + 1."""


@dataclass(frozen=True)
class Loss:
    """`nats`: summed negative log-likelihood of `tokens` scored tokens."""

    nats: float
    tokens: int

    @property
    def mean(self) -> float:
        """Nats per token; NaN where nothing was scored."""
        return self.nats / self.tokens if self.tokens else math.nan

    @property
    def perplexity(self) -> float:
        """exp(nats per token); infinite where that is more than a float64 holds."""
        try:
            return math.exp(self.mean)
        except OverflowError:
            return math.inf

    def bits_per_byte(self, size: int) -> float:
        """nats / ln 2 / UTF-8 bytes of the scored text: the same for every tokenizer of that text. NaN for no bytes."""
        return self.nats / math.log(2) / size if size else math.nan


def total(losses: Iterable[Loss]) -> Loss:
    """The loss over everything that was scored."""
    parts = list(losses)
    nats = [part.nats for part in parts]
    return Loss(math.fsum(nats) if all(map(math.isfinite, nats)) else sum(nats), sum(part.tokens for part in parts))


def token_nats(logits: Floats, targets: Ints) -> NDArray[np.float64]:
    """Negative log-likelihood of every target: logits [..., vocabulary], targets [...] -> nats [...], float64.

    logsumexp(x) - x[target] with the maximum taken out first; a logit that is not a number makes its nats not a number.
    """
    wide = logits.astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        wide -= wide.max(axis=-1, keepdims=True)
        chosen = np.take_along_axis(wide, targets[..., None].astype(np.int64), axis=-1)[..., 0]
        return np.log(np.exp(wide).sum(axis=-1)) - chosen


def batches(rows: Ints, size: int) -> Iterator[tuple[Ints, int]]:
    """Rows in blocks of exactly `size`, so that one compiled graph serves them all, and how many of a block are real."""
    for start in range(0, len(rows), size):
        block = rows[start : start + size]
        filler = np.repeat(block[:1], size - len(block), axis=0)
        yield np.concatenate([block, filler]), len(block)


def row_losses(logits_of: LogitsOf, ids: Ints, targets: Ints, scored: NDArray[np.bool_], size: int) -> Iterator[Loss]:
    """Loss of each row, in order: ids, targets and scored are [rows, length], targets[t] is what ids[..t] must predict."""
    done = 0
    for block, real in batches(ids, size):
        logits = logits_of(block)
        for row in range(real):
            mask = scored[done + row]
            nats = token_nats(logits[row][mask], targets[done + row][mask])
            yield Loss(float(nats.sum()), int(mask.sum()))
        done += real
