"""What of the memory ledger does not depend on the layout: worked out once for a network and a job, used for many layouts."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

from compiler.planning import memory_cpu as cpu
from compiler.planning.architecture import Architecture
from compiler.planning.memory_activations import Kept, kept
from compiler.planning.memory_job import RECOMPUTES, Adapters, Job, Recompute

COLUMN_PARALLEL = ("q_proj", "k_proj", "v_proj", "gate_proj", "up_proj")  # their outputs are divided; of the others, the inputs
LOGIT_COPIES = 4  # float32 tensors of tokens x vocabulary at once in the loss: shifted logits, one-hot labels, their product, its negative
NOTHING = Kept(0, 0)


@dataclass(frozen=True)
class Layer:
    """Bytes of one decoder layer for one micro batch.

    kept: until its backward pass; working: at its backward pass besides; results, tables, graph: of a CPU.
    """

    kept: Kept
    working: Kept
    results: Kept = NOTHING
    tables: Kept = NOTHING
    graph: int = 0


@dataclass(frozen=True)
class Sizes:
    """Parameters of parts of the network in values, the rest in bytes.

    linear, rest: of one layer, its matrices and its norms and biases; table: one embedding table; learnt: of one layer.
    """

    net: Architecture
    job: Job
    linear: int
    rest: int
    table: int
    learnt_divided: int
    learnt_whole: int
    residual: int
    logits: int
    head_tables: int
    layers: Mapping[Recompute, Layer]
    unshared: Callable[[int, int], tuple[int, int]]


def rows(net: Architecture, tensor: int) -> Mapping[str, int]:
    """First dimension of each matrix of a decoder layer, and of the tables, that one device of tensor parallelism has."""
    own = {name: outputs // (tensor if name in COLUMN_PARALLEL else 1) for name, (_, outputs) in net.linear.items()}
    return own | {"tables": net.vocab_size if net.vocab_size % tensor else net.vocab_size // tensor}


def _unshared(net: Architecture) -> Callable[[int, int], tuple[int, int]]:
    """(tensor, replicas) -> values of one layer, and of one table, on a device that optimizer sharding leaves whole.

    MindSpore shares a weight out along its first dimension, and leaves it whole where that does not divide by all devices
    that hold the same part of it.
    """

    @cache
    def left(tensor: int, replicas: int) -> tuple[int, int]:
        whole = {name for name, first in rows(net, tensor).items() if first % replicas}
        linear = sum(-(-net.linear[name][0] * net.linear[name][1] // tensor) for name in whole - {"tables"})
        table = -(-net.embedding_parameters // (1 if net.vocab_size % tensor else tensor))
        return linear, table if "tables" in whole else 0

    return left


def sizes(net: Architecture, job: Job) -> Sizes:
    """Measure a network and a job; a search over layouts calls it once."""
    linear = sum(inputs * outputs for inputs, outputs in net.linear.values())
    rest = net.layer_parameters - linear
    divided, whole = _adapters(net, job.adapters) if job.adapters else (linear, rest)
    on_cpu = job.target == "cpu"
    return Sizes(
        net=net,
        job=job,
        linear=linear,
        rest=rest,
        table=net.embedding_parameters,
        learnt_divided=divided,
        learnt_whole=whole,
        residual=job.micro_batch * job.seq_length * net.hidden_size * job.compute,
        logits=_logits(net, job),
        head_tables=cpu.head_tables(net, job) if on_cpu else 0,
        unshared=_unshared(net),
        layers={recompute: _cpu_layer(net, job, recompute) if on_cpu else _layer(net, job, recompute) for recompute in RECOMPUTES},
    )


def _adapters(net: Architecture, adapters: Adapters) -> tuple[int, int]:
    """Values of all A and B of one layer: those on the divided side of their linear layer, and the others."""
    pairs = [net.linear[name][::-1] if name in COLUMN_PARALLEL else net.linear[name] for name in adapters.targets]
    return adapters.rank * sum(split for split, _ in pairs), adapters.rank * sum(copied for _, copied in pairs)


def _logits(net: Architecture, job: Job) -> int:
    """The copies of the loss, and the product they are made from: where it is not float32 itself, or its gradient is due on a CPU."""
    product = job.compute if job.compute != 4 or (job.target == "cpu" and job.adapters is None) else 0
    logits = job.micro_batch * job.seq_length * net.vocab_size * (4 * LOGIT_COPIES + product)
    return cpu.pooled(logits) if job.target == "cpu" else logits


def _layer(net: Architecture, job: Job, recompute: Recompute) -> Layer:
    """The working set is what is computed again, or else the gradients inside one layer, as large as what selection drops."""
    held, everything = kept(net, job, recompute), kept(net, job, "none")
    smaller = kept(net, job, "selective") if recompute == "none" else held
    return Layer(held, Kept(everything.whole - smaller.whole, everything.divided - smaller.divided))


def _cpu_layer(net: Architecture, job: Job, recompute: Recompute) -> Layer:
    """The working set is what a layer holds besides the results that live on."""
    everything, least = cpu.layer_kept(net, job, "none"), cpu.layer_kept(net, job, "full")
    return Layer(
        kept=cpu.layer_kept(net, job, recompute),
        working=Kept(everything.whole - least.whole, everything.divided - least.divided),
        results=cpu.layer_results(net, job, recompute),
        tables=cpu.layer_tables(net, job, recompute),
        graph=cpu.layer_graph(job, recompute),
    )
