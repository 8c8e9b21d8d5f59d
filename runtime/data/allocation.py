"""How much of each source goes into a mix, in the unit of the budget. Exact arithmetic: the same on every machine."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from runtime.contracts.mix import Mix
from runtime.faults import StageFault

Amounts = dict[str, Fraction]


@dataclass(frozen=True)
class Holding:
    """What there is of one source, or what was drawn of it: documents, UTF-8 bytes, estimated tokens."""

    documents: int = 0
    bytes: int = 0
    tokens: int = 0

    def units(self, mix: Mix) -> int:
        """The amount in the unit of the budget."""
        return self.bytes if mix.unit == "bytes" else self.tokens


Stock = Mapping[str, Holding]


def weights(mix: Mix, there: Stock) -> Amounts:
    """Relative shares of the sources without an amount of their own.

    With a temperature T a source of n units counts weight * n^(1/T): 1 follows the sizes, more evens them out (Conneau et al. 2020,
    "Unsupervised cross-lingual representation learning at scale", section 3.1, where alpha is 1/T).
    """
    plain = {name: Fraction(source.weight) for name, source in mix.sources.items() if not source.own}
    if mix.temperature is None:
        return plain
    # Twelve digits, so that the last bits of another machine's power function change nothing.
    return {name: weight * Fraction(f"{there[name].units(mix) ** (1 / mix.temperature):.12g}") for name, weight in plain.items()}


def own_amounts(mix: Mix, there: Stock) -> Amounts:
    """Amounts of the sources that state one. Raises StageFault where they are more than the budget."""
    stated = {name: _own(mix, name, there[name]) for name, source in mix.sources.items() if source.own}
    if sum(stated.values()) > mix.budget:
        told = ", ".join(f"{name}: {int(amount)}" for name, amount in stated.items())
        raise StageFault(
            f"the amounts in data.pretrain.mix.sources are more than the budget of {mix.budget} {mix.unit}",
            where="config/mix.yaml",
            reason=f"in {mix.unit}, {told}",
            fix=f"lower them, or set data.pretrain.mix.budget_{mix.unit} to {int(sum(stated.values())) + 1} or more",
        )
    return stated


def _own(mix: Mix, name: str, there: Holding) -> Fraction:
    source = mix.sources[name]
    if source.epochs is not None:
        return Fraction(source.epochs) * there.units(mix)
    amount, whole = (source.bytes, there.bytes) if source.bytes is not None else (source.tokens or 0, there.tokens)
    return Fraction(amount or 0) * there.units(mix) / whole if whole else Fraction(0)


def wanted(mix: Mix, there: Stock) -> Amounts:
    """What each source is to give: its own amount, or its share by weight of what the others' amounts leave of the budget."""
    stated, parts = own_amounts(mix, there), weights(mix, there)
    left, total = mix.budget - sum(stated.values()), sum(parts.values())
    amounts = {**stated, **{name: left * part / total if total else Fraction(0) for name, part in parts.items()}}
    return {name: amounts[name] for name in mix.sources}


def allocate(mix: Mix, there: Stock) -> dict[str, int]:
    """Units to draw from each source, before the limit on synthetic text.

    A source gives at most `epochs_max` times what it has. What it lacks is handed to the others only where `exhausted` is rebalance:
    it moves every share away from its weight, so otherwise the mix becomes smaller instead.
    """
    most = {name: Fraction(there[name].units(mix) * mix.epochs_max) for name in mix.sources}
    given = {name: min(amount, most[name]) for name, amount in wanted(mix, there).items()}
    if mix.exhausted == "rebalance":
        stated = sum(given[name] for name, source in mix.sources.items() if source.own)
        given |= _filled(weights(mix, there), Fraction(mix.budget - stated), most)
    return {name: int(given[name]) for name in mix.sources}


def _filled(parts: Amounts, amount: Fraction, most: Amounts) -> Amounts:
    """`amount` divided by weight, where those that reach their most leave the rest to the others."""
    given, open_ = dict.fromkeys(parts, Fraction(0)), {name: part for name, part in parts.items() if part}
    while open_:
        total = sum(open_.values())
        full = [name for name, part in open_.items() if amount * part >= most[name] * total]
        if not full:
            return given | {name: amount * part / total for name, part in open_.items()}
        given |= {name: most[name] for name in full}
        amount -= sum(most[name] for name in full)
        open_ = {name: part for name, part in open_.items() if name not in full}
    return given


def synthetic_shrink(mix: Mix, natural: int, synthetic: int) -> Fraction:
    """The factor in [0, 1] by which synthetic units must shrink to be at most `synthetic_max` of the whole beside `natural` ones.

    As in `allocate`, the mix becomes smaller rather than more synthetic.
    """
    largest = Fraction(mix.synthetic_max)
    if largest == 1 or synthetic == 0:
        return Fraction(1)
    return min(Fraction(1), largest / (1 - largest) * natural / synthetic)


def largest_exact_budget(mix: Mix, there: Stock) -> int:
    """The largest budget at which every source can still give its share within `epochs_max`."""
    parts, stated = weights(mix, there), sum(own_amounts(mix, there).values())
    total = sum(parts.values())
    bounds = (there[name].units(mix) * mix.epochs_max * total / part for name, part in parts.items() if part)
    return int(min(bounds, default=0) + stated)
