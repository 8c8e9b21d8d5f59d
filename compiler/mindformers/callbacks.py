"""What watches a training. Two are ours, registered by `runtime.model.callbacks`."""

from dataclasses import dataclass
from typing import Literal

from compiler.mindformers.block import Block


@dataclass(frozen=True, kw_only=True)
class StopAtStep(Block):
    """Ours: the training ends after exactly `step` updates."""

    type: Literal["StopAtStep"] = "StopAtStep"
    step: int


@dataclass(frozen=True, kw_only=True)
class StopAtNonFinite(Block):
    """Ours: a loss or gradient norm that is not finite ends the stage before anything is saved."""

    type: Literal["StopAtNonFinite"] = "StopAtNonFinite"


@dataclass(frozen=True, kw_only=True)
class LossMonitor(Block):
    """The text log; its frequency is overlaid from the placement."""

    type: Literal["MFLossMonitor"] = "MFLossMonitor"
    per_print_times: int = 10


@dataclass(frozen=True, kw_only=True)
class CheckpointMonitor(Block):
    """Intermediate weights; the oldest is deleted before the newest is written, so keep at least two.

    `integrated_save`: gather divided weights on every rank before they are saved; False saves each rank's own part.
    """

    type: Literal["CheckpointMonitor"] = "CheckpointMonitor"
    prefix: str
    save_checkpoint_steps: int
    keep_checkpoint_max: int
    integrated_save: bool = True
    async_save: bool = False
    checkpoint_format: Literal["safetensors", "ckpt"] = "safetensors"
    save_trainable_params: bool = False


Callback = StopAtStep | StopAtNonFinite | LossMonitor | CheckpointMonitor
