"""Scales of charts: where ticks stand, how they read, and where a value lies in the drawing."""

import math
from dataclasses import dataclass

from runtime.report import formatting

NICE = (1.0, 2.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True)
class Tick:
    """A mark of an axis: its place in user units of the drawing and its label."""

    at: float
    label: str


@dataclass(frozen=True)
class Scale:
    """Maps values in [low, high] to places in [start, end] of the drawing, linearly."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """The place of a value, to a tenth of a unit so that the text of the drawing is short."""
        span = self.high - self.low
        return round(self.start + (value - self.low) / span * (self.end - self.start) if span else self.start, 1)

    def ticks(self, wanted: int) -> tuple[Tick, ...]:
        """About `wanted` ticks at 1, 2, 2.5 or 5 times a power of ten."""
        step = nice_step(self.high - self.low, wanted)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return tuple(Tick(self.at(number * step), tick_label(number * step, step)) for number in range(first, last + 1))


def nice_step(span: float, wanted: int) -> float:
    """The smallest nice step that makes no more than `wanted` intervals."""
    if span <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(span / wanted))
    return next(nice * power for nice in NICE if span / (nice * power) <= wanted + 1e-9)


def padded(low: float, high: float, wanted: int) -> tuple[float, float]:
    """The range widened to whole nice steps, so that the first and the last tick bound the chart."""
    if low == high:
        low, high = low - (abs(low) / 2 or 0.5), high + (abs(high) / 2 or 0.5)
    step = nice_step(high - low, wanted)
    return math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step


def tick_label(value: float, step: float) -> str:
    """A tick's value with just the decimals that its step needs."""
    value = 0.0 if abs(value) < step / 1e6 else value
    if 0 < abs(step) < 1e-3 or abs(value) >= 1e7:
        return formatting.rate(value) if value else "0"
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    decimals += 1 if round(step * 10**decimals, 6) % 1 else 0
    return f"{value:,.{decimals}f}".replace("-", formatting.MINUS)
