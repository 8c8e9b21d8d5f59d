"""The training step on a CPU: mindformers' own, with an overflow check that the CPU has kernels for.

The stock `MFTrainOneStepCell` asks the device for its floating-point status (NPUGetFloatStatusV2 on Ascend, FloatStatus
on a GPU); neither exists on a CPU. Looking at the gradients themselves gives the same answer.
"""

from typing import Any

import mindspore as ms
from mindformers.tools.register import MindFormerModuleType, MindFormerRegister
from mindformers.wrapper import MFTrainOneStepCell
from mindspore import ops

count_non_finite = ops.MultitypeFuncGraph("count_non_finite")


@count_non_finite.register("Tensor")
def _count_in_tensor(gradient: ms.Tensor) -> Any:
    wrong = ops.logical_not(ops.isfinite(ops.cast(gradient, ms.float32)))
    return ops.reduce_sum(ops.cast(wrong, ms.float32))


@MindFormerRegister.register(MindFormerModuleType.WRAPPER)
class CpuTrainOneStepCell(MFTrainOneStepCell):
    """`runner_wrapper.type` of a CPU configuration; arguments as of MFTrainOneStepCell."""

    def get_overflow_status(self, status: ms.Tensor, compute_output: tuple[ms.Tensor, ...]) -> ms.Tensor:
        """True (shape ()) where a gradient holds an infinity or a NaN; the step is skipped then."""
        counts = self.hyper_map(count_non_finite, compute_output)
        return ops.reshape(ops.addn(counts), ()) > 0
