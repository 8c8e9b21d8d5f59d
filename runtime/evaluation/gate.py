"""gate: the last stage of a project; fails where `comparison.json` says that a gated experiment got worse.

Runs in the project root: `python -m runtime gate`. Exit codes: 0 passed, 1 failed or refused, 2 wrong usage.
"""

import argparse
import json
import sys
from collections.abc import Sequence

from runtime.evaluation import comparison_table
from runtime.evaluation.compare import JSON_FILE
from runtime.evaluation.comparison import Comparison, from_dict
from runtime.faults import StageFault


def main(arguments: Sequence[str]) -> int:
    """Show the comparison; 1 where a gated experiment is worse than its baseline by more than the tolerance."""
    argparse.ArgumentParser(prog="python -m runtime gate", description="Fail where the comparison shows a regression.").parse_args(
        arguments
    )
    try:
        comparison = read()
    except StageFault as fault:
        print(f"mindspec: gate: {fault}", file=sys.stderr)
        return 1
    comparison_table.show(comparison, comparison_table.console())
    for row in comparison.rows:
        if row.settings.gate and row.failing:
            failing = ", ".join(f"{cell.metric} ({cell.verdict.value})" for cell in row.failing)
            print(f"mindspec: gate: {row.scores.name} against {row.settings.baseline}: {failing}", file=sys.stderr)
    return 0 if comparison.passes else 1


def read() -> Comparison:
    """The comparison that the compare stage wrote. Raises StageFault where it is missing or is none."""
    try:
        comparison = from_dict(json.loads(JSON_FILE.read_bytes()))
        if not comparison.rows:
            raise ValueError("no experiment in it")
        return comparison
    except FileNotFoundError:
        raise StageFault(
            f"{JSON_FILE} does not exist", where=str(JSON_FILE), fix="run `python -m runtime compare` in the project root"
        ) from None
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise StageFault(f"not a comparison: {error}", where=str(JSON_FILE), fix="delete it and run `dvc repro`") from None
