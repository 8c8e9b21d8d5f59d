"""How the text of each source shrinks from step to step: numbers for the table and the plot, geometry for `funnel.svg.j2`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from runtime.contracts.registry import BEFORE_REPORT
from runtime.report import formatting
from runtime.report.evidence import Evidence, Quantity

STEPS = ("ingest", "clean", "dedup", "filter", "mix", "split")
WIDTH, HEIGHT, TOP, BOTTOM, MARGIN, BAR = 1000, 330, 58, 50, 58, 12
GAP = 3.0


@dataclass(frozen=True)
class Amount:
    """What one source has after a step (or before the first one, as step `raw`)."""

    step: str
    documents: Quantity
    bytes: Quantity


@dataclass(frozen=True)
class Drop:
    """Documents that one step dropped for one reason: of each source, in the funnel's order, and in all."""

    step: str
    reason: str
    documents: tuple[Quantity, ...]
    total: Quantity


@dataclass(frozen=True)
class Funnel:
    """Amounts of every source after every step, of all sources together, and what was dropped why.

    `tokens`: of each source, what of it is trained on; empty where no row is packed.
    """

    sources: tuple[str, ...]
    amounts: dict[str, tuple[Amount, ...]]
    total: tuple[Amount, ...]
    drops: tuple[Drop, ...]
    tokens: dict[str, Quantity]


@dataclass(frozen=True)
class Piece:
    """One source's part of a column."""

    source: int
    name: str
    x: float
    y: float
    height: float
    documents: str
    bytes: str


@dataclass(frozen=True)
class Column:
    """One step of the drawing: its label, its sums and the change of bytes against the column before."""

    step: str
    x: float
    documents: str
    bytes: str
    change: str
    pieces: tuple[Piece, ...]


@dataclass(frozen=True)
class Flow:
    """A source's band between two columns, as SVG path data."""

    source: int
    path: str


@dataclass(frozen=True)
class Drawing:
    """The whole diagram."""

    width: int
    height: int
    columns: tuple[Column, ...]
    flows: tuple[Flow, ...]


def funnel(evidence: Evidence) -> Funnel:
    """Collect the funnel from the metrics of the data stages."""
    names = evidence.setting("ingest", "sources") or evidence.metric("ingest", "sources") or {}
    sources = tuple(names)
    steps = steps_of(evidence)
    amounts = {name: _amounts(evidence, steps, "sources", name) for name in sources}
    drops = tuple(drop for step in steps for drop in _drops(evidence, step, sources))
    packed = {name: evidence.quantity("pack-pretrain", "train_by_source", name, "tokens") for name in sources}
    tokens = {name: one or Quantity(0) for name, one in packed.items()} if any(packed.values()) else {}
    return Funnel(sources, amounts, _amounts(evidence, steps), drops, tokens)


def steps_of(evidence: Evidence) -> tuple[str, ...]:
    """The steps that have run, and of the optional ones those that count what they drop by source."""
    counted = [one.name for one in BEFORE_REPORT if one.name in evidence.metrics]
    return tuple(name for name in counted if name in STEPS or isinstance(evidence.metric(name, "documents_in"), int))


def _amounts(evidence: Evidence, steps: Sequence[str], *path: str) -> tuple[Amount, ...]:
    def amount(label: str, step: str, end: str) -> Amount:
        return Amount(label, evidence.quantity(step, *path, f"documents_{end}"), evidence.quantity(step, *path, f"bytes_{end}"))

    return (amount("raw", "ingest", "in"), *(amount(step, step, "out") for step in steps))


def plot(made: Funnel) -> Iterator[tuple[str, str, float | int, float | int]]:
    """Rows of `plots/funnel.csv`: step, source, documents, bytes; what was not measured has no row."""
    for name in made.sources:
        for amount in made.amounts[name]:
            if amount.documents.value is not None and amount.bytes.value is not None:
                yield amount.step, name, amount.documents.value, amount.bytes.value


def _drops(evidence: Evidence, step: str, sources: Sequence[str]) -> list[Drop]:
    """The reasons of one step, those that dropped nothing left out."""
    reasons = [reason for reason in evidence.metric(step, "dropped") or {} if evidence.quantity(step, "dropped", reason).value]
    return [
        Drop(step, reason, tuple(_dropped(evidence, step, name, reason) for name in sources), evidence.quantity(step, "dropped", reason))
        for reason in reasons
    ]


def _dropped(evidence: Evidence, step: str, source: str, reason: str) -> Quantity:
    """A source that the step knows and that has no such reason lost nothing to it."""
    reasons = evidence.metric(step, "sources", source, "dropped")
    return (
        Quantity(0)
        if isinstance(reasons, dict) and reason not in reasons
        else evidence.quantity(step, "sources", source, "dropped", reason)
    )


def drawing(made: Funnel) -> Drawing | None:
    """Lay the funnel out, centred, bytes to scale; None where no step tells bytes."""
    steps = [index for index, amount in enumerate(made.total) if amount.bytes]
    highest = max((made.total[index].bytes.value or 0 for index in steps), default=0)
    if not highest:
        return None
    room = HEIGHT - TOP - BOTTOM - GAP * max(0, len(made.sources) - 1)
    scale = room / highest
    spread = (WIDTH - 2 * MARGIN - BAR) / max(1, len(steps) - 1)
    columns = tuple(
        _column(made, index, MARGIN + number * spread, scale, steps[number - 1] if number else None) for number, index in enumerate(steps)
    )
    flows = tuple(flow for left, right in pairwise(columns) for flow in _flows(left, right))
    return Drawing(WIDTH, HEIGHT, columns, flows)


def _column(made: Funnel, index: int, x: float, scale: float, before: int | None) -> Column:
    heights = [scale * (made.amounts[name][index].bytes.value or 0) for name in made.sources]
    y = TOP + (HEIGHT - TOP - BOTTOM - sum(heights) - GAP * max(0, len(heights) - 1)) / 2
    pieces: list[Piece] = []
    for number, (name, height) in enumerate(zip(made.sources, heights, strict=True)):
        amount = made.amounts[name][index]
        pieces.append(
            Piece(number, name, round(x, 1), round(y, 1), round(max(height, 0.6), 1), _count(amount.documents), _size(amount.bytes))
        )
        y += height + GAP
    total = made.total[index]
    return Column(total.step, round(x, 1), _count(total.documents), _size(total.bytes), _change(made, index, before), tuple(pieces))


def _change(made: Funnel, index: int, before: int | None) -> str:
    earlier = made.total[before].bytes.value if before is not None else None
    now = made.total[index].bytes.value
    if not earlier or now is None:
        return ""
    return formatting.signed(formatting.share(now / earlier - 1))


def _flows(left: Column, right: Column) -> list[Flow]:
    middle = round((left.x + BAR + right.x) / 2, 1)
    return [
        Flow(
            a.source,
            f"M{a.x + BAR:.1f} {a.y}C{middle} {a.y} {middle} {b.y} {b.x} {b.y}L{b.x} {b.y + b.height:.1f}"
            f"C{middle} {b.y + b.height:.1f} {middle} {a.y + a.height:.1f} {a.x + BAR:.1f} {a.y + a.height:.1f}Z",
        )
        for a, b in zip(left.pieces, right.pieces, strict=True)
    ]


@dataclass(frozen=True)
class Share:
    """One source of the mix: its share of the text as asked and as realised, in [0, 1], and how often it is repeated."""

    name: str
    target: Quantity
    realised: Quantity
    repeats: Quantity

    @property
    def deviation(self) -> Quantity:
        """Realised minus asked."""
        if self.realised.value is None or self.target.value is None:
            return Quantity()
        return Quantity(self.realised.value - self.target.value)


def mix(evidence: Evidence) -> tuple[Share, ...]:
    """The sources of the mix in the order of its configuration."""
    names = evidence.setting("mix", "sources") or {}
    return tuple(
        Share(name, *(evidence.quantity("mix", "mix", name, key) for key in ("target_share", "share", "repeats"))) for name in names
    )


def _count(amount: Quantity) -> str:
    return "–" if amount.value is None else formatting.count(amount.value)


def _size(amount: Quantity) -> str:
    return "–" if amount.value is None else formatting.size(amount.value)
