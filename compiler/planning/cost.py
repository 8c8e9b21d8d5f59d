"""What one update of a training costs, by a stated model: floating-point operations, bytes sent, idle time of a pipeline.

It orders layouts; it does not foretell times. Stated assumptions:

- compute: 6 operations a parameter and token (Kaplan et al. 2020, arXiv:2001.08361), with the products of attention added
  (Chowdhery et al. 2022, arXiv:2204.02311, appendix B; scores above the diagonal are computed too), at the `Speed` of a device;
- communication is not hidden behind compute, and costs its bytes divided by the bandwidth of the slowest link of its group;
- ranks are numbered with tensor innermost, then context, then data, then pipeline outermost, as mindformers does;
- all stages of a pipeline take the same time.
"""

from dataclasses import dataclass
from typing import NamedTuple

from compiler.planning.architecture import Architecture
from compiler.planning.devices import Devices
from compiler.planning.memory import Division, Job


@dataclass(frozen=True)
class Work:
    """One training to be planned. `rows`: rows of one update over all devices, the effective batch; `steps`: updates.

    `job.micro_batch` is the most rows that one forward pass may take; a plan may take fewer, and accumulate.
    """

    stage: str
    network: Architecture
    job: Job
    rows: int
    steps: int

    @property
    def tokens_per_step(self) -> int:
        """Tokens of one update."""
        return self.rows * self.job.seq_length


class Sent(NamedTuple):
    """Bytes that one device sends for one update, by the kind of parallelism that needs them."""

    data: float
    tensor: float
    pipeline: float
    context: float


@dataclass(frozen=True)
class Measured:
    """The numbers of a training that no layout changes, so that a search works them out once.

    forward, backward: operations a token; again: recompute -> operations a token of the second forward pass; weights:
    bytes of a decoder layer's weights; learnt: bytes of all gradients; tables: bytes of the embedding and output tables.
    """

    work: Work
    forward: int
    backward: int
    again: dict[str, int]
    weights: int
    learnt: int
    width: int
    keys: int


def trained_parameters(network: Architecture, job: Job) -> int:
    """Parameters that the optimizer changes: all, or those of the adapters."""
    return network.adapter_parameters(job.adapters.rank, job.adapters.targets) if job.adapters else network.parameters


def measured(work: Work) -> Measured:
    """Work out what does not depend on the layout."""
    net, job = work.network, work.job
    products = net.parameters - (0 if net.tied else net.embedding_parameters)  # the look-up of a token multiplies nothing
    attention = 4 * net.num_layers * net.num_heads * net.head_dim * job.seq_length
    adapters = trained_parameters(net, job) if job.adapters else 0
    forward = 2 * (products + adapters) + attention
    backward = (2 * products + 4 * adapters if job.adapters else 4 * products) + 2 * attention
    return Measured(
        work=work,
        forward=forward,
        backward=backward,
        again={"none": 0, "selective": 0 if job.flash_attention else attention, "full": forward},
        weights=net.parameters * job.params,
        learnt=trained_parameters(net, job) * job.params,
        width=net.hidden_size * job.compute,
        keys=2 * net.num_kv_heads * net.head_dim * job.compute,
    )


def flops_per_token(known: Measured, recompute: str) -> int:
    """Operations for one token of an update: forward 2 a parameter, backward 4 (a frozen weight 2), and what is computed again.

    Full recomputation repeats the forward pass: a third more where all weights learn, half as much again with adapters.
    Selective recomputation repeats the scores of attention; beside a flash attention kernel only SiLU, which multiplies no matrix.
    """
    return known.forward + known.backward + known.again[recompute]


def bubble(pipeline: int, micro_batches: int) -> float:
    """Share of the time in which a stage of the pipeline has no work: (p - 1) / (m + p - 1).

    Narayanan et al. 2021 (arXiv:2104.04473), section 2.2, as a share of the whole step.
    """
    return (pipeline - 1) / (micro_batches + pipeline - 1)


def sent(known: Measured, layout: Division, passes: int) -> Sent:
    """Bytes that one device sends for one update of `passes` forward passes.

    data: a ring all-reduce of the gradients, 2 (n - 1) / n of them, over all n devices that hold the same weights; sharding 1
    and 2 send as much; sharding 3 gathers the weights in the forward and in the backward pass of every micro batch besides
    (Rajbhandari et al. 2020, arXiv:1910.02054, section 7). tensor: 4 all-reduces a layer of rows x tokens x width, 6 with full
    recomputation (Shoeybi et al. 2019, arXiv:1909.08053). pipeline: the same tensor to the next stage and its gradient back.
    context: keys and values pass through the group in the forward and, with their gradients, in the backward pass (Liu et al.
    2023, arXiv:2310.01889).
    """
    work = known.work
    tensor, pipeline, context, data = layout.tensor, layout.pipeline, layout.context, layout.data
    replicas, cut = data * context, tensor * pipeline
    gradients = 2 * (replicas - 1) / replicas * known.learnt / cut
    if layout.optimizer_sharding == 3:
        gradients = ((replicas - 1) / replicas * known.learnt + passes * 2 * (data - 1) / data * known.weights) / cut
    tokens = work.tokens_per_step / (data * context)
    layers = work.network.num_layers / pipeline
    reduced = 6 if layout.recompute == "full" else 4
    return Sent(
        data=gradients,
        tensor=layers * reduced * 2 * (tensor - 1) / tensor * tokens * known.width,
        pipeline=2 * tokens * known.width if pipeline > 1 else 0.0,
        context=layers * (4 if layout.recompute == "full" else 3) * (context - 1) * tokens * known.keys / tensor,
    )


def seconds(known: Measured, layout: Division, passes: int, devices: Devices) -> float:
    """Time of one update by the stated model: compute, stretched by the bubble, then what is sent."""
    speed, work = devices.speed, known.work
    rate = (speed.half if work.job.compute == 2 else speed.single) * speed.share
    compute = work.tokens_per_step * flops_per_token(known, layout.recompute) / (rate * devices.count)
    stretched = compute * (layout.micro_batches + layout.pipeline - 1) / layout.micro_batches
    return stretched + sum(_transfers(known, layout, passes, devices))


def _transfers(known: Measured, layout: Division, passes: int, devices: Devices) -> Sent:
    """Seconds for each kind of bytes, by the slowest link in the group that exchanges them."""
    bytes_ = sent(known, layout, passes)
    ring = layout.tensor * layout.context
    return Sent(
        data=bytes_.data / devices.bandwidth(ring * layout.data),
        tensor=bytes_.tensor / devices.bandwidth(layout.tensor),
        pipeline=bytes_.pipeline / devices.bandwidth(devices.count),
        context=bytes_.context / devices.bandwidth(ring),
    )


@dataclass(frozen=True)
class Cost:
    """One training on one layout. flops: operations of one update; sent: bytes of one device; seconds: of one update."""

    flops: int
    sent: Sent
    transfers: Sent
    bubble: float
    seconds: float
    tokens_per_second: float


def cost(work: Work, layout: Division, passes: int, devices: Devices) -> Cost:
    """The whole estimate. `passes`: forward passes of one update on one device, accumulated or through the pipeline."""
    known = measured(work)
    total = seconds(known, layout, passes, devices)
    return Cost(
        flops=work.tokens_per_step * flops_per_token(known, layout.recompute),
        sent=sent(known, layout, passes),
        transfers=_transfers(known, layout, passes, devices),
        bubble=bubble(layout.pipeline, layout.micro_batches),
        seconds=total,
        tokens_per_second=work.tokens_per_step / total,
    )
