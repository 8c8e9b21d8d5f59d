"""`mindspec run`: compile, `dvc repro` with live progress, then the metrics and where the report is."""

import argparse
import json
import sys
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from compiler import dvc
from compiler.cli import add_experiment_arguments, print_json, report_warnings, tell
from compiler.command.metrics_table import console, headline_table, read_headline
from compiler.command.selected import compile_selected
from compiler.machine import check_machine
from compiler.pipeline import Compiled, root_files, write
from compiler.project import Project
from compiler.wording import in_language, said

TAIL = 20
add_arguments = add_experiment_arguments


def run(project: Project, options: argparse.Namespace) -> int:
    """Exit code 3 where a stage failed, 1 where a stage refused its data or settings. Raises Faults before any work."""
    compiled = compile_selected(project, options.name, options.overrides)
    for one in compiled:
        check_machine(project, options.name or one.spec.name, options.overrides, one.spec, one.graph.environment)
    report_warnings([warning for one in compiled for warning in one.warnings])
    folder = project.root / "experiments" / compiled[0].spec.name if options.name else project.root
    with dvc.alone(project.root):
        write(project, compiled, root_files(project, compiled) if options.name is None else None)
        outcome = dvc.repro(folder)
    if outcome.code:
        return explain_failure(outcome)
    _show(project, compiled, outcome, as_json=options.json)
    return 0


def explain_failure(outcome: dvc.Outcome) -> int:
    """Exit code of a failed run: 1 for a refusal or a failed gate, 3 otherwise, with a word on a stage that died silently."""
    folder, stage = outcome.last_stage
    if outcome.code < 0 or outcome.stages.get(outcome.last) != "ran":  # not a stage ended, but DVC
        tell(said(f"dvc ended with code {outcome.code}", f"dvc 以代码 {outcome.code} 结束"))
        return 3
    kind = _kind(folder / "logs" / f"{stage}.fault.json")
    log = folder / "logs" / f"{stage}.log"
    if kind is None and stage != "gate" and log.exists():
        _tail(log, folder.name, stage)
    return 1 if kind == "refused" or stage == "gate" else 3


def _kind(fault: Path) -> str | None:
    """How a stage said it ended; None where it said nothing. A file that a full disk cut short was a refusal for that reason."""
    try:
        return json.loads(fault.read_text("utf-8"))["kind"]
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError):
        return "refused"


def _tail(log: Path, name: str, stage: str) -> None:
    with log.open(encoding="utf-8", errors="replace") as file:
        tail = deque(file, TAIL)
    where = f"experiments/{name}/logs/{log.name}"
    tell(
        said(f"{stage} ended without a word (killed?); the end of {where}:", f"{stage} 没有任何说明就结束了（被终止？）；{where} 的末尾：")
    )
    sys.stderr.writelines(f"  | {line.rstrip()}\n" for line in tail)
    line = f"cd experiments/{name} && python -m runtime {stage}"
    print(in_language(said(f"  run it again: {line}", f"  重新运行：{line}")), file=sys.stderr)


def _show(project: Project, compiled: Sequence[Compiled], outcome: dvc.Outcome, *, as_json: bool) -> None:
    names = [one.spec.name for one in compiled]
    headlines = {name: read_headline(project.root / "experiments" / name) for name in names}
    reports = {name: f"experiments/{name}/report.html" for name in names}
    if as_json:
        content: dict[str, Any] = {"ok": True, "stages": outcome.stages, "metrics": headlines, "reports": reports}
        print_json(content, indent=2)
        return
    nothing = said("nothing to do, everything is up to date", "没有要做的事，全部都是最新的")
    summary = outcome.summary() if outcome.stages else in_language(nothing)
    print(f"{in_language(said('stages', '阶段'))}: {summary}", file=sys.stderr)
    console().print(headline_table(headlines))
    sys.stdout.writelines(f"{in_language(said('report', '报告'))}: {path}\n" for path in reports.values())
