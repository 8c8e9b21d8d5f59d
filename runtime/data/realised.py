"""The mix as asked and as it came out: what is refused, what is warned of, what the metrics state."""

from fractions import Fraction
from typing import Any

from runtime.contracts.mix import Mix
from runtime.data.allocation import Amounts, Holding, Stock, largest_exact_budget, wanted
from runtime.data.drawing import Counts, Documents
from runtime.faults import StageFault

TOLERANCE = 0.05  # of what a source was to give, and of the budget: whole documents cannot meet them to the byte
CONFIG = "config/mix.yaml"


def refuse_empty(mix: Mix, there: Stock) -> None:
    """Raise StageFault for weights that are all zero, and for a source without a document that is to give something."""
    asked = [name for name, source in mix.sources.items() if source.own or source.weight > 0]
    if not asked:
        raise StageFault("all weights are 0", where=CONFIG, fix="give a source in data.pretrain.sources a weight above 0")
    for name in asked:
        if not there[name].documents:
            what = "an amount of its own" if mix.sources[name].own else f"weight {mix.sources[name].weight}"
            raise StageFault(
                f"the source {name} has {what} and no document",
                where=CONFIG,
                reason="the others would silently take its share",
                fix="metrics/clean.json, dedup.json and filter.json say what dropped its documents: loosen that, or set its weight to 0",
            )


def refuse_undrawn(mix: Mix, documents: Documents, uses: Counts) -> None:
    """Raise StageFault for a source that is to give something and of which not one document fits into its part of the budget."""
    for name, source in mix.sources.items():
        mine = documents.of(name)
        if (source.own or source.weight > 0) and not uses[mine].any():
            why = f"its smallest document has {documents.units(mix)[mine].min()} {mix.unit}"
            if source.synthetic:
                why += f"; synthetic_max={mix.synthetic_max} limits it"
            raise StageFault(
                f"no document of {name} fits into its part of the budget of {mix.budget} {mix.unit}",
                where=CONFIG,
                reason=why,
                fix=f"raise data.pretrain.mix.sources.{name}, or take the source out"
                if source.own
                else f"raise data.pretrain.mix.budget_{mix.unit}, or set data.pretrain.sources.{name}.weight=0",
            )


def refuse_short(mix: Mix, documents: Documents, uses: Counts) -> None:
    """Raise StageFault, where `exhausted` is refuse, for sources that give less than they are to."""
    there, drawn = documents.held(), documents.held(uses)
    amounts = wanted(mix, there)
    short = lacking(mix, amounts, drawn) if mix.exhausted == "refuse" else []
    if short:
        told = [f"{name} gives {drawn[name].units(mix)} of {int(amounts[name])} {mix.unit}" for name in short]
        raise StageFault(
            "; ".join(told),
            where=CONFIG,
            reason="data.pretrain.mix.exhausted is refuse; " + "; ".join(_why(mix, name, there[name], drawn[name]) for name in short),
            fix="add text, raise data.pretrain.mix.epochs_max, or set data.pretrain.mix.budget_"
            f"{mix.unit}={largest_exact_budget(mix, there)}, at which the weights hold",
        )


def lacking(mix: Mix, amounts: Amounts, drawn: Stock) -> list[str]:
    """Sources that give less than they are to by more than TOLERANCE."""
    return [name for name, amount in amounts.items() if drawn[name].units(mix) < (1 - Fraction(TOLERANCE)) * amount]


def report(mix: Mix, documents: Documents, uses: Counts) -> dict[str, Any]:
    """Asked and realised, as the metrics hold it.

    Shares are of the units of the budget, in [0, 1]; `repeats` are bytes drawn over bytes there are; `sampling` is the share in the
    mix over the share in the text there is: above 1 a source is over-sampled, below it is under-sampled. Tokens are estimates.
    """
    there, drawn = documents.held(), documents.held(uses)
    amounts = wanted(mix, there)
    asked, total, whole = sum(amounts.values()), _units(mix, drawn), _units(mix, there)
    shares = {name: (part.units(mix) / total, there[name].units(mix) / whole) for name, part in drawn.items()}
    rows = {
        name: {**_shares(float(amount / asked), *shares[name]), **_counts(there[name], drawn[name], uses[documents.of(name)])}
        for name, amount in amounts.items()
    }
    made = sum(part.units(mix) for name, part in drawn.items() if mix.sources[name].synthetic)
    return {
        "mix": rows,
        "unit": mix.unit,
        f"budget_{mix.unit}": mix.budget,
        f"missing_{mix.unit}": int(asked) - total,
        "tokens_estimated": sum(part.tokens for part in drawn.values()),
        "synthetic_share": round(made / total, 6),
        "real_share": round(1 - made / total, 6),
        "real_share_least": round(1 - mix.synthetic_max, 6),
        "warnings": warnings_of(mix, amounts, there, drawn),
    }


def _units(mix: Mix, stock: Stock) -> int:
    return sum(part.units(mix) for part in stock.values())


def _shares(target: float, share: float, natural: float) -> dict[str, Any]:
    return {
        "target_share": round(target, 6),
        "share": round(share, 6),
        "deviation": round(share - target, 6),
        "natural_share": round(natural, 6),
        "sampling": round(share / natural, 4) if natural else 0.0,
    }


def _counts(there: Holding, drawn: Holding, uses: Counts) -> dict[str, Any]:
    return {
        "documents_available": there.documents,
        "documents": int((uses > 0).sum()),
        "rows": drawn.documents,
        "bytes_available": there.bytes,
        "bytes": drawn.bytes,
        "tokens_estimated": drawn.tokens,
        "repeats": round(drawn.bytes / there.bytes, 4) if there.bytes else 0.0,
        "epochs": int(uses.max()) if len(uses) else 0,
    }


def warnings_of(mix: Mix, amounts: Amounts, there: Stock, drawn: Stock) -> list[str]:
    """What came out otherwise than asked by more than TOLERANCE of a source's own share, why, and what would mend it."""
    asked, total = sum(amounts.values()), _units(mix, drawn)
    told = list[str]()
    for name, amount in amounts.items():
        share, target = Fraction(drawn[name].units(mix), total), amount / asked
        if abs(share - target) > Fraction(TOLERANCE) * target:
            why = _why(mix, name, there[name], drawn[name]) if share < target else "others give less than they were to"
            told.append(f"{name} is {_percent(share)} of the mix, not {_percent(target)}: {why}")
    missing = int(asked) - total
    if missing > TOLERANCE * asked:
        told.append(
            f"the mix lacks {missing} of its {int(asked)} {mix.unit}: too little text in {', '.join(lacking(mix, amounts, drawn))}; add "
            f"text, raise data.pretrain.mix.epochs_max, or set data.pretrain.mix.budget_{mix.unit}={largest_exact_budget(mix, there)}, "
            "at which the weights hold"
        )
    return told


def _percent(share: Fraction) -> str:
    """Three digits, however small the share is."""
    return f"{float(share * 100):.3g}%"


def _why(mix: Mix, name: str, there: Holding, drawn: Holding) -> str:
    most = there.units(mix) * mix.epochs_max
    if mix.sources[name].synthetic and drawn.units(mix) < most:
        return f"synthetic_max={mix.synthetic_max} limits {name} beside the real text there is"
    if drawn.units(mix) >= (1 - TOLERANCE) * most:
        return f"all of {name}, {there.units(mix)} {mix.unit}, is used {mix.epochs_max} times (epochs_max)"
    return f"whole documents of {name} do not fill it: they have {there.units(mix) // there.documents} {mix.unit} on average"
