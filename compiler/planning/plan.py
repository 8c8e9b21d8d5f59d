"""Experiment -> Plan: choose the device profile and work out batches and tokens."""

from compiler.experiment import Experiment
from compiler.plan import Plan, Schedule
from compiler.planning.architecture import architecture
from compiler.planning.profiles import PROFILES
from compiler.spec.train import Layout, Training


def plan(experiment: Experiment) -> Plan:
    """Effective batch = micro batch x accumulation x data parallel."""
    spec = experiment.spec
    layout = Layout() if spec.parallel == "auto" else spec.parallel
    length = spec.model.seq_length
    return Plan(
        experiment=experiment,
        architecture=architecture(spec),
        layout=layout,
        profile=PROFILES[spec.device.target],
        pretrain=_schedule(spec.pretrain, layout, length),
        finetune=_schedule(spec.finetune, layout, length),
    )


def _schedule(training: Training, layout: Layout, seq_length: int) -> Schedule:
    batch = training.micro_batch * training.accumulation * layout.data
    return Schedule(batch, batch * seq_length, batch * seq_length * training.steps)
