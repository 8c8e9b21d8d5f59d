"""`mindspec check`: every fault at once, nothing written."""

import argparse
import json

from compiler.cli import add_experiment_arguments
from compiler.command.selected import compile_selected
from compiler.project import Project

add_arguments = add_experiment_arguments


def run(project: Project, options: argparse.Namespace) -> int:
    """Compile in memory; raises Faults."""
    compiled = compile_selected(project, options.name, options.overrides)
    names = [one.spec.name for one in compiled]
    print(json.dumps({"ok": True, "experiments": names, "diagnostics": []}) if options.json else f"ok: {', '.join(names)}")
    return 0
