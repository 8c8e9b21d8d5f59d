"""What the forward pass of one decoder layer keeps for the backward pass.

Korthikanti et al. 2022, "Reducing Activation Recomputation in Large Transformer Models" (arXiv:2205.05198), section 4.1,
lists the tensors of a layer with a GELU feed-forward in 16 bit: s b h (34 + 5 a s / h) bytes. This is the same list for a
layer with RMS norms, rotary positions, grouped heads and SwiGLU, in the numeric types of the job:

- a norm keeps its input and, without a fused kernel, the normalised input (for the gradient of its weight);
- a linear layer keeps its input, for the gradient of its own weight alone: a frozen one keeps nothing (Hu et al. 2021,
  arXiv:2106.09685), and an adapter keeps the same input and its `rank` inner values;
- attention keeps query, key and value after rotation; without a fused kernel also the probabilities, heads x s x s per row
  (5 a s^2 b bytes of the paper: here there is no dropout), in the type of the softmax and once more in that of the product
  where the two differ; keys and values are repeated for each group of heads;
- SwiGLU keeps the gate before and after SiLU, the other half, and their product.
"""

from dataclasses import dataclass

from compiler.planning.architecture import Architecture
from compiler.planning.memory_job import Job

STATISTICS = 8  # float32 values per head and token that a flash attention kernel keeps for its softmax, maximum and sum


@dataclass(frozen=True)
class Kept:
    """Bytes of one micro batch in one layer, before any division; `whole` is what tensor parallelism leaves whole on each rank.

    residual: the input of the layer, all that full recomputation keeps; whole, divided: other tensors of tokens x width;
    core: what selective recomputation drops (scores, rotated and repeated heads, the product of SwiGLU).
    """

    residual: int
    whole: int
    divided: int
    core: int


def kept(net: Architecture, job: Job) -> Kept:
    """The tensors of one decoder layer on one device that holds all heads and all tokens of a row."""
    tokens = job.micro_batch * job.seq_length
    return Kept(
        residual=tokens * net.hidden_size * job.compute,
        whole=tokens * _whole(net, job),
        divided=tokens * _divided(net, job),
        core=tokens * _core(net, job),
    )


def _trains(job: Job, *names: str) -> bool:
    """Whether any of these linear layers has a weight, or an adapter, that learns."""
    return job.adapters is None or any(name in job.adapters.targets for name in names)


def _whole(net: Architecture, job: Job) -> int:
    """Per token: the second norm's input, what norms keep besides, both normed inputs, A's inner values."""
    width = net.hidden_size
    norm = 0 if job.fused_norm else width * job.layernorm
    if not job.fused_norm and job.layernorm != job.compute:
        norm += width * job.layernorm
    learnt = job.adapters is None
    inputs = _trains(job, "q_proj", "k_proj", "v_proj") + _trains(job, "gate_proj", "up_proj")
    inner = job.adapters.rank * len(job.adapters.targets) if job.adapters else 0
    return width * job.compute * (1 + inputs) + 2 * norm * (learnt or not job.fused_norm) + inner * job.compute


def _divided(net: Architecture, job: Job) -> int:
    """Per token: value heads, attention's output, both halves of SwiGLU before their product."""
    queries, keys = net.num_heads * net.head_dim, net.num_kv_heads * net.head_dim
    output = queries if job.flash_attention or _trains(job, "o_proj") else 0
    return job.compute * (keys + output + 2 * net.intermediate_size)


def _core(net: Architecture, job: Job) -> int:
    """Per token: rotated queries and keys, scores or their statistics, SiLU's output and the product."""
    queries, keys = net.num_heads * net.head_dim, net.num_kv_heads * net.head_dim
    product = net.intermediate_size if _trains(job, "down_proj") else 0
    inner = job.compute * (net.intermediate_size + product)
    if job.flash_attention:
        return inner + job.compute * (queries + keys) + 4 * STATISTICS * 2 * net.num_heads
    repeated = queries if net.num_heads == net.num_kv_heads else 2 * queries
    probabilities = net.num_heads * job.seq_length * (job.softmax + (job.compute if job.compute != job.softmax else 0))
    return inner + job.compute * (queries + repeated) + probabilities
