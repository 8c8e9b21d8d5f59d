"""`mindspec check`: every fault at once, nothing written."""

import argparse

from compiler.cli import add_experiment_arguments, print_json, report_warnings
from compiler.command.selected import compile_selected
from compiler.project import Project

add_arguments = add_experiment_arguments


def run(project: Project, options: argparse.Namespace) -> int:
    """Compile in memory; raises Faults."""
    compiled = compile_selected(project, options.name, options.overrides)
    names = [one.spec.name for one in compiled]
    warnings = [warning for one in compiled for warning in one.warnings]
    if options.json:
        told = [warning.as_dict() for warning in warnings]
        print_json({"ok": True, "experiments": names, "diagnostics": told})
    else:
        report_warnings(warnings)
        print(f"ok: {', '.join(names)}")
    return 0
