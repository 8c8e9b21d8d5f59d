"""`mindspec plan`: what will be trained, on which layout and why, with how much memory and compute; nothing runs.

Faults that only a run would meet do not keep it from planning: they are told as in `check`, on standard error.
"""

import argparse
from typing import Any

from compiler.cli import print_json, report_warnings
from compiler.command.plan_text import layouts_text, memory_text, model_text, training_text
from compiler.parse import load
from compiler.planning.architecture import architecture
from compiler.planning.ladder import ladder
from compiler.planning.outlook import Outlook, outlooks
from compiler.planning.shape import Shape
from compiler.project import Project
from compiler.spec import Spec
from compiler.validate import review
from compiler.wording import in_language, said


def add_arguments(sub: argparse.ArgumentParser) -> None:
    """NAME, overrides, and what to show besides."""
    sub.add_argument("name", help=in_language(said("experiment", "实验名")))
    overrides = said(
        "Hydra overrides, such as model=llama2-7b device=gpu-80gb parallel=auto",
        "Hydra 覆盖项，例如 model=llama2-7b device=gpu-80gb parallel=auto",
    )
    sub.add_argument("overrides", nargs="*", metavar="key=value", help=in_language(overrides))
    memory = said("the memory ledger of each device and pipeline stage", "各设备、各流水线阶段的内存账本")
    sub.add_argument("--memory", action="store_true", help=in_language(memory))
    layouts = said(
        "the layouts that fit, ranked, and those that were rejected, with reasons", "可容纳的布局及其排序，以及被排除的布局和理由"
    )
    sub.add_argument("--layouts", action="store_true", help=in_language(layouts))


def run(project: Project, options: argparse.Namespace) -> int:
    """Exit code 0 also where nothing fits: that is the answer. Raises Faults for what cannot be planned."""
    reviewed = review(load(project.root, options.name, options.overrides), planning=True)
    spec = reviewed.spec
    planned = outlooks(spec)
    if options.json:
        notes = [one.as_dict() for one in reviewed.warnings]
        print_json({**_as_dict(spec, planned, options), "diagnostics": notes}, indent=2)
        return 0
    print(model_text(spec))
    for one in planned:
        print(training_text(one))
        if options.memory:
            memory_text(one)
        if options.layouts:
            layouts_text(one)
    report_warnings(reviewed.warnings)
    return 0


def _as_dict(spec: Spec, planned: tuple[Outlook, ...], options: argparse.Namespace) -> dict[str, Any]:
    network = architecture(spec)
    return {
        "ok": True,
        "experiment": spec.name,
        "parameters": network.parameters,
        "seq_length": spec.model.seq_length,
        "devices": spec.device.model_dump(),
        "trainings": {one.section: _training(one, options) for one in planned},
    }


def _training(one: Outlook, options: argparse.Namespace) -> dict[str, Any]:
    told, speed = one.as_dict(), one.found.devices.speed
    rate = speed.half if one.found.works[0].job.compute == 2 else speed.single
    told["assumed_speed"] = {"flops_per_second": rate, "share": speed.share, "of": in_language(speed.named)}
    told["steps_from_light_to_heavy"] = [
        {
            "step": step.kind,
            "name": in_language(step.name),
            "verdict": step.verdict,
            "reason": in_language(step.reason),
            "peak_bytes": step.peak,
        }
        for step in ladder(one.found)
    ]
    if options.memory:
        told["ledger"] = _ledger(one)
    if options.layouts:
        told |= _layouts(one)
    return told


def _ledger(one: Outlook) -> list[dict[str, Any]]:
    """Rows and moments of each pipeline stage, in bytes."""
    return [
        {
            "stage": stage.number,
            "moments": dict(stage.moments),
            "rows": [{**vars(row), "formula": in_language(row.formula)} for row in stage.rows],
        }
        for stage in one.ledger.stages
    ]


def _layouts(one: Outlook) -> dict[str, Any]:
    """The layouts that fit, from the lightest, and those that were rejected."""
    fitting = [
        {
            "layout": found.shape._asdict(),
            "micro_batch": found.batches[0].micro_batch,
            "accumulation": found.batches[0].accumulation,
            "peak_bytes": found.peak,
            "seconds_per_step": found.seconds / one.steps,
            "built": one.found.built(found),
        }
        for found in one.found.candidates
    ]
    rejected = [
        {
            "what": in_language(left.what),
            "reason": in_language(left.reason),
            "layout": _shape(left.shape),
            "peak_bytes": left.peak,
        }
        for left in one.found.rejected
    ]
    return {"layouts": fitting, "rejected": rejected}


def _shape(shape: Shape | None) -> dict[str, Any] | None:
    return shape._asdict() if shape else None
