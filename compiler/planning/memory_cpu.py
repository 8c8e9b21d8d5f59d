"""What MindSpore 2.9 holds on a CPU, where it differs from an accelerator.

Found by reading the compiled graph of the legacy Llama with the order of its kernels, and by tracing the process; measured
against real training in `benchmarks/memory`. Counts below are tensors of tokens x width: h hidden, q all heads, k key and
value heads, f feed-forward, v vocabulary, r rank.

- Tables. Kernels of broadcasting Add, Sub and Mul, and every Div, keep two tables of 8-byte indices over their output from
  their first launch to the end of the process. They are the largest item: the mask and the gradient of the softmax alone
  hold 32 bytes for each score.
- Results. What a MatMul or a norm gives to a Reshape is an output of the graph, so it lives until the step ends, in the
  backward pass too. Recomputation makes such results twice: it saves less than on an accelerator, and its tables are more.
- Weights and moments are held once, outside the pool of the kernels.
- Products in float16 are computed in float32: their kernels keep copies of two of the three matrices, and a factor that is one
  number has index tables too.
- The compiled graph itself takes tens of megabytes a layer.
"""

from compiler.planning.architecture import Architecture
from compiler.planning.memory_activations import Kept, trains
from compiler.planning.memory_job import Job, Recompute

INDEX = 16  # bytes of the tables for one value of the output: an index of 8 bytes into each operand
UPDATE_DIVISIONS = 2  # Div kernels for each trained value in AdamW: by the bias correction, and by the root of the second moment
LOSS_BROADCASTS = 3  # less the maximum, less the logarithm of the sum, times the gradient of the loss
LOSS_COPIES = 4  # float32 tensors of tokens x vocabulary at once: shifted logits, one-hot labels, their product, its negative
UPDATE_COPIES = 2  # tensors as large as all gradients at once in an update
POOL = 1.08  # bytes that the pool of the kernels spans for each byte in use (measured: 1.03 to 1.11)
HALF_SCORES = 4  # operands of the batched products, tokens x heads x tokens each, that float16 holds in float32 besides
GRAPH = 100_000_000  # compiled graph, data pipeline and library handles of a network without layers (measured)
GRAPH_LAYER = 55_000_000  # compiled kernels of one layer in training (measured)
LAYER_SCRATCH = 64  # bytes for each token x hidden of a layer that kernels allocate for themselves and keep (measured)


def _rows(net: Architecture) -> tuple[int, int, int, int]:
    return net.hidden_size, net.num_heads * net.head_dim, net.num_kv_heads * net.head_dim, net.intermediate_size


def layer_kept(net: Architecture, job: Job, recompute: Recompute) -> Kept:
    """Bytes of one layer at the loss: what the backward pass needs, and results that a Reshape keeps."""
    h, q, k, f = _rows(net)
    probabilities = net.num_heads * job.seq_length * (job.softmax + (job.compute if job.compute != job.softmax else 0))
    ranks = job.adapters.rank * len(job.adapters.targets) if job.adapters else 0
    if recompute == "full":
        return _bytes(job, 5 * h + ranks, q + 2 * k + 2 * f)
    norms = 4 * h if job.adapters is None else 2 * h
    sums = sum(trains(job, name) for name in ("gate_proj", "up_proj")) if job.adapters else 0
    inner = 3 + trains(job, "down_proj") + sums
    held = _bytes(job, 4 * h + norms + ranks, 5 * q + 2 * k + inner * f)
    return held if recompute == "selective" else Kept(held.whole, held.divided + pooled(job.micro_batch * job.seq_length * probabilities))


def layer_results(net: Architecture, job: Job, recompute: Recompute) -> Kept:
    """Bytes of one layer that live until the step ends: results of the forward, the repeated and the backward pass."""
    h, q, k, f = _rows(net)
    again = recompute == "full"
    ranks = (2 + again) * job.adapters.rank * len(job.adapters.targets) if job.adapters else 0
    whole = (7 + again + (4 + 2 * again)) * h if job.adapters is None else (5 + again) * h
    return _bytes(job, whole + ranks, (2 + again) * q + (2 + 2 * again) * k + (3 + 2 * again) * f)


def pooled(count: int) -> int:
    """Bytes that the pool of the kernels spans for so many in use."""
    return int(count * POOL)


def _bytes(job: Job, whole: int, divided: int) -> Kept:
    tokens = job.micro_batch * job.seq_length * job.compute
    return Kept(pooled(tokens * whole), pooled(tokens * divided))


def layer_tables(net: Architecture, job: Job, recompute: Recompute) -> Kept:
    """Bytes of the index tables of one layer, and of what its kernels allocate besides."""
    h, q, k, _ = _rows(net)
    norms, rotations = (12, 6) if recompute == "full" else (8, 4)
    masks = 2 if recompute == "none" else 3
    tokens = job.micro_batch * job.seq_length
    whole = norms * h * INDEX + h * LAYER_SCRATCH
    divided = INDEX * (rotations * (q + k) + masks * net.num_heads * job.seq_length)
    return Kept(tokens * whole, tokens * divided + (_half(net, job) if job.compute == 2 else 0))


def _half(net: Architecture, job: Job) -> int:
    """Bytes that products in float16 add to a layer: two of the three matrices of each in float32, tables of scaling the scores."""
    h, q, k, f = _rows(net)
    inputs, outputs = 5 * h + q + f, q + 2 * k + 2 * h + 2 * f  # of its seven linear layers
    learnt = 2 if job.adapters is None else 1  # the gradient of a weight multiplies both once more
    scores = net.num_heads * job.seq_length * (4 * HALF_SCORES + 2 * INDEX)
    weights = 2 * 4 * sum(width * out for width, out in net.linear.values())
    return weights + job.micro_batch * job.seq_length * (4 * learnt * (inputs + outputs) + scores)


def head_tables(net: Architecture, job: Job) -> int:
    """Bytes of the index tables of the last norm, the mask and the loss."""
    return job.micro_batch * job.seq_length * INDEX * (4 * net.hidden_size + job.seq_length + LOSS_BROADCASTS * net.vocab_size)


def layer_graph(job: Job, recompute: Recompute) -> int:
    """Bytes of the compiled kernels of one layer: adapters add about a third of its kernels, recomputation a fifth."""
    kernels = (1.3 if job.adapters else 1.0) * (1.2 if recompute == "full" else 1.0)
    return int(GRAPH_LAYER * kernels)
