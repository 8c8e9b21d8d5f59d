"""Experiment -> Plan: choose the layout and the device profile, and work out batches and tokens."""

from dataclasses import replace

from compiler.experiment import Experiment
from compiler.plan import Plan, Schedule
from compiler.planning.architecture import architecture
from compiler.planning.profiles import PROFILES
from compiler.planning.study import concrete, effective_batch
from compiler.spec.train import Layout, Training


def plan(experiment: Experiment) -> Plan:
    """The plan of a valid experiment; under `parallel: auto` the layout and the batches are the planner's from here on."""
    spec = concrete(experiment.spec)
    assert spec.parallel != "auto", "a concrete spec holds its layout"
    length = spec.model.seq_length
    return Plan(
        experiment=replace(experiment, spec=spec),
        architecture=architecture(spec),
        layout=spec.parallel,
        profile=PROFILES[spec.device.target],
        pretrain=_schedule(spec.pretrain, spec.parallel, length),
        finetune=_schedule(spec.finetune, spec.parallel, length),
    )


def _schedule(training: Training, layout: Layout, seq_length: int) -> Schedule:
    batch = effective_batch(training, layout)
    return Schedule(batch, batch * seq_length, batch * seq_length * training.steps)
