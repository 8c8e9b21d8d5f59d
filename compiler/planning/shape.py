"""A layout in the planner's hands: its factors, its weight from light to heavy, its text."""

from typing import NamedTuple

from compiler.planning.memory_job import Recompute
from compiler.spec.train import Layout
from runtime.contracts import counting

RECOMPUTE: tuple[Recompute, ...] = ("none", "selective", "full")
Weight = tuple[bool, bool, bool, int, int]


class Shape(NamedTuple):
    """A layout as the search handles it: the fields of `compiler.spec.train.Layout`, made in a tenth of the time."""

    data: int = 1
    tensor: int = 1
    pipeline: int = 1
    context: int = 1
    micro_batches: int = 1
    optimizer_sharding: int = 0
    recompute: Recompute = "none"

    @property
    def weight(self) -> Weight:
        """How heavy it is: a larger one needs more machinery."""
        return weight(self)


def weight(layout: "Shape | Layout") -> Weight:
    """What orders layouts from light to heavy, the heaviest kind of parallelism first."""
    return (
        layout.context > 1,
        layout.pipeline > 1,
        layout.tensor > 1,
        layout.optimizer_sharding,
        RECOMPUTE.index(layout.recompute),
    )


def described(layout: "Shape | Layout") -> str:
    """The factors and settings of a layout that are not the ones of a single device, as a spec writes them."""
    values = {name: getattr(layout, name) for name in Shape._fields}
    return ", ".join(f"{name}: {value}" for name, value in values.items() if value != Shape._field_defaults[name])


def gigabytes(count: float) -> str:
    """Bytes in GB of 10**9, smaller ones in MB or kB, with as many digits as a person compares."""
    size, unit = next((pair for pair in ((1e9, "GB"), (1e6, "MB")) if count >= 0.99995 * pair[0]), (1e3, "kB"))
    return f"{count / size:,.1f} {unit}"


def counted(number: int, noun: str) -> str:
    """A number with its noun, in the plural unless it is one, and marks between thousands."""
    return counting.counted(number, noun, form=",")
