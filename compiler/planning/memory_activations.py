"""What the forward pass of one decoder layer keeps for the backward pass, on an accelerator.

Korthikanti et al. 2022, "Reducing Activation Recomputation in Large Transformer Models" (arXiv:2205.05198), section 4.1,
lists the tensors of a layer with a GELU feed-forward in 16 bit: s b h (34 + 5 a s / h) bytes. This is the same list for a
layer with RMS norms, rotary positions, grouped heads and SwiGLU, in the numeric types of the job:

- a norm keeps its input and, without a fused kernel, the normalised input, if its weight learns;
- a linear layer keeps its input, for the gradient of its own weight alone: a frozen one keeps nothing (Hu et al. 2021,
  arXiv:2106.09685), and an adapter keeps the same input and its `rank` inner values;
- attention keeps query, key and value after rotation; without a fused kernel also the probabilities, heads x s x s per row
  (5 a s^2 b bytes of the paper: here there is no dropout), in the type of the softmax and once more in that of the product
  where the two differ; keys and values are repeated for each group of heads;
- SwiGLU keeps the gate before and after SiLU, the other half, and their product.

Full recomputation keeps the input of the layer alone. Selective recomputation is mindformers': with a flash attention kernel
it computes SiLU and the product again, without one the scores and their softmax.
"""

from dataclasses import dataclass

from compiler.planning.architecture import Architecture
from compiler.planning.memory_job import Job, Recompute

STATISTICS = 16  # float32 values per head and token that a flash attention kernel keeps: maximum and sum, eight of each


@dataclass(frozen=True)
class Kept:
    """Bytes of one micro batch in one layer: what tensor parallelism leaves whole on each rank, and what it divides."""

    whole: int
    divided: int

    def part(self, tensor: int, context: int) -> int:
        """Bytes on one rank of so many of tensor and context parallelism, rounded up."""
        return -(-(self.whole * tensor + self.divided) // (tensor * context))


def kept(net: Architecture, job: Job, recompute: Recompute) -> Kept:
    """The tensors that one decoder layer keeps until its backward pass."""
    tokens = job.micro_batch * job.seq_length
    residual = net.hidden_size * job.compute
    if recompute == "full":
        return Kept(tokens * residual, 0)
    dropped = 0 if recompute == "none" else _selected(net, job)
    divided = _projections(net, job) + _attention(net, job) + _product(net, job) - dropped
    return Kept(tokens * (residual + _norms(net, job)), tokens * divided)


def trains(job: Job, *names: str) -> bool:
    """Whether any of these linear layers has a weight, or an adapter, that learns."""
    return job.adapters is None or any(name in job.adapters.targets for name in names)


def _norms(net: Architecture, job: Job) -> int:
    """Per token: the second norm's input, what both norms keep besides, both normed inputs, the inner values of adapters.

    Without a fused kernel a norm keeps its input in its own type, where that is another, and, if its weight learns, the quotient.
    """
    width = net.hidden_size
    inner = 0 if job.fused_norm else width * job.layernorm * ((job.layernorm != job.compute) + (job.adapters is None))
    inputs = trains(job, "q_proj", "k_proj", "v_proj") + trains(job, "gate_proj", "up_proj")
    ranks = job.adapters.rank * len(job.adapters.targets) if job.adapters else 0
    return width * job.compute * (1 + inputs) + 2 * inner + ranks * job.compute


def _projections(net: Architecture, job: Job) -> int:
    """Per token: value heads, attention's output, both halves of SwiGLU."""
    queries, keys = net.num_heads * net.head_dim, net.num_kv_heads * net.head_dim
    output = queries if job.flash_attention or trains(job, "o_proj") else 0
    return job.compute * (keys + output + 2 * net.intermediate_size)


def _attention(net: Architecture, job: Job) -> int:
    """Per token: rotated queries and keys, and the probabilities or what a flash attention kernel keeps of them."""
    queries, keys = net.num_heads * net.head_dim, net.num_kv_heads * net.head_dim
    if job.flash_attention:
        return job.compute * (queries + keys) + 4 * STATISTICS * net.num_heads
    repeated = queries if net.num_heads == net.num_kv_heads else 2 * queries
    return job.compute * (queries + repeated) + scores(net, job)


def scores(net: Architecture, job: Job) -> int:
    """Per token: probabilities of all heads over a row, in the softmax's type and, where that differs, the product's."""
    return net.num_heads * job.seq_length * (job.softmax + (job.compute if job.compute != job.softmax else 0))


def _product(net: Architecture, job: Job) -> int:
    """Per token: SiLU's output and, where the last linear layer learns, its input."""
    return job.compute * net.intermediate_size * (1 + trains(job, "down_proj"))


def _selected(net: Architecture, job: Job) -> int:
    return _product(net, job) if job.flash_attention else scores(net, job)
