"""The Hydra application: every point of a multirun is compiled to its own experiment, run with DVC, and shown side by side."""

import os
import re
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import hydra
from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig
from rich.table import Table

from compiler import dvc
from compiler.cli import INTERRUPTED, report_faults, tell
from compiler.command.metrics_table import console, headline_table, read_headline
from compiler.command.run import explain_failure
from compiler.diagnostics import Diagnostic, Faults
from compiler.machine import check_machine
from compiler.parse import load, overrides
from compiler.parse.groups import Groups
from compiler.pipeline import compile_experiment, write
from compiler.point import point_name
from compiler.project import Project, find_project
from compiler.wording import in_language, said

MULTIRUN = ("-m", "--multirun")
PLAIN_NAME = re.compile(r"[A-Za-z0-9_-]+")


@dataclass
class Point:
    """One point of the sweep. `code` is its exit code; `outcome` is what DVC did, None where it was not started."""

    name: str
    overrides: tuple[str, ...]
    code: int
    outcome: dvc.Outcome | None = None


def main() -> int:
    """Run the Hydra application on `sys.argv` and return the exit code: the worst of its points."""
    try:
        project = find_project(Path.cwd())
        sys.argv[1:] = checked(project, sys.argv[1:])
    except Faults as faults:
        report_faults(faults, as_json=False)
        return 1
    points: list[Point] = []
    os.environ.setdefault("HYDRA_FULL_ERROR", "0")
    try:
        hydra.main(version_base="1.3", config_path=str(project.root / "specs"), config_name="mindspec")(_task(project, points))()
    except KeyboardInterrupt:
        tell(INTERRUPTED)
        return 130
    if len(points) > 1 or any(point.code for point in points):
        _show(project, points)
    return max((point.code for point in points), default=0)


def checked(project: Project, arguments: Sequence[str]) -> list[str]:
    """The arguments for Hydra, after the experiments and the form of every override were checked in the terms of a spec.

    A plain override is forced, as in the other commands: the schema says which fields there are, not the files. Raises Faults.
    """
    hydras = any(one.startswith("-") and one not in MULTIRUN for one in arguments)  # an option of Hydra may have a word of its own
    ours = [one for one in arguments if one.startswith("~") or "=" in one or not (hydras or one.startswith("-"))]
    ours = [one for one in ours if not one.startswith(("-", "experiment=", "hydra.", "hydra/"))]
    given, faults = overrides.read(ours, Groups(project.root / "specs"), sweep=True)
    for name in _experiments(arguments):
        faults += _first_point(project, name, given)
    if not any(
        (one.startswith("experiment=") and one != "experiment=") or (one.startswith("-") and one not in MULTIRUN) for one in arguments
    ):
        fix = said("add experiment=NAME, or several: experiment=NAME,NAME", "请加上 experiment=NAME，或多个：experiment=NAME,NAME")
        faults.append(Diagnostic("MS0001", said("no experiment is given", "没有给出实验"), fix=fix))
    if faults:
        raise Faults(faults)
    lines = {override.text: override.line for override in given}
    return [lines.get(one, one) for one in arguments]


def _first_point(project: Project, name: str, given: Sequence[overrides.GivenOverride]) -> list[Diagnostic]:
    """What keeps the first point from being composed, with the overrides counted as they were given."""
    try:
        load(project.root, name, [_first_value(override) for override in given])
    except Faults as found:
        numbers = {f"<override {index}>": f"<override {override.number}>" for index, override in enumerate(given, 1)}
        places = ((fault, fault.place) for fault in found.diagnostics)
        return [replace(fault, place=place and replace(place, file=numbers.get(place.file, place.file))) for fault, place in places]
    return []


def _first_value(override: overrides.GivenOverride) -> str:
    if not override.parsed.is_sweep_override() or override.raw.startswith("glob("):
        return override.text
    return f"{override.text.partition('=')[0]}={next(iter(override.parsed.sweep_string_iterator()))}"


def _experiments(arguments: Sequence[str]) -> list[str]:
    chosen = [one.partition("=")[2].split(",") for one in arguments if one.startswith("experiment=")]
    names = [name.strip() for one in chosen for name in one]
    return [name for name in dict.fromkeys(names) if PLAIN_NAME.fullmatch(name)]  # the rest is Hydra's to read: glob(*), choice(a,b)


def _task(project: Project, points: list[Point]):  # type: ignore[no-untyped-def]  # Hydra inspects the bare function
    def task(config: DictConfig) -> None:
        given = [str(one).removeprefix("++") for one in HydraConfig.get().overrides.task]
        experiment = str(HydraConfig.get().runtime.choices["experiment"])
        own = tuple(one for one in given if not one.startswith("experiment="))
        points.append(run_point(project, experiment, own))

    return task


def run_point(project: Project, experiment: str, given: Sequence[str]) -> Point:
    """Compile and run one point. A fault ends this point, never the sweep."""
    name = point_name(experiment, given) if given else experiment
    print(f"\n{name}: {' '.join(given)}", file=sys.stderr, flush=True)
    point = Point(name, tuple(given), 0)
    try:
        compiled = compile_experiment(project, experiment, given, rename=name)
        check_machine(project, experiment, given, compiled.spec, compiled.graph.environment)
        with dvc.alone(project.root):
            write(project, [compiled])
            point.outcome = dvc.repro(project.root / "experiments" / name)
        point.code = explain_failure(point.outcome) if point.outcome.code else 0
    except Faults as faults:
        report_faults(faults, as_json=False)
        point.code = 1
    except Exception:
        point.code = 3
        log = project.root / "experiments" / name / "logs" / "sweep.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text(traceback.format_exc(), "utf-8")
        where = log.relative_to(project.root)
        tell(said(f"{name} failed; the whole story is in {where}", f"{name} 失败；完整记录见 {where}"))
    return point


def _show(project: Project, points: Sequence[Point]) -> None:
    out = console()
    heads = (
        said("point", "扫描点"), said("overrides", "覆盖项"), said("ran", "运行"), said("restored", "恢复"),
        said("unchanged", "未变"), said("result", "结果"),
    )  # fmt: skip
    results = {0: said("ok", "成功"), 1: said("refused", "拒绝"), 3: said("failed", "失败")}
    table = Table(*map(in_language, heads))
    for point in points:
        counts = [str(point.outcome.counts[verdict]) for verdict in dvc.SAID] if point.outcome else ["-"] * 3
        table.add_row(point.name, " ".join(point.overrides), *counts, in_language(results.get(point.code, results[3])))
    out.print(table)
    headlines = {point.name: read_headline(project.root / "experiments" / point.name) for point in points if not point.code}
    if headlines:
        out.print(headline_table(headlines))
