"""A plan: an experiment with its numbers worked out and one device profile chosen."""

from dataclasses import dataclass

from compiler.experiment import Experiment
from compiler.planning.architecture import Architecture
from compiler.planning.profiles import DeviceProfile
from compiler.spec.train import Layout


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
