"""`mindspec compare`: metrics of experiments side by side, with tolerances; the gate as exit code."""

import argparse
import re
import subprocess
import sys
from collections.abc import Iterator

from compiler import dvc
from compiler.diagnostics import Diagnostic, Faults
from compiler.project import Project
from compiler.suggest import closest, did_you_mean
from compiler.wording import in_language, said

NAME = re.compile(r"[a-z0-9][a-z0-9-]*")
RESULTS = ("record.json", "metrics/evaluate.json")


def add_arguments(sub: argparse.ArgumentParser) -> None:
    """NAMEs, the baseline, the gate."""
    names = said("experiments; without one, those that params.yaml selects", "实验名；省略时为 params.yaml 所选的实验")
    sub.add_argument("names", nargs="*", metavar="NAME", help=in_language(names))
    baseline = said("an experiment, or a file of baselines/", "一个实验，或 baselines/ 中的一个文件")
    sub.add_argument("--baseline", metavar="NAME", help=in_language(baseline))
    gate = said("exit with code 1 when a metric is worse than its tolerance allows", "有指标的退步超出容差时，以退出码 1 结束")
    sub.add_argument("--gate", action="store_true", help=in_language(gate))


def run(project: Project, options: argparse.Namespace) -> int:
    """Runs the program of the `compare` stage without writing its results. Raises Faults for names without results."""
    if faults := [*_without_results(project, options.names), *_no_baseline(project, options.baseline)]:
        raise Faults(faults)
    command = [sys.executable, "-m", "runtime", "compare", "--no-write"]
    command += ["--experiments", *options.names] if options.names else []
    command += ["--baseline", options.baseline] if options.baseline else []
    command += ["--json"] if options.json else []
    command += ["--gate"] if options.gate else []
    return subprocess.run(command, cwd=project.root, env=dvc.environment(), check=False).returncode


def _without_results(project: Project, names: list[str]) -> Iterator[Diagnostic]:
    known = _with_results(project)
    for name in dict.fromkeys(names):
        if name in known:
            continue
        meant = closest(name, known)
        run_it = said(f"run the experiment first: mindspec run {name}", f"请先运行实验：mindspec run {name}")
        fix = did_you_mean(meant) if meant else run_it if NAME.fullmatch(name) else said("name experiments", "请写实验名")
        yield Diagnostic("MS0031", said(f"no results of an experiment {name}", f"没有实验 {name} 的结果"), fix=fix, suggestion=meant or "")


def _with_results(project: Project) -> list[str]:
    folders = (project.root / "experiments").glob("*")
    return [folder.name for folder in folders if all((folder / result).is_file() for result in RESULTS)]


def _no_baseline(project: Project, name: str | None) -> Iterator[Diagnostic]:
    known = [*_with_results(project), *(path.stem for path in (project.root / "baselines").glob("*.json"))]
    if name is not None and name not in known:
        meant = closest(name, known)
        make = said("make one with `mindspec baseline set`, or name another", "请用 `mindspec baseline set` 建立一个，或换一个名称")
        message = said(
            f"no experiment with results and no file of baselines/ is named {name}",
            f"没有名为 {name} 且已有结果的实验，baselines/ 中也没有该文件",
        )
        yield Diagnostic("MS0031", message, fix=did_you_mean(meant) if meant else make, suggestion=meant or "")
