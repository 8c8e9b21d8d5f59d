"""`mindspec timings`: what the stages took on this machine the last time they ran."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from rich.table import Table

from compiler.command.metrics_table import console
from compiler.diagnostics import Diagnostic, Faults
from compiler.project import Project
from runtime.contracts.registry import CONTRACTS

MEASURED = ("seconds", "cpu_seconds", "peak_bytes")


def add_arguments(sub: argparse.ArgumentParser) -> None:
    """NAME of a compiled experiment."""
    sub.add_argument("name")


def run(project: Project, options: argparse.Namespace) -> int:
    """Times vary, so they are shown here and kept out of every result."""
    folder = project.root / "experiments" / options.name / "timings"
    if not folder.parent.is_dir():
        raise Faults(
            [Diagnostic("MS0001", f"experiments/{options.name} does not exist", fix=f"compile it first: mindspec compile {options.name}")]
        )
    files = {contract.name: folder / f"{contract.name}.json" for contract in CONTRACTS}
    measured = {name: one for name, path in files.items() if (one := _read(path)) is not None}
    if options.json:
        print(json.dumps(measured, indent=2))
    elif measured:
        console().print(_table(measured))
    else:
        print(f"mindspec: no stage of {options.name} has run here", file=sys.stderr)
    return 0


def _read(path: Path) -> dict[str, float] | None:
    """A measurement; None where there is none, or none that can be read: it is made again by the next run."""
    try:
        content: Any = json.loads(path.read_bytes())
        return {**content, **{key: float(content[key]) for key in MEASURED}}
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _table(measured: dict[str, dict[str, float]]) -> Table:
    table = Table("stage", "wall s", "CPU s", "peak MB")
    for name, one in measured.items():
        table.add_row(name, f"{one['seconds']:.1f}", f"{one['cpu_seconds']:.1f}", f"{one['peak_bytes'] / 1e6:.0f}")
    total = sum(one["seconds"] for one in measured.values())
    table.add_row("all", f"{total:.1f}", f"{sum(one['cpu_seconds'] for one in measured.values()):.1f}", "")
    return table
