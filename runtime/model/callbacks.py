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

UNSCALED = 1.0  # also the least that a dynamic scale sinks to
MOST_SKIPPED = 10


@dataclass(frozen=True)
class Step:
    """One optimizer step, `number` from 1. `learning_rate` is the one it used, `gradient_norm` before clipping.

    skipped: an overflow kept it from being applied; loss_scale: after the step, which may have changed it; trained_tokens:
    positions of the batch that count in its loss.
    """

    number: int
    loss: float
    learning_rate: float
    gradient_norm: float
    skipped: bool
    loss_scale: float
    trained_tokens: int


def scalar(value: object) -> float:
    """A tensor of one element, or a number, as a float; NaN for None."""
    if value is None:
        return math.nan
    return float(np.asarray(value.asnumpy() if isinstance(value, ms.Tensor) else value).reshape(-1)[0])


def observed(run_context: RunContext, trained: Callable[[tuple[np.ndarray, ...]], int]) -> Step:
    """The step that just ended, from what the training cell returned: loss, overflow, loss scale, learning rate, norm."""
    parameters: Any = run_context.original_args()
    loss, overflow, scale, learning_rate, norm = map(scalar, parameters.net_outputs[:5])
    batch = tuple(column.asnumpy() for column in parameters.train_dataset_element)
    return Step(int(parameters.cur_step_num), loss, learning_rate, norm, bool(overflow), scale, trained(batch))


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
    """Refuse to go on at the first value that is not finite, before anything is saved.

    An overflow under a loss scale is no such value: its step is skipped. It ends the training where the scale cannot help:
    a dynamic one that has sunk to its minimum, a static one after MOST_SKIPPED steps in a row.
    """

    def __init__(self) -> None:
        super().__init__()
        self.skipped = 0

    def on_train_step_end(self, run_context: RunContext) -> None:
        """Raise StageFault that names the step and its values."""
        parameters: Any = run_context.original_args()
        self.judge(observed(run_context, lambda batch: 0), dynamic=parameters.train_network.loss_scaling_manager is not None)

    def judge(self, step: Step, dynamic: bool) -> None:
        """Look at one step, in the order of the training; dynamic: whether the loss scale moves. Raises StageFault."""
        finite = math.isfinite(step.loss) and (step.skipped or math.isfinite(step.gradient_norm))
        scaled = dynamic or step.loss_scale != UNSCALED
        if not finite or (step.skipped and not scaled):
            raise StageFault(
                f"step {step.number}: the loss is {step.loss}, the gradient norm {step.gradient_norm}, "
                f"the learning rate {step.learning_rate:.3g}",
                reason="a value that is not finite never becomes finite again; going on would only overwrite good weights",
                fix="lower schedule.peak or lengthen schedule.warmup_steps; look at the loss before this step in the log",
            )
        self.skipped = self.skipped + 1 if step.skipped else 0
        if dynamic and step.skipped and step.loss_scale <= UNSCALED:
            self._give_up(step, "the loss scale has sunk to its minimum", "lower schedule.peak, or set model.dtype.compute to float32")
        if not dynamic and self.skipped >= MOST_SKIPPED:
            self._give_up(step, "a static loss scale does not adapt", "lower loss_scale.initial, or set loss_scale.kind to dynamic")

    def _give_up(self, step: Step, why: str, fix: str) -> None:
        raise StageFault(
            f"step {step.number}: the gradients overflow with a loss scale of {step.loss_scale:g}, "
            f"and {self.skipped} {'step has' if self.skipped == 1 else 'steps in a row have'} been skipped",
            reason=f"{why}, so no further step would change the weights",
            fix=fix,
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
        skipped = sum(step.skipped for step in self.steps)
        self.bar.note(f"loss {step.loss:.4f}" + f", {skipped} skipped" * bool(skipped))
