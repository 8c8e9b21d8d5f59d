"""How many bytes of each source go into a mix. Exact arithmetic: the same on every machine."""

from collections.abc import Mapping
from fractions import Fraction

from runtime.contracts.mix import Mix

Shares = dict[str, Fraction]


def wanted_shares(mix: Mix) -> Shares:
    """The share of the budget each source is to have, by its weight."""
    total = sum(Fraction(source.weight) for source in mix.sources.values())
    return {name: Fraction(source.weight) / total for name, source in mix.sources.items()}


def allocate(mix: Mix, available: Mapping[str, int]) -> dict[str, int]:
    """Bytes to draw from each source, from the bytes it has.

    A source gives at most `epochs_max` times what it has; what it cannot give goes to the others, by their weights. The
    synthetic sources together get at most `synthetic_max` of the whole, and of what the others really give: if those run
    short, the mix becomes smaller rather than more synthetic.
    """
    weights = {name: Fraction(source.weight) for name, source in mix.sources.items()}
    limits = {name: available[name] * mix.epochs_max for name in weights}
    filled = fill(weights, limits, mix.budget_bytes)
    synthetic = {name for name, source in mix.sources.items() if source.synthetic}
    largest = Fraction(mix.synthetic_max)
    if sum(filled[name] for name in synthetic) <= largest * sum(filled.values()):
        return _floors(filled)
    natural = fill(_only(weights, weights.keys() - synthetic), limits, (1 - largest) * mix.budget_bytes)
    made = fill(_only(weights, synthetic), limits, synthetic_allowance(mix, sum(natural.values())))
    return _floors({**natural, **made})


def synthetic_allowance(mix: Mix, natural: Fraction | int) -> Fraction:
    """Bytes of synthetic text allowed beside `natural` bytes of other text, within the budget."""
    largest = Fraction(mix.synthetic_max)
    left = Fraction(mix.budget_bytes) - natural
    return left if largest == 1 else min(left, largest / (1 - largest) * natural)


def fill(weights: Mapping[str, Fraction], limits: Mapping[str, int], budget: Fraction | int) -> Shares:
    """Divide a budget by weights; what is above the limit of one goes to the others."""
    result = {name: Fraction(0) for name in weights}
    open_, left = {name for name, weight in weights.items() if weight > 0}, Fraction(budget)
    while open_:
        total = sum(weights[name] for name in open_)
        full = {name for name in open_ if left * weights[name] / total >= limits[name]}
        result.update({name: Fraction(limits[name]) for name in full} if full else {name: left * weights[name] / total for name in open_})
        left -= sum(result[name] for name in full)
        open_ = open_ - full if full else set()
    return result


def _only(weights: Mapping[str, Fraction], names: set[str]) -> dict[str, Fraction]:
    return {name: weight for name, weight in weights.items() if name in names}


def _floors(exact: Shares) -> dict[str, int]:
    return {name: int(value) for name, value in exact.items()}
