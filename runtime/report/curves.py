"""Training curves as drawings: the geometry that `curve.svg.j2` puts into SVG."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from runtime.report import formatting
from runtime.report.axes import Scale, Tick, padded
from runtime.report.evidence import Curve

MAX_BINS = 360
MAX_HITS = 90
SMOOTHED_SHARE = 50  # the running mean reaches a 50th of the training to each side
GRADIENT = ("gradient_norm", "grad_norm")


@dataclass(frozen=True)
class Bin:
    """One or more neighbouring steps: the last one's number, and the least, mean and greatest value in them."""

    step: int
    low: float
    mean: float
    high: float


@dataclass(frozen=True)
class Hit:
    """A place of the chart that answers the pointer: its strip, its point and the step and value that it tells."""

    x: float
    width: float
    point_x: float
    point_y: float
    step: str
    value: str


@dataclass(frozen=True)
class Chart:
    """One drawn curve. Places are in user units; `line`, `band` and `smooth` are SVG path data, empty where not drawn.

    skipped: steps whose value is not finite; window: steps on each side that the smooth line is a mean of.
    """

    key: str
    width: int
    height: int
    left: int
    right: int
    top: int
    bottom: int
    x: tuple[Tick, ...]
    y: tuple[Tick, ...]
    line: str
    band: str
    smooth: str
    hits: tuple[Hit, ...]
    skipped: int
    first: str
    last: str
    window: int


@dataclass(frozen=True)
class Frame:
    """Size of a chart and how its values read."""

    key: str
    width: int
    height: int
    smooth: bool
    kind: str


FRAMES = (
    Frame("loss", 640, 420, True, "loss"),
    Frame("learning_rate", 400, 180, False, "rate"),
    Frame("gradient_norm", 400, 180, True, "loss"),
)


def charts(curve: Curve) -> tuple[Chart, ...]:
    """The charts of one training, those without a single finite value left out."""
    drawn = (chart(frame, curve.step, column(curve, frame.key)) for frame in FRAMES)
    return tuple(made for made in drawn if made is not None)


def column(curve: Curve, key: str) -> tuple[float | None, ...]:
    """The values of one column; empty where the plot file has none of that name."""
    names = GRADIENT if key == "gradient_norm" else (key,)
    return next((curve.series[name] for name in names if name in curve.series), ())


def chart(frame: Frame, steps: Sequence[int], values: Sequence[float | None]) -> Chart | None:
    """Draw values over steps; None where no value is finite."""
    bins = binned(steps, values, MAX_BINS)
    present = [point for point in bins if point is not None]
    if not present:
        return None
    left, right, top, bottom = (62, 18, 40, 48) if frame.height > 200 else (58, 18, 26, 36)
    wanted = 6 if frame.height > 200 else 3
    low, high = padded(min(p.low for p in present), max(p.high for p in present), wanted)
    x = Scale(min(0, steps[0]), steps[-1], left, frame.width - right)
    y = Scale(low, high, frame.height - bottom, top)
    window = len(steps) // SMOOTHED_SHARE if frame.smooth else 0
    smooth = binned(steps, running_mean(values, window), MAX_BINS) if window else []
    crowded = len(bins) < len(steps)
    finite = [value for value in values if value is not None]
    return Chart(
        frame.key, frame.width, frame.height, left, right, top, bottom,
        x.ticks(6 if frame.width > 500 else 4), y.ticks(wanted),
        line=path(x, y, bins), band=band(x, y, present) if crowded else "", smooth=path(x, y, smooth),
        hits=hits(x, y, bins, frame.kind), skipped=len(values) - len(finite),
        first=formatting.FORMATS[frame.kind](finite[0]), last=formatting.FORMATS[frame.kind](finite[-1]), window=window,
    )  # fmt: skip


def binned(steps: Sequence[int], values: Sequence[float | None], most: int) -> list[Bin | None]:
    """At most `most` bins of equally many neighbouring steps; None for a bin without a finite value."""
    size = -(-len(values) // most) or 1
    return [_bin(steps[start : start + size], values[start : start + size]) for start in range(0, len(values), size)]


def _bin(steps: Sequence[int], values: Sequence[float | None]) -> Bin | None:
    finite = [value for value in values if value is not None]
    return Bin(steps[-1], min(finite), sum(finite) / len(finite), max(finite)) if finite else None


def running_mean(values: Sequence[float | None], window: int) -> list[float | None]:
    """At every step the mean of the finite values among its `window` neighbours on each side; None where there is none.

    Near an end the window shrinks on both sides, down to a third, so that the ends of a falling curve are not pulled
    inwards and are not as rough as single steps.
    """
    sums, numbers = [0.0], [0]
    for value in values:
        sums.append(sums[-1] + (value or 0.0))
        numbers.append(numbers[-1] + (value is not None))
    last = len(values) - 1
    reaches = (max(min(window, index, last - index), window // 3) for index in range(len(values)))
    ends = ((max(0, index - reach), min(last, index + reach) + 1) for index, reach in enumerate(reaches))
    return [(sums[end] - sums[start]) / (numbers[end] - numbers[start]) if numbers[end] > numbers[start] else None for start, end in ends]


def path(x: Scale, y: Scale, bins: Sequence[Bin | None]) -> str:
    """A line through the means, broken where nothing is finite."""
    commands: list[str] = []
    pen = "M"
    for point in bins:
        if point is not None:
            commands.append(f"{pen}{x.at(point.step)} {y.at(point.mean)}")
        pen = "M" if point is None else "L"
    return "".join(commands)


def band(x: Scale, y: Scale, bins: Sequence[Bin]) -> str:
    """The area between the least and the greatest value of each bin."""
    upper = [f"{x.at(p.step)} {y.at(p.high)}" for p in bins]
    lower = [f"{x.at(p.step)} {y.at(p.low)}" for p in reversed(bins)]
    return "M" + "L".join(upper + lower) + "Z"


def hits(x: Scale, y: Scale, bins: Sequence[Bin | None], kind: str) -> tuple[Hit, ...]:
    """Evenly spread points that tell their values under the pointer; their strips cover the chart without a gap."""
    chosen = [point for point in bins[:: -(-len(bins) // MAX_HITS)] if point is not None]
    centres = [x.at(point.step) for point in chosen]
    edges = [x.start, *((a + b) / 2 for a, b in pairwise(centres)), x.end]
    return tuple(
        Hit(round(start, 1), round(end - start, 1), centre, y.at(p.mean), formatting.count(p.step), formatting.FORMATS[kind](p.mean))
        for start, end, centre, p in zip(edges[:-1], edges[1:], centres, chosen, strict=True)
    )
