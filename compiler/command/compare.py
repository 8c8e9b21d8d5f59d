"""`mindspec compare`: metrics of experiments side by side, with tolerances; the gate as exit code."""

import argparse
import subprocess
import sys

from compiler import dvc
from compiler.project import Project


def add_arguments(sub: argparse.ArgumentParser) -> None:
    """NAMEs, the baseline, the gate."""
    sub.add_argument("names", nargs="*", metavar="NAME", help="experiments; without one, those that params.yaml selects")
    sub.add_argument("--baseline", metavar="NAME", help="an experiment, or a file of baselines/")
    sub.add_argument("--gate", action="store_true", help="exit with code 1 when a metric is worse than its tolerance allows")


def run(project: Project, options: argparse.Namespace) -> int:
    """Runs the program of the `compare` stage without writing its results."""
    command = [sys.executable, "-m", "runtime", "compare", "--no-write"]
    command += ["--experiments", *options.names] if options.names else []
    command += ["--baseline", options.baseline] if options.baseline else []
    command += ["--json"] if options.json else []
    command += ["--gate"] if options.gate else []
    return subprocess.run(command, cwd=project.root, env=dvc.environment(), check=False).returncode
