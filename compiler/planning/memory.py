"""The memory ledger: what one training holds on one device of each pipeline stage, and whether that fits.

Three moments can be the peak of a step, and each item says at which it is held:

- `loss`: all activations of the micro batches in flight, and the logits;
- `backward`: the activations still, and the working set of the layer whose gradient is computed;
- `update`: all gradients, and the temporaries of the optimizer; activations are gone.

Sources: states and their sharding are those of Rajbhandari et al. 2020, "ZeRO: Memory Optimizations Toward Training Trillion
Parameter Models" (arXiv:1910.02054); activations are in `memory_activations`; micro batches in flight are those of the
one-forward-one-backward schedule, Narayanan et al. 2021, "Efficient Large-Scale Language Model Training on GPU Clusters Using
Megatron-LM" (arXiv:2104.04473). A CPU holds other things, which `memory_cpu` describes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from compiler.planning import memory_cpu as cpu
from compiler.planning.architecture import Architecture
from compiler.planning.memory_job import Adapters, Division, Job, job
from compiler.planning.memory_sizes import Sizes, sizes
from compiler.wording import Said, said

__all__ = ["HEADROOM", "Adapters", "Division", "Job", "Ledger", "Row", "Sizes", "Stage", "job", "ledger", "peak_bytes", "sizes"]

HEADROOM = 1.3  # fragmentation, workspace of kernels and the runtime itself


class Held(NamedTuple):
    """Bytes of each item on one device of one pipeline stage; 0 where the device or the layout has none."""

    weights: int
    casts: int
    gradients: int
    optimizer: int
    activations: int
    logits: int
    working: int
    results: int
    temporaries: int
    communication: int
    tables: int
    graph: int


MOMENTS = ("loss", "backward", "update")
ALWAYS = ("weights", "optimizer", "communication", "tables", "graph")


def held(measured: Sizes, layout: Division, stage: int) -> Held:
    """Bytes of each item on a device of `stage` (0 is the first). Divisions that do not come out even are rounded up."""
    net, job, layer = measured.net, measured.job, measured.layers[layout.recompute]
    tensor, pipeline, data, shard, context = layout.tensor, layout.pipeline, layout.data, layout.optimizer_sharding, layout.context
    layers, last = -(-net.num_layers // pipeline), stage == pipeline - 1
    cut, full, on_cpu = tensor * context, job.adapters is None, job.target == "cpu"
    table = -(-measured.table // (1 if net.vocab_size % tensor else tensor))
    tables = (stage == 0) + (last and not (net.tied and pipeline == 1))
    ends = tables * table + last * net.hidden_size
    linear = -(-measured.linear // tensor) + measured.rest
    learnt = layers * (-(-measured.learnt_divided // tensor) + measured.learnt_whole) + full * ends
    weights = (layers * linear + ends + (not full) * learnt) * job.params
    gradients, moments = learnt * (4 if on_cpu else job.params), learnt * (2 * job.moments + 4 * job.master)
    unshared, whole_table = measured.unshared(tensor, data * context) if shard else (0, 0)
    whole = layers * unshared + tables * whole_table
    kept = full * whole * job.params  # gradients, and weights of the same values
    parted = _parted(weights, whole * job.params, data) if shard >= 3 else weights
    gathered = min(2 * (linear - unshared) * job.params, weights - parted) if shard >= 3 else 0
    return Held(
        weights=parted,
        casts=((1 if layout.recompute == "full" else layers) * linear + last * table) * job.compute * (job.compute != job.params),
        gradients=_parted(gradients, kept, data) if shard >= 2 else gradients,
        optimizer=_parted(moments, full * whole * (2 * job.moments + 4 * job.master), data) if shard else moments,
        activations=min(pipeline - stage, layout.micro_batches) * layers * layer.kept.part(tensor, context),
        logits=last * -(-measured.logits // cut),
        working=layer.working.part(tensor, context),
        results=layers * layer.results.part(tensor, context),
        temporaries=cpu.UPDATE_COPIES * gradients if on_cpu else 4 * min(learnt, max(full * table, -(-measured.learnt_divided // tensor))),
        communication=(min(gradients, 2 * linear * job.params) if data > 1 else 0) + gathered + (tensor > 1) * measured.residual // context,
        tables=_tables(measured, layout, layers, last) + learnt * cpu.INDEX * cpu.UPDATE_DIVISIONS if on_cpu else 0,
        graph=cpu.GRAPH + layers * layer.graph if on_cpu else 0,
    )


def _parted(everything: int, whole: int, data: int) -> int:
    """Bytes on one of the replicas that share out what does not stay whole."""
    return whole - (whole - everything) // data


def _tables(measured: Sizes, layout: Division, layers: int, last: bool) -> int:
    """Index tables of a CPU's forward and backward kernels."""
    inner = layers * measured.layers[layout.recompute].tables.part(layout.tensor, layout.context)
    return inner + last * measured.head_tables // layout.context


def accumulates(job: Job, layout: Division) -> bool:
    """Whether gradients of one micro batch wait for those of the next, and so are held while activations are."""
    return job.accumulation > 1 or (layout.pipeline > 1 and layout.micro_batches > 1)


def at_moments(items: Held, accumulated: bool) -> tuple[int, int, int]:
    """Bytes held at the loss, in the backward pass and in the update, in the order of MOMENTS."""
    always = items.weights + items.optimizer + items.communication + items.tables + items.graph
    waiting = always + items.casts + (items.gradients if accumulated else 0)
    if items.graph:
        backward = always + items.casts + items.results + items.working + items.gradients
    else:
        backward = waiting + items.activations + items.working
    return waiting + items.activations + items.logits, backward, always + items.gradients + items.temporaries


def peak_bytes(measured: Sizes, layout: Division) -> int:
    """Largest bytes of any device: those of the first or the last stage, since one between holds no more than the first."""
    accumulated = accumulates(measured.job, layout)
    peak = max(at_moments(held(measured, layout, 0), accumulated))
    last = layout.pipeline - 1
    return max(peak, *at_moments(held(measured, layout, last), accumulated)) if last else peak


FORMULAS: Mapping[str, Said] = {
    "weights": said(
        "parameters / (tensor x pipeline) x bytes of a weight; ZeRO 3: / data", "参数量 / (张量 x 流水线) x 权重字节数；ZeRO 3：再 / 数据"
    ),
    "casts": said(
        "weights of layers and head again in the type of matrix products, where that is another",
        "各层与输出层权重按矩阵乘法类型的副本（类型不同时）",
    ),
    "gradients": said("trained parameters x bytes of a gradient; ZeRO 2: / data", "训练参数量 x 梯度字节数；ZeRO 2：/ 数据"),
    "optimizer": said("trained parameters x two moments of AdamW; ZeRO 1: / data", "训练参数量 x AdamW 两个矩；ZeRO 1：/ 数据"),
    "activations": said(
        "layers of the stage x micro batches in flight x tensors that a layer keeps", "本阶段层数 x 在途微批数 x 每层保留的张量"
    ),
    "logits": said("tokens x vocabulary, in the float32 copies of the loss", "词元数 x 词表，损失的 float32 副本"),
    "working": said("one layer: what is computed again, or the gradients inside it", "单层：重计算的张量，或层内梯度"),
    "results": said("results that a CPU keeps to the end of the step", "CPU 保留到本步结束的结果"),
    "temporaries": said("copies of an update", "更新时的临时副本"),
    "communication": said(
        "gradient bucket, two gathered layers of ZeRO 3, all-reduced output of tensor parallelism",
        "梯度通信桶、ZeRO 3 聚合的两层、张量并行的 all-reduce 输出",
    ),
    "tables": said("index tables that CPU kernels keep", "CPU 算子保留的下标表"),
    "graph": said("compiled graph of a CPU", "CPU 的编译图"),
}


@dataclass(frozen=True)
class Row:
    """One item: its bytes, the formula in words, and the moments at which it is held."""

    item: str
    bytes: int
    formula: Said
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
    items, accumulated = held(measured, layout, number), accumulates(measured.job, layout)
    held_at = _held_at(measured.job.target == "cpu", accumulated)
    rows = tuple(Row(item, count, FORMULAS[item], held_at[item]) for item, count in items._asdict().items())
    return Stage(number, rows, dict(zip(MOMENTS, at_moments(items, accumulated), strict=True)))


def _held_at(on_cpu: bool, accumulated: bool) -> Mapping[str, tuple[str, ...]]:
    """The moments that `at_moments` counts each item at."""
    waiting = MOMENTS if accumulated else (MOMENTS[1:] if on_cpu else MOMENTS[2:])
    return {item: MOMENTS for item in ALWAYS} | {
        "casts": MOMENTS[:2],
        "gradients": waiting,
        "activations": MOMENTS[:1] if on_cpu else MOMENTS[:2],
        "logits": MOMENTS[:1],
        "working": MOMENTS[1:2],
        "results": MOMENTS[1:2],
        "temporaries": MOMENTS[2:],
    }
