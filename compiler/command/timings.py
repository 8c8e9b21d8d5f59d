"""`mindspec timings`: what the stages took on this machine the last time they ran."""

import argparse
import json
import os
import re
from pathlib import Path
from typing import Any

from rich.table import Table

from compiler.cli import print_json, tell
from compiler.command.metrics_table import console
from compiler.diagnostics import Diagnostic, Faults
from compiler.project import Project
from compiler.wording import in_language, said
from runtime.contracts.registry import EVERY

POINT_NAME = re.compile(r"[a-z0-9][a-z0-9-]*")
MEASURED = ("seconds", "cpu_seconds", "peak_bytes")


def add_arguments(sub: argparse.ArgumentParser) -> None:
    """NAME of a compiled experiment."""
    sub.add_argument("name", metavar="NAME", help=in_language(said("a compiled experiment", "已编译的实验名")))


def run(project: Project, options: argparse.Namespace) -> int:
    """Times vary, so they are shown here and kept out of every result."""
    folder = project.root / "experiments" / options.name / "timings"
    if not POINT_NAME.fullmatch(options.name) or not os.path.isdir(folder.parent):
        message = said(f"experiments/{options.name} does not exist", f"experiments/{options.name} 不存在")
        line = f"mindspec compile {options.name}"
        raise Faults([Diagnostic("MS0001", message, fix=said(f"compile it first: {line}", f"请先编译：{line}"))])
    files = {contract.name: folder / f"{contract.name}.json" for contract in EVERY}
    measured = {name: one for name, path in files.items() if (one := _read(path)) is not None}
    if options.json:
        print_json(measured, indent=2)
    elif measured:
        console().print(_table(measured))
    else:
        tell(said(f"no stage of {options.name} has run here", f"{options.name} 还没有任何阶段在此运行过"))
    return 0


def _read(path: Path) -> dict[str, float] | None:
    """A measurement; None where there is none, or none that can be read: it is made again by the next run."""
    try:
        content: Any = json.loads(path.read_bytes())
        return {**content, **{key: float(content[key]) for key in MEASURED}}
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _table(measured: dict[str, dict[str, float]]) -> Table:
    heads = said("stage", "阶段"), said("wall s", "耗时 s"), said("CPU s", "CPU s"), said("peak MB", "峰值 MB")
    table = Table(*map(in_language, heads))
    for name, one in measured.items():
        table.add_row(name, f"{one['seconds']:.1f}", f"{one['cpu_seconds']:.1f}", f"{one['peak_bytes'] / 1e6:.0f}")
    total = sum(one["seconds"] for one in measured.values())
    table.add_row(in_language(said("all", "合计")), f"{total:.1f}", f"{sum(one['cpu_seconds'] for one in measured.values()):.1f}", "")
    return table
