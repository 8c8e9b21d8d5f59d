"""mix: documents of every source by weight, up to a budget in UTF-8 bytes, in a seeded order.

A document is taken whole, and none that would exceed what its source may give: the mix is never larger than the budget.
Sources that are too small are repeated, whole epochs first, at most `epochs_max` times; what they still lack is missing
from the mix (`allocation` says why). The metrics state what was asked and what came out.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from runtime import records
from runtime.contracts.mix import Mix
from runtime.data.allocation import allocate, largest_exact_budget, synthetic_shrink, wanted_shares
from runtime.data.funnel import Funnel
from runtime.data.ordering import rank
from runtime.faults import StageFault
from runtime.records import Record
from runtime.stage import Stage

OVER_BUDGET, NO_WEIGHT = "over_budget", "no_weight"
TOLERANCE = 0.05  # of a share, or of the budget: whole documents cannot meet them to the byte


@dataclass(frozen=True)
class Draw:
    """One use of a document: which one of its source, in which epoch (0 is the first)."""

    index: int
    epoch: int


def draw(documents: Sequence[Record], target: int, seed: int) -> list[Draw]:
    """Documents whose sizes add up to at most `target` bytes: every epoch in another order, each only after a whole one."""
    drawn, left, whole, epoch = list[Draw](), target, True, 0
    while whole and left > 0 and documents:
        order = sorted(range(len(documents)), key=lambda index: rank(seed, "draw", epoch, documents[index].id))
        for index in order:
            size = documents[index].size
            whole = whole and size <= left
            if size <= left:
                drawn.append(Draw(index, epoch))
                left -= size
        epoch += 1
    return drawn


def mixed(by_source: dict[str, list[Record]], mix: Mix) -> dict[str, list[Draw]]:
    """What is drawn from every source. Natural ones go first: the synthetic share is measured against what really came of them."""
    targets = allocate(mix, available(mix, by_source))
    synthetic = [name for name in targets if mix.sources[name].synthetic]
    drawn = {name: draw(by_source.get(name, ()), targets[name], mix.seed) for name in targets if name not in synthetic}
    shrink = synthetic_shrink(mix, size_of(drawn, by_source), sum(targets[name] for name in synthetic))
    drawn |= {name: draw(by_source.get(name, ()), int(targets[name] * shrink), mix.seed) for name in synthetic}
    return {name: drawn[name] for name in mix.sources}


def available(mix: Mix, by_source: dict[str, list[Record]]) -> dict[str, int]:
    """UTF-8 bytes there are of every source."""
    return {name: sum(document.size for document in by_source.get(name, ())) for name in mix.sources}


def in_order(drawn: dict[str, list[Draw]], by_source: dict[str, list[Record]], seed: int) -> Iterator[Record]:
    """All draws in one seeded order; a repeat says in `meta` which epoch it belongs to."""
    uses = [(name, use) for name, part in drawn.items() for use in part]
    for name, use in sorted(uses, key=lambda item: rank(seed, "order", item[0], item[1].epoch, by_source[item[0]][item[1].index].id)):
        record = by_source[name][use.index]
        yield replace(record, meta={**record.meta, "epoch": use.epoch}) if use.epoch else record


def run(stage: Stage[Mix]) -> None:
    """Mix the sources; see the module."""
    mix, made = stage.parameters, stage.manifest("corpus/filter")
    funnel, by_source = Funnel(mix.sources), defaultdict[str, list[Record]](list)
    with stage.bar(made.counts.get("documents"), "documents") as bar:
        for record in records.read(stage.input("corpus/filter")):
            funnel.enter(record)
            by_source[record.source].append(record)
            bar.advance()
        refuse_empty(mix, by_source)
        drawn = mixed(by_source, mix)
        refuse_undrawn(mix, drawn, by_source)
        _count_unused(funnel, mix, drawn, by_source)
        records.write(stage.out, (_counted(funnel, record) for record in in_order(drawn, by_source, mix.seed)))
    told = report(mix, drawn, by_source)
    for warning in told["warnings"]:
        stage.terminal.say(f"warning: {warning}")
    funnel.conclude(stage, told)


def refuse_empty(mix: Mix, by_source: dict[str, list[Record]]) -> None:
    """Raise StageFault for weights that are all zero, and for a weighted source without a document."""
    weighted = [name for name, source in mix.sources.items() if source.weight > 0]
    if not weighted:
        raise StageFault("all weights are 0", where="config/mix.yaml", fix="give a source in data.pretrain.sources a weight above 0")
    for name in weighted:
        if not by_source.get(name):
            raise StageFault(
                f"the source {name} has weight {mix.sources[name].weight} and no document",
                where="config/mix.yaml",
                reason="the others would silently take its share",
                fix="metrics/clean.json, dedup.json and filter.json say what dropped its documents: loosen that, or set its weight to 0",
            )


def refuse_undrawn(mix: Mix, drawn: dict[str, list[Draw]], by_source: dict[str, list[Record]]) -> None:
    """Raise StageFault for a weighted source of which not one document fits into its part of the budget."""
    for name, source in mix.sources.items():
        if source.weight > 0 and not drawn[name]:
            smallest = min(document.size for document in by_source[name])
            why = f"its smallest document has {smallest} bytes"
            if source.synthetic:
                why += f"; synthetic_max={mix.synthetic_max} limits it"
            raise StageFault(
                f"no document of {name} fits into its part of the budget of {mix.budget_bytes} bytes",
                where="config/mix.yaml",
                reason=why,
                fix=f"raise data.pretrain.mix.budget_bytes, or set data.pretrain.sources.{name}.weight=0",
            )


def report(mix: Mix, drawn: dict[str, list[Draw]], by_source: dict[str, list[Record]]) -> dict[str, Any]:
    """Asked and realised: shares of the text in [0, 1], repeats (bytes drawn over bytes there are), bytes per domain, warnings."""
    there, shares = available(mix, by_source), wanted_shares(mix)
    sizes = {name: size_of({name: uses}, by_source) for name, uses in drawn.items()}
    total = sum(sizes.values())
    rows = {
        name: {
            "target_share": round(float(shares[name]), 6),
            "share": round(size / total, 6),
            "deviation": round(size / total - float(shares[name]), 6),
            "bytes_available": there[name],
            "bytes": size,
            "repeats": round(size / there[name], 4) if there[name] else 0.0,
            "epochs": max((use.epoch + 1 for use in drawn[name]), default=0),
        }
        for name, size in sizes.items()
    }
    synthetic = sum(size for name, size in sizes.items() if mix.sources[name].synthetic)
    return {
        "mix": rows,
        "domains": _by_domain(drawn, by_source),
        "budget_bytes": mix.budget_bytes,
        "missing_bytes": mix.budget_bytes - total,
        "synthetic_share": round(synthetic / total, 6),
        "warnings": warnings_of(mix, rows, mix.budget_bytes - total, largest_exact_budget(mix, there)),
    }


def warnings_of(mix: Mix, rows: dict[str, dict[str, Any]], missing: int, exact: int) -> list[str]:
    """What came out otherwise than asked by more than TOLERANCE, and what would mend it."""
    off = {name: row for name, row in rows.items() if abs(row["deviation"]) > TOLERANCE}
    told = [f"{name} is {row['share']:.1%} of the mix, not {row['target_share']:.1%}" for name, row in off.items()]
    if missing > TOLERANCE * mix.budget_bytes:
        lacking = [name for name, row in rows.items() if row["bytes"] < (1 - TOLERANCE) * row["target_share"] * mix.budget_bytes]
        told.append(
            f"the mix lacks {missing} of its {mix.budget_bytes} bytes: too little text in {', '.join(lacking)}; "
            f"add text, raise data.pretrain.mix.epochs_max, or set data.pretrain.mix.budget_bytes={exact}, at which the weights hold"
        )
    return told


def _by_domain(drawn: dict[str, list[Draw]], by_source: dict[str, list[Record]]) -> dict[str, int]:
    sizes = Counter[str]()
    for name, uses in drawn.items():
        for use in uses:
            record = by_source[name][use.index]
            sizes[str(record.meta.get("domain", "general"))] += record.size
    return dict(sorted(sizes.items()))


def size_of(drawn: dict[str, list[Draw]], by_source: dict[str, list[Record]]) -> int:
    """UTF-8 bytes of all draws."""
    return sum(by_source[name][use.index].size for name, uses in drawn.items() for use in uses)


def _count_unused(funnel: Funnel, mix: Mix, drawn: dict[str, list[Draw]], by_source: dict[str, list[Record]]) -> None:
    for name, documents in by_source.items():
        used = {use.index for use in drawn.get(name, ())}
        reason = OVER_BUDGET if name in mix.sources and mix.sources[name].weight > 0 else NO_WEIGHT
        for document in (document for index, document in enumerate(documents) if index not in used):
            funnel.drop(document, reason)


def _counted(funnel: Funnel, record: Record) -> Record:
    return funnel.repeat(record) if record.meta.get("epoch") else funnel.keep(record)
