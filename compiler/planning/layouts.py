"""The search over parallel layouts: every legal one, those that fit in memory ranked, the others with the reason.

Light comes before heavy. What a layout adds to one device with gradient accumulation weighs in this order, and a heavier item
outweighs all lighter ones: recomputation, data parallelism, optimizer sharding, tensor, pipeline, context parallelism. Layouts
of the same weight are ordered by the time of the cost model. Where this version cannot accumulate, layouts that would have to
come after all others.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import gcd
from typing import NamedTuple

from compiler.planning.cost import Work, measured, seconds
from compiler.planning.devices import Devices
from compiler.planning.legality import divisions, divisors, recomputed, refusals, shardings, uneven_parts
from compiler.planning.memory import Sizes, peak_bytes, sizes
from compiler.planning.shape import Shape, described, gigabytes
from compiler.spec.declare import MOST
from compiler.spec.train import Layout
from compiler.wording import said


class Batch(NamedTuple):
    """How a replica takes its rows of one update: `micro_batch` rows at a time, `accumulation` times (1 in a pipeline)."""

    micro_batch: int
    accumulation: int


class Candidate(NamedTuple):
    """A layout that fits. `batches`: one a training; `peak`: bytes without headroom; `seconds`: of all updates together."""

    shape: Shape
    batches: tuple[Batch, ...]
    peak: int
    seconds: float

    @property
    def layout(self) -> Layout:
        """The layout as a spec holds it."""
        return Layout(**self.shape._asdict())

    @property
    def accumulated(self) -> bool:
        """Whether a training takes its update in several forward passes without a pipeline."""
        return any(batch.accumulation > 1 for batch in self.batches)


class Rejected(NamedTuple):
    """What was left out: `what` names one factor, or a whole division, whose least peak is given where memory was the reason."""

    what: str
    reason: str
    shape: Shape | None = None
    peak: int | None = None


@dataclass(frozen=True)
class Search:
    """The result: `candidates` from the lightest, `rejected` in the order of the factors."""

    works: tuple[Work, ...]
    devices: Devices
    candidates: tuple[Candidate, ...]
    rejected: tuple[Rejected, ...]

    @property
    def best(self) -> Candidate | None:
        """The lightest layout that fits; of several, the fastest."""
        return self.candidates[0] if self.candidates else None

    @property
    def countable(self) -> bool:
        """Whether the rows of every update can be counted; where not, nothing was searched."""
        return all(work.rows <= MOST for work in self.works)

    def built(self, one: Candidate) -> bool:
        """Whether this version trains that way: it cannot accumulate everywhere."""
        return self.devices.accumulates or not one.accumulated

    @cached_property
    def by_time(self) -> tuple[Candidate, ...]:
        """The same layouts, the fastest first."""
        return tuple(sorted(self.candidates, key=lambda one: (not self.built(one), one.seconds, one.shape.weight, one.shape)))


def fits(peak: int, memory: int) -> bool:
    """Whether a peak and 30 % of headroom are within the memory of a device, in whole bytes."""
    return 13 * peak <= 10 * memory


class Training:
    """One training in a search; what does not depend on the layout is worked out once, sizes once for each micro batch."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self._known = measured(work)
        self._sizes: dict[Batch, Sizes] = {}

    def peak(self, shape: Shape, batch: Batch) -> int:
        """Bytes of the fullest device."""
        key = Batch(batch.micro_batch, min(batch.accumulation, 2))  # gradients are kept between passes, however many there are
        if key not in self._sizes:
            job = replace(self.work.job, micro_batch=key.micro_batch, accumulation=key.accumulation)
            self._sizes[key] = sizes(self.work.network, job)
        return peak_bytes(self._sizes[key], shape)

    def seconds(self, shape: Shape, batch: Batch, devices: Devices) -> float:
        """Time of all updates by the cost model."""
        return self.work.steps * seconds(self._known, shape, shape.micro_batches * batch.accumulation, devices)

    def batches(self, shape: Shape) -> list[Batch]:
        """All ways of one replica to take its rows without a pipeline, the largest micro batch first: fewer passes.

        Level 2 of sharding divides accumulated gradients: in one pass it would be level 1 under another name.
        """
        rows = self.work.rows // shape.data
        most = min(self.work.job.micro_batch, rows // 2 if shape.optimizer_sharding == 2 else rows)
        return [Batch(size, rows // size) for size in reversed(divisors(rows)) if size <= most]


def search(works: Sequence[Work], devices: Devices) -> Search:
    """Every legal layout of the devices for these trainings, which share it. A pure function; nothing is sampled."""
    if many := [work for work in works if work.rows > MOST]:
        return Search(tuple(works), devices, (), (Rejected("batch", _uncountable(many[0].rows)),))
    refused = refusals(works, devices)
    trainings = [Training(work) for work in works]
    candidates: list[Candidate] = []
    rejected = [Rejected(f"{kind} {factor}", reason) for kind, factors in refused.items() for factor, reason in factors.items()]
    for shape in divisions(devices.count, refused):
        found, reason = _fitting(shape, trainings, devices)
        candidates += found
        rejected += [reason] if reason else []
    late = not devices.accumulates
    candidates.sort(key=lambda one: (late and one.accumulated, one.shape.weight, one.seconds, one.shape))
    return Search(tuple(works), devices, tuple(candidates), tuple(rejected))


def _fitting(division: Shape, trainings: Sequence[Training], devices: Devices) -> tuple[list[Candidate], Rejected | None]:
    """What fits of one division, with each level of sharding and of recomputation; or why nothing does."""
    if refused := refusal(division, trainings):
        return [], Rejected(described(division), refused, division)
    numbers = _micro_batches(division, trainings)
    found: list[Candidate] = []
    tried: list[tuple[int, Shape]] = []
    for sharding in shardings(division, devices):
        if division.pipeline == 1 and not all(training.batches(division._replace(optimizer_sharding=sharding)) for training in trainings):
            continue
        for recompute in recomputed(devices):
            shape = division._replace(optimizer_sharding=sharding, recompute=recompute)
            pipelined = division.pipeline > 1
            candidate, peak = _pipelined(shape, numbers, trainings, devices) if pipelined else _accumulated(shape, trainings, devices)
            found += [candidate] if candidate else []
            tried.append((peak, shape))
    if found:
        return found, None
    peak, shape = min(tried)
    return [], Rejected(described(division) or said("one device", "单设备"), _too_large(peak, shape, devices), shape, peak)


def refusal(division: Shape, trainings: Sequence[Training]) -> str:
    """Why a division of legal factors cannot be as a whole; empty where it can."""
    return uneven_parts(division, trainings[0].work) or ("" if _micro_batches(division, trainings) else _no_split(division))


def _micro_batches(division: Shape, trainings: Sequence[Training]) -> list[int]:
    """Micro batches of one pass through the pipeline, ascending: at least one a stage, and none larger than was written."""
    if division.pipeline == 1:
        return [1]
    rows = [training.work.rows // division.data for training in trainings]
    least = max(count / training.work.job.micro_batch for count, training in zip(rows, trainings, strict=True))
    return [number for number in divisors(gcd(*rows)) if number >= max(division.pipeline, least)]


def _accumulated(shape: Shape, trainings: Sequence[Training], devices: Devices) -> tuple[Candidate | None, int]:
    """Each training with its largest micro batch that fits, and the least peak of the fullest training."""
    found = [_largest(training, shape, devices) for training in trainings]
    least = max(least for _, _, least in found)
    if any(batch is None for batch, _, _ in found):
        return None, least
    taken = tuple(batch for batch, _, _ in found if batch)
    return Candidate(shape, taken, max(peak for _, peak, _ in found), _seconds(shape, taken, trainings, devices)), least


def _largest(training: Training, shape: Shape, devices: Devices) -> tuple[Batch | None, int, int]:
    """The first batch that fits, its peak, and the least peak of any batch.

    Peaks fall with the micro batch as long as gradients are accumulated; a single pass keeps none, and is tried by itself.
    """
    batches = training.batches(shape)
    first, last = training.peak(shape, batches[0]), training.peak(shape, batches[-1])
    if fits(first, devices.memory):
        return batches[0], first, min(first, last)
    if not fits(last, devices.memory):
        return None, 0, min(first, last)
    index = _first(1, len(batches) - 1, lambda index: fits(training.peak(shape, batches[index]), devices.memory))
    return batches[index], training.peak(shape, batches[index]), min(first, last)


def _pipelined(shape: Shape, numbers: Sequence[int], trainings: Sequence[Training], devices: Devices) -> tuple[Candidate | None, int]:
    """The fastest number of micro batches that fits, and the least peak: that of the most and smallest micro batches.

    More micro batches shorten the bubble. Under sharding 3 each of them gathers the weights again, so that the time first
    falls and then rises with their number.
    """

    def at(index: int) -> tuple[Shape, tuple[Batch, ...]]:
        whole = shape._replace(micro_batches=numbers[index])
        return whole, tuple(Batch(training.work.rows // shape.data // numbers[index], 1) for training in trainings)

    def peak(index: int) -> int:
        whole, batches = at(index)
        return max(training.peak(whole, batch) for training, batch in zip(trainings, batches, strict=True))

    def time(index: int) -> float:
        return _seconds(*at(index), trainings, devices)

    best = last = len(numbers) - 1
    least = peak(last)
    if not fits(least, devices.memory):
        return None, least
    if shape.optimizer_sharding == 3:
        first = _first(0, last, lambda index: fits(peak(index), devices.memory))
        best = _first(first, last, lambda index: time(index) <= time(index + 1))
    return Candidate(*at(best), peak(best), time(best)), least


def _first(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """The first index from `low` at which something holds that goes on to hold; `high`, where it does not have to, else."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


def _seconds(shape: Shape, batches: Sequence[Batch], trainings: Sequence[Training], devices: Devices) -> float:
    """Time of all updates of all trainings."""
    return sum(training.seconds(shape, batch, devices) for training, batch in zip(trainings, batches, strict=True))


def _uncountable(rows: int) -> str:
    return said(f"an effective batch of {rows:,} rows is above {MOST:,}", f"有效批次 {rows:,} 行超过 {MOST:,}")


def _no_split(division: Shape) -> str:
    return said(
        f"the rows of a replica do not make {division.pipeline} micro batches or more",
        f"每个副本的样本数不足以分成至少 {division.pipeline} 个微批",
    )


def _too_large(peak: int, shape: Shape, devices: Devices) -> str:
    settings = described(Shape(optimizer_sharding=shape.optimizer_sharding, recompute=shape.recompute)) or "recompute: none"
    numbers = f"{gigabytes(peak)} x 1.3 = {gigabytes(peak * 1.3)} > {gigabytes(devices.memory)}"
    return said(f"at least {numbers} (with {settings})", f"至少需要 {numbers}（{settings}）")
