"""What changes the weights: optimizer, learning rate, training cell and loss scale."""

from dataclasses import dataclass
from typing import Literal

from compiler.mindformers.block import Block, UndeclaredValue


@dataclass(frozen=True, kw_only=True)
class Optimizer(Block):
    """AdamW with decoupled weight decay; parameters of one dimension get none."""

    type: Literal["AdamW"] = "AdamW"
    betas: tuple[float, float]
    eps: float
    weight_decay: float


@dataclass(frozen=True, kw_only=True)
class LearningRate(Block):
    """Linear from `warmup_lr_init` to `learning_rate` over `warmup_steps`, then a cosine to `lr_end` at `total_steps`."""

    type: Literal["CosineWithWarmUpLR"] = "CosineWithWarmUpLR"
    learning_rate: float
    lr_end: float
    warmup_steps: int
    warmup_lr_init: float
    total_steps: int


@dataclass(frozen=True, kw_only=True)
class DynamicScale(Block):
    """A loss scale that halves at an overflow and doubles after `scale_window` updates without one; never below 1."""

    type: Literal["DynamicLossScaleUpdateCell"] = "DynamicLossScaleUpdateCell"
    loss_scale_value: float
    scale_factor: int = 2
    scale_window: int


WrapperType = Literal["CpuTrainOneStepCell", "MFTrainOneStepCell", "MFPipelineWithLossScaleCell"]


@dataclass(frozen=True, kw_only=True)
class Wrapper(Block):
    """The training cell; `scale_sense` 1.0 is no loss scaling, another number a static one.

    `accumulation`: ours, of `CpuTrainOneStepCell` alone; the rows of a batch are divided into so many micro batches.
    `micro_batch_num`: of `MFPipelineWithLossScaleCell` alone, which mindformers takes for pipelines and for accumulation in
    semi-automatic parallel mode, whatever the file says. Any other cell ignores them, so UndeclaredValue is raised.
    """

    type: WrapperType
    accumulation: int | None = None
    micro_batch_num: int | None = None
    scale_sense: float | DynamicScale = 1.0
    use_clip_grad: bool = True
    max_grad_norm: float

    def __post_init__(self) -> None:
        super().__post_init__()
        for key, cell in (("accumulation", "CpuTrainOneStepCell"), ("micro_batch_num", "MFPipelineWithLossScaleCell")):
            if getattr(self, key) is not None and self.type != cell:
                raise UndeclaredValue(f"Wrapper.{key} is of {cell}; {self.type} would ignore it")
