"""A plan: an experiment with its numbers worked out and one device profile chosen."""

from dataclasses import dataclass

from compiler.experiment import Experiment
from compiler.planning.architecture import Architecture
from compiler.spec.train import Layout


@dataclass(frozen=True)
class DeviceProfile:
    """How one kind of device lowers a model to mindformers fields.

    target: MindSpore's device_target; flash_attention, fused_rms_norm, rope_slice, sink_mode: kernels and modes that the
    device has; wrapper: the training cell; numpy_sampling: whether generation samples on the host.
    """

    target: str
    flash_attention: bool
    fused_rms_norm: bool
    rope_slice: bool
    sink_mode: bool
    wrapper: str
    numpy_sampling: bool


@dataclass(frozen=True)
class Schedule:
    """Derived numbers of one training: rows of one update, tokens of one update, tokens in all."""

    effective_batch: int
    tokens_per_step: int
    tokens: int


@dataclass(frozen=True)
class Plan:
    """`layout`: the one that was written, or that the planner chose; `pretrain`, `finetune`: numbers that follow from it."""

    experiment: Experiment
    architecture: Architecture
    layout: Layout
    profile: DeviceProfile
    pretrain: Schedule
    finetune: Schedule
