"""The training step on a CPU: mindformers' own, with an overflow check that the CPU has kernels for, and accumulation.

The stock `MFTrainOneStepCell` asks the device for its floating-point status (NPUGetFloatStatusV2 on Ascend, FloatStatus
on a GPU); neither exists on a CPU. Looking at the gradients themselves gives the same answer.

Accumulation is ours too, since mindformers resets `gradient_accumulation_steps` to 1 outside semi-automatic parallel mode.
A batch of the loader is the whole window of one update. Its micro batches go through one compiled graph after the other, so
activations are those of a micro batch; then the stock step unscales, checks, clips and applies the sum, once.
"""

from collections.abc import Sequence
from typing import Any

import mindspore as ms
import numpy as np
from mindformers.tools.register import MindFormerModuleType, MindFormerRegister
from mindformers.wrapper import MFTrainOneStepCell
from mindformers.wrapper.wrapper import get_real_models
from mindspore import nn, ops

Columns = tuple[np.ndarray, ...]

count_non_finite = ops.MultitypeFuncGraph("count_non_finite")
add_to_sum = ops.MultitypeFuncGraph("add_to_sum")


@count_non_finite.register("Tensor")
def _count_in_tensor(gradient: ms.Tensor) -> Any:
    wrong = ops.logical_not(ops.isfinite(ops.cast(gradient, ms.float32)))
    return ops.reduce_sum(ops.cast(wrong, ms.float32))


@add_to_sum.register("Tensor", "Tensor", "Tensor")
def _add_to_sum(first: ms.Tensor, total: ms.Tensor, gradient: ms.Tensor) -> Any:
    """The first micro batch replaces what the window before left: multiplying by 0 would keep an infinity as NaN."""
    gradient = ops.cast(gradient, ms.float32)
    return ops.assign(total, ops.select(first, gradient, total + gradient))


class Window(nn.Cell):
    """Sum of the loss and of the gradients over the micro batches of one update, each weighted by its share.

    sums: float32 parameters of the shapes of `weights`. CheckpointMonitor never saves a name that begins with `accu_grads`.
    """

    def __init__(self, network: nn.Cell, weights: ms.ParameterTuple, grad: Any) -> None:
        super().__init__(auto_prefix=False)
        self.network = network
        self.weights = weights
        self.grad = grad
        self.sums = ms.ParameterTuple(
            ms.Parameter(ops.zeros(weight.shape, ms.float32), name=f"accu_grads.{weight.name}", requires_grad=False) for weight in weights
        )
        self.loss = ms.ParameterTuple([ms.Parameter(ms.Tensor([0.0], ms.float32), name="accu_grads.loss", requires_grad=False)])
        self.map = ops.HyperMap()

    def construct(self, first: ms.Tensor, share: ms.Tensor, sense: ms.Tensor, *columns: ms.Tensor) -> Any:
        """Add one micro batch. first: bool; share: of the trained tokens; sense: loss scale x share; all of shape ()."""
        loss: Any = self.network(*columns)
        seed: Any = ops.ones_like(loss)
        gradients = self.grad(self.network, self.weights)(*columns, seed * ops.cast(sense, loss.dtype))
        weighted = ops.reshape(ops.cast(loss, ms.float32) * share, (1,))
        total = ops.select(first, weighted, self.loss[0] + weighted)
        return ops.depend(ops.assign(self.loss[0], total), self.map(ops.partial(add_to_sum, first), self.sums, gradients))


def micro_batches(columns: Columns, accumulation: int) -> list[Columns]:
    """The rows of a batch in their order, in `accumulation` equal parts. Raises ValueError where they do not divide."""
    rows = columns[0].shape[0]
    if rows % accumulation:
        raise ValueError(f"{rows} rows do not divide into {accumulation} micro batches")
    size = rows // accumulation
    return [tuple(column[start : start + size] for column in columns) for start in range(0, rows, size)]


def counted_tokens(columns: Columns, pad: int, ignored: int) -> int:
    """Positions in the denominator of the legacy Llama's loss: input not `pad`, and label, where there are any, not `ignored`.

    columns: ids and perhaps labels, each (rows, seq_length + 1); labels are the ids, shifted by one, where there are none.
    """
    counted = columns[0][:, :-1] != pad
    if len(columns) > 1:
        counted &= columns[1][:, 1:] != ignored
    return int(np.count_nonzero(counted))


def shares(tokens: Sequence[int]) -> list[float]:
    """Part of each micro batch in the trained tokens of its window; zeros where nothing is trained.

    The mean over all tokens is the sum of share x mean of the micro batch: 11 and 101 tokens with means 1.0 and 3.0 give 2.8036.
    """
    total = sum(tokens)
    return [count / total if total else 0.0 for count in tokens]


@MindFormerRegister.register(MindFormerModuleType.WRAPPER)
class CpuTrainOneStepCell(MFTrainOneStepCell):
    """`runner_wrapper.type` of a CPU configuration.

    accumulation: micro batches of one update, into which the rows of a batch are divided. The other arguments are those of
    MFTrainOneStepCell. One call is one update, so steps, learning rate, checkpoints and loss scale count updates.
    """

    def __init__(self, network: nn.Cell, optimizer: nn.Cell, accumulation: int = 1, **settings: Any) -> None:
        super().__init__(network, optimizer, **settings)
        self.accumulation = accumulation
        self.window = Window(self.network, self.weights, self.grad) if accumulation > 1 else None

    def __call__(self, *columns: ms.Tensor) -> tuple[Any, ...]:
        """One update from a batch of ids and perhaps labels (accumulation x micro batch, seq_length + 1)."""
        if self.window is None:
            return super().__call__(*columns)
        self._accumulate(self.window, tuple(column.asnumpy() for column in columns))
        return super().__call__()

    def _accumulate(self, window: Window, columns: Columns) -> None:
        model = get_real_models(self.network)
        parts = micro_batches(columns, self.accumulation)
        tokens = [counted_tokens(part, model.pad_token_id, model.ignore_token_id) for part in parts]
        scale = float(self.scale_sense.asnumpy().reshape(-1)[0])
        for index, (part, share) in enumerate(zip(parts, shares(tokens), strict=True)):
            numbers = ms.Tensor(index == 0), ms.Tensor(share, ms.float32), ms.Tensor(scale * share, ms.float32)
            window(*numbers, *(ms.Tensor(column) for column in part))

    def grads_for_legacy(self, scaling_sens: ms.Tensor, *inputs: ms.Tensor) -> tuple[Any, ...]:
        """Loss (1,), gradients scaled by the loss scale, and a further factor in them: here 1."""
        if self.window is None:
            return super().grads_for_legacy(scaling_sens, *inputs)
        return self.window.loss[0], self.window.sums, self.grad_scale_factor

    def get_overflow_status(self, status: ms.Tensor, compute_output: tuple[ms.Tensor, ...]) -> ms.Tensor:
        """True (shape ()) where a gradient holds an infinity or a NaN; the step is skipped then."""
        counts = self.hyper_map(count_non_finite, compute_output)
        return ops.reshape(ops.addn(counts), ()) > 0
