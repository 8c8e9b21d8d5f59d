"""The memory ledger: what one training holds on one device of each pipeline stage, and whether that fits.

Three moments can be the peak of a step, and each item says at which it is held:

- `loss`: all activations of the micro batches in flight, and the logits;
- `backward`: all activations, and the working set of the layer whose gradient is computed;
- `update`: all gradients, and the temporaries of the optimizer; activations are gone.

Sources: states and their sharding are those of Rajbhandari et al. 2020, "ZeRO: Memory Optimizations Toward Training Trillion
Parameter Models" (arXiv:1910.02054); activations are in `memory_activations`; micro batches in flight are those of the
one-forward-one-backward schedule, Narayanan et al. 2021 (arXiv:2104.04473).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from compiler.planning.architecture import Architecture
from compiler.planning.memory_activations import kept
from compiler.planning.memory_job import Adapters, Division, Job, job

__all__ = ["HEADROOM", "Adapters", "Division", "Job", "Ledger", "Row", "Sizes", "Stage", "job", "ledger", "peak_bytes", "sizes"]

HEADROOM = 1.3  # fragmentation, kernels' workspace and the runtime itself
COLUMN_PARALLEL = ("q_proj", "k_proj", "v_proj", "gate_proj", "up_proj")
LOGIT_COPIES = 4  # float32 tensors of tokens x vocabulary alive at once in the loss: shifted logits, exponentials, one-hot labels, result


class Held(NamedTuple):
    """Bytes of each item on one device of one pipeline stage."""

    weights: int
    casts: int
    gradients: int
    optimizer: int
    activations: int
    logits: int
    working: int
    temporaries: int
    communication: int


MOMENTS: Mapping[str, tuple[str, ...]] = {
    "loss": ("weights", "casts", "optimizer", "activations", "logits", "communication"),
    "backward": ("weights", "casts", "optimizer", "activations", "working", "communication"),
    "update": ("weights", "gradients", "optimizer", "temporaries", "communication"),
}


@dataclass(frozen=True)
class Sizes:
    """What does not depend on the layout, worked out once for many layouts. Parameters in values, activations in bytes."""

    net: Architecture
    job: Job
    linear: int
    rest: int
    table: int
    learnt_divided: int
    learnt_whole: int
    residual: int
    whole: int
    divided: int
    core: int
    logits: int


def sizes(net: Architecture, job: Job) -> Sizes:
    """Measure a network and a job. Cheap, but a search over layouts calls it once."""
    layer, inputs = kept(net, job), net.linear
    linear = sum(width * out for width, out in inputs.values())
    adapters = job.adapters
    divided = whole = 0
    for target in adapters.targets if adapters else ():
        split, copied = inputs[target][::-1] if target in COLUMN_PARALLEL else inputs[target]
        divided, whole = divided + adapters.rank * split, whole + adapters.rank * copied  # type: ignore[union-attr]
    rest = net.layer_parameters - linear
    tokens = job.micro_batch * job.seq_length
    return Sizes(
        net=net,
        job=job,
        linear=linear,
        rest=rest,
        table=net.embedding_parameters,
        learnt_divided=divided if adapters else linear,
        learnt_whole=whole if adapters else rest,
        residual=layer.residual,
        whole=layer.whole,
        divided=layer.divided,
        core=layer.core,
        logits=tokens * net.vocab_size * (4 * LOGIT_COPIES + (job.compute if job.compute != 4 else 0)),
    )


def held(measured: Sizes, layout: Division, stage: int) -> Held:
    """Bytes of each item on a device of `stage` (0 is the first). Divisions that do not come out even are rounded up."""
    net, job = measured.net, measured.job
    tensor, pipeline, shard, data = layout.tensor, layout.pipeline, layout.optimizer_sharding, layout.data
    layers = -(-net.num_layers // pipeline)
    first, last = stage == 0, stage == pipeline - 1
    tables = (first or (last and net.tied)) + (last and not net.tied)
    table = -(-measured.table // tensor) * tables
    full = job.adapters is None
    layer = -(-measured.linear // tensor) + measured.rest
    stored = layers * layer + table + last * net.hidden_size
    learnt = layers * (-(-measured.learnt_divided // tensor) + measured.learnt_whole) + full * (table + last * net.hidden_size)
    if not full:
        stored += learnt
    flight = min(pipeline - stage, layout.micro_batches)
    cut = tensor * layout.context
    whole = (measured.residual + measured.whole) // layout.context
    one = whole + -(-(measured.divided + measured.core) // cut)
    recompute = layout.recompute
    if recompute == "full":
        saved = measured.residual // layout.context
    elif recompute == "selective":
        saved = one - measured.core // cut
    else:
        saved = one
    working = one if recompute == "full" else -(-measured.core // cut)
    cast = job.compute if job.compute != job.params else 0
    weights = stored * job.params
    gathered = 0
    if shard >= 3 and data > 1:
        weights, gathered = -(-weights // data), 2 * layer * job.params
    gradients, moments = learnt * job.params, learnt * (2 * job.moments + 4 * job.master)
    bucket = 0 if data == 1 else min(gradients, 2 * layer * job.params)
    if shard >= 2:
        gradients = -(-gradients // data)
    if shard >= 1:
        moments = -(-moments // data)
    accumulated = job.accumulation > 1 or (pipeline > 1 and layout.micro_batches > 1)
    return Held(
        weights=weights,
        casts=(layer if recompute == "full" else layers * layer) * cast,
        gradients=gradients,
        optimizer=moments,
        activations=flight * layers * saved,
        logits=last * (-(-measured.logits // cut)),
        working=working + accumulated * 0,
        temporaries=min(learnt, max(measured.table // tensor, measured.linear // tensor)) * 4,
        communication=bucket + gathered + (tensor > 1) * (measured.residual // layout.context),
    )


def at(items: Held, accumulated: bool) -> tuple[int, int, int]:
    """Bytes held at the loss, in the backward pass and in the update."""
    always = items.weights + items.optimizer + items.communication
    forward = always + items.casts + items.activations + (items.gradients if accumulated else 0)
    return forward + items.logits, forward + items.working, always + items.gradients + items.temporaries


def peak_bytes(measured: Sizes, layout: Division) -> int:
    """Largest bytes of any device: those of the first or the last stage, since one between holds no more than the first."""
    accumulated = measured.job.accumulation > 1 or (layout.pipeline > 1 and layout.micro_batches > 1)
    peak = max(at(held(measured, layout, 0), accumulated))
    return peak if layout.pipeline == 1 else max(peak, *at(held(measured, layout, layout.pipeline - 1), accumulated))


FORMULAS: Mapping[str, str] = {
    "weights": "parameters / (tensor x pipeline) x bytes of a weight; ZeRO 3: / data",
    "casts": "weights in the type of matrix products, where that is another one",
    "gradients": "trained parameters x bytes of a weight; ZeRO 2: / data",
    "optimizer": "trained parameters x 2 float32 moments; ZeRO 1: / data",
    "activations": "layers of the stage x micro batches in flight x tensors kept by a layer",
    "logits": "tokens x vocabulary, in float32 copies of the loss",
    "working": "one layer whose activations are computed again, or its gradients",
    "temporaries": "the largest tensor of an update, in float32",
    "communication": "gradient bucket, gathered layers of ZeRO 3, all-reduced output of tensor parallelism",
}


@dataclass(frozen=True)
class Row:
    """One item: its bytes, the formula in words, and the moments at which it is held."""

    item: str
    bytes: int
    formula: str
    moments: tuple[str, ...]


@dataclass(frozen=True)
class Stage:
    """One pipeline stage: its items, and the bytes held at each moment."""

    number: int
    rows: tuple[Row, ...]
    moments: Mapping[str, int]

    @property
    def peak(self) -> int:
        """Bytes of the moment that holds most."""
        return max(self.moments.values())


@dataclass(frozen=True)
class Ledger:
    """All pipeline stages; a device of each holds the same."""

    stages: tuple[Stage, ...]

    @property
    def peak(self) -> int:
        """Bytes of the stage that holds most."""
        return max(stage.peak for stage in self.stages)

    @property
    def peak_with_headroom(self) -> int:
        """Peak x 1.3, rounded up."""
        return -(-self.peak * 13 // 10)

    def fits(self, device_memory: int) -> bool:
        """Whether the peak with its headroom is within a device of so many bytes."""
        return self.peak_with_headroom <= device_memory


def ledger(architecture: Architecture, layout: Division, job: Job) -> Ledger:
    """The full ledger of one layout; `peak_bytes(sizes(architecture, job), layout)` is its peak alone, in microseconds."""
    measured = sizes(architecture, job)
    return Ledger(tuple(_stage(measured, layout, number) for number in range(layout.pipeline)))


def _stage(measured: Sizes, layout: Division, number: int) -> Stage:
    accumulated = measured.job.accumulation > 1 or (layout.pipeline > 1 and layout.micro_batches > 1)
    items = held(measured, layout, number)
    rows = tuple(
        Row(name, count, FORMULAS[name], tuple(moment for moment, names in MOMENTS.items() if name in names))
        for name, count in items._asdict().items()
    )
    return Stage(number, rows, dict(zip(MOMENTS, at(items, accumulated), strict=True)))
