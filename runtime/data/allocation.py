"""How many bytes of each source go into a mix. Exact arithmetic: the same on every machine."""

from collections.abc import Mapping
from fractions import Fraction

from runtime.contracts.mix import Mix

Amounts = dict[str, Fraction]


def wanted_shares(mix: Mix) -> Amounts:
    """The share of the budget each source is to have, by its weight."""
    total = sum(Fraction(source.weight) for source in mix.sources.values())
    return {name: Fraction(source.weight) / total for name, source in mix.sources.items()}


def allocate(mix: Mix, available: Mapping[str, int]) -> dict[str, int]:
    """Bytes to draw from each source, from the bytes it has, before the limit on synthetic text.

    A source gives its share of the budget, and at most `epochs_max` times what it has. What it lacks is not handed to the
    others: that would move every share away from its weight, so the mix becomes smaller instead.
    """
    shares = wanted_shares(mix)
    return {name: int(min(share * mix.budget_bytes, Fraction(available[name] * mix.epochs_max))) for name, share in shares.items()}


def synthetic_shrink(mix: Mix, natural: int, synthetic: int) -> Fraction:
    """The factor in [0, 1] by which synthetic bytes must shrink to be at most `synthetic_max` of the whole beside `natural` bytes.

    As in `allocate`, the mix becomes smaller rather than more synthetic.
    """
    largest = Fraction(mix.synthetic_max)
    if largest == 1 or synthetic == 0:
        return Fraction(1)
    return min(Fraction(1), largest / (1 - largest) * natural / synthetic)


def largest_exact_budget(mix: Mix, available: Mapping[str, int]) -> int:
    """The largest budget at which every source can still give its share within `epochs_max`."""
    return int(min(available[name] * mix.epochs_max / share for name, share in wanted_shares(mix).items() if share))
