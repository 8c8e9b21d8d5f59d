"""`mindspec compile`: write what differs. Without a name also the root `dvc.yaml`."""

import argparse
import sys

from compiler.cli import add_experiment_arguments, print_json, report_warnings
from compiler.command.selected import compile_selected
from compiler.pipeline import root_files, write
from compiler.project import Project
from compiler.wording import in_language, said
from runtime.contracts.counting import counted

add_arguments = add_experiment_arguments


def run(project: Project, options: argparse.Namespace) -> int:
    """Prints the paths that changed, one a line. Raises Faults, and then nothing is written."""
    compiled = compile_selected(project, options.name, options.overrides)
    changed = write(project, compiled, root_files(project, compiled) if options.name is None else None)
    report_warnings([warning for one in compiled for warning in one.warnings])
    if options.json:
        print_json({"ok": True, "changed": list(changed)})
    else:
        sys.stdout.writelines(f"{path}\n" for path in changed)
        names, count = ", ".join(one.spec.name for one in compiled), len(changed)
        told = said(
            f"{names}: {counted(count, 'file') if count else 'no files'} changed",
            f"{names}：{f'更新了 {count} 个文件' if count else '没有文件需要更新'}",
        )
        print(in_language(told), file=sys.stderr)
    return 0
