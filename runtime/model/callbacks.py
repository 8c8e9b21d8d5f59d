"""Training callbacks: what a mindformers YAML names (stop step, stop at non-finite values), and what the runtime adds."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import mindspore as ms
import numpy as np
from mindformers.tools.register import MindFormerModuleType, MindFormerRegister
from mindspore import nn
from mindspore.train.callback import Callback, RunContext

from runtime.faults import StageFault
from runtime.terminal import Bar


@dataclass(frozen=True)
class Step:
    """One optimizer step, `number` from 1. `learning_rate` is the one it used, `gradient_norm` before clipping.

    trained_tokens: positions of the batch that count in its loss.
    """

    number: int
    loss: float
    learning_rate: float
    gradient_norm: float
    skipped: bool
    trained_tokens: int


def scalar(value: object) -> float:
    """A tensor of one element, or a number, as a float; NaN for None."""
    if value is None:
        return math.nan
    return float(np.asarray(value.asnumpy() if isinstance(value, ms.Tensor) else value).reshape(-1)[0])


def observed(run_context: RunContext, trained: Callable[[tuple[np.ndarray, ...]], int]) -> Step:
    """The step that just ended, from what the training cell returned: loss, overflow, loss scale, learning rate, norm."""
    parameters: Any = run_context.original_args()
    loss, overflow, _, learning_rate, norm = parameters.net_outputs[:5]
    batch = tuple(column.asnumpy() for column in parameters.train_dataset_element)
    return Step(int(parameters.cur_step_num), scalar(loss), scalar(learning_rate), scalar(norm), bool(scalar(overflow)), trained(batch))


@MindFormerRegister.register(MindFormerModuleType.CALLBACK)
class StopAtStep(Callback):
    """End the training after exactly `step` optimizer steps, wherever in an epoch that is."""

    def __init__(self, step: int) -> None:
        super().__init__()
        self.step = step

    def on_train_step_end(self, run_context: RunContext) -> None:
        """Ask for the stop when the step is reached."""
        parameters: Any = run_context.original_args()
        if parameters.cur_step_num >= self.step:
            run_context.request_stop()


@MindFormerRegister.register(MindFormerModuleType.CALLBACK)
class StopAtNonFinite(Callback):
    """Refuse to go on at the first loss, gradient norm or overflow that is not finite, before anything is saved."""

    def on_train_step_end(self, run_context: RunContext) -> None:
        """Raise StageFault that names the step and its values."""
        step = observed(run_context, lambda batch: 0)
        if math.isfinite(step.loss) and math.isfinite(step.gradient_norm) and not step.skipped:
            return
        raise StageFault(
            f"step {step.number}: the loss is {step.loss}, the gradient norm {step.gradient_norm}, "
            f"the learning rate {step.learning_rate:.3g}",
            reason="a value that is not finite never becomes finite again; going on would only overwrite good weights",
            fix="lower schedule.peak or lengthen schedule.warmup_steps; look at the loss before this step in the log",
        )


@dataclass(eq=False)
class History(Callback):
    """Keeps every step, feeds the progress bar, and keeps hold of the network that is trained.

    `before` and `trained` are called with the network when the training starts and for each batch.
    """

    bar: Bar
    trained: Callable[[tuple[np.ndarray, ...]], int]
    before: Callable[[nn.Cell], None]
    steps: list[Step] = field(default_factory=list)
    network: nn.Cell | None = None

    def on_train_begin(self, run_context: RunContext) -> None:
        """Look at the network before the first step."""
        parameters: Any = run_context.original_args()
        self.network = parameters.train_network
        self.before(parameters.train_network)

    def on_train_step_end(self, run_context: RunContext) -> None:
        """Record the step."""
        step = observed(run_context, self.trained)
        self.steps.append(step)
        self.bar.advance()
        self.bar.note(f"loss {step.loss:.4f}")
