"""What fits where an update must be one forward pass: on one accelerator, where this version does not accumulate."""

from collections.abc import Iterable
from typing import NamedTuple

from compiler.planning.cost import Work
from compiler.planning.devices import Devices
from compiler.planning.layouts import Batch, Training, fits
from compiler.planning.memory_job import Recompute
from compiler.planning.shape import RECOMPUTE, Shape


class OnePass(NamedTuple):
    """The most rows of one forward pass on one device, at most those of the update, and the recomputation that it takes."""

    rows: int
    recompute: Recompute


def one_pass(work: Work, devices: Devices, written: Recompute = "none") -> OnePass | None:
    """None where not even one row fits. The written kind of recomputation stays where another does not allow more rows."""
    training = Training(work)
    kinds: tuple[Recompute, ...] = (written, *(kind for kind in RECOMPUTE if kind != written))
    found = [OnePass(_most(training, kind, devices), kind) for kind in kinds]
    best = max(found, key=lambda one: one.rows)
    return best if best.rows else None


def narrowest(works: Iterable[Work], devices: Devices) -> tuple[Work, OnePass] | None:
    """The training of which the smallest part of an update fits, with that part; None where one has no room for a row."""
    found = [(work, one_pass(work, devices)) for work in works]
    known = [(work, one) for work, one in found if one]
    return min(known, key=lambda pair: pair[1].rows / pair[0].rows) if len(known) == len(found) else None


def _most(training: Training, recompute: Recompute, devices: Devices) -> int:
    """The largest number of rows that fits: memory rises with them."""
    low, high = 0, training.work.rows
    while low < high:
        middle = (low + high + 1) // 2
        if fits(training.peak(Shape(recompute=recompute), Batch(middle, 1)), devices.memory):
            low = middle
        else:
            high = middle - 1
    return low
