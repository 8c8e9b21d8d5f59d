"""compare: all selected experiments against their baselines, as `comparison.json` and `comparison.html`.

Runs in the project root: `python -m runtime compare`.
Exit codes: 0 done, 1 refused with a message or regressed (with --gate), 2 wrong usage.
The stage of this name does not fail on a regression, so that its result is kept and can be read; the stage `gate` does.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from runtime import atomic
from runtime.evaluation import comparison_table, results
from runtime.evaluation.comparison import Comparison, as_dict, compare
from runtime.evaluation.comparison_page import render
from runtime.evaluation.results import Selection
from runtime.faults import StageFault

JSON_FILE = Path("comparison.json")
PAGE = Path("comparison.html")


def main(arguments: Sequence[str]) -> int:
    """Compare, show, and write the two files unless told not to."""
    options = _parser().parse_args(arguments)
    try:
        made = compare_selected(_selection(options))
        if options.gate:
            refuse_idle(made)
    except StageFault as fault:
        print(f"mindspec: compare: {fault}", file=sys.stderr)
        return 1
    if not options.no_write:
        atomic.write_bytes(JSON_FILE, encode(made))
        atomic.write_bytes(PAGE, render(made).encode())
    try:
        _show(made, as_json=options.json)
    except BrokenPipeError:
        sys.stderr.close()  # who read it has seen enough; what is left in the buffer has nowhere to go
    except OSError as error:
        print(f"mindspec: compare: {error.strerror}", file=sys.stderr)
        return 1
    return 1 if options.gate and not made.passes else 0


def _show(made: Comparison, *, as_json: bool) -> None:
    """On standard output, to its end: a full disk is found out here and not when the process ends."""
    if as_json:
        sys.stdout.write(encode(made).decode())
    else:
        comparison_table.show(made, comparison_table.console())
    sys.stdout.flush()


def compare_selected(chosen: Selection) -> Comparison:
    """Read everything that a selection needs and compare it. Raises StageFault that names the file which is wrong."""
    selected = [results.experiment(name) for name in chosen.experiments]
    settings = {name: results.settings(name, chosen) for name in chosen.experiments}
    named = {setting.baseline for name, setting in settings.items() if setting.baseline not in (None, name)}
    return compare(selected, {name: results.baseline(name) for name in sorted(filter(None, named))}, settings)


def refuse_idle(made: Comparison) -> None:
    """Raises StageFault where no experiment is compared with another one: such a gate would pass whatever the scores are."""
    if all(row.settings.baseline in (None, row.scores.name) for row in made.rows):
        raise StageFault("the gate has nothing to compare with", fix="name a baseline: --baseline NAME, or `baseline` in params.yaml")


def encode(comparison: Comparison) -> bytes:
    """The bytes of `comparison.json`."""
    return (json.dumps(as_dict(comparison), ensure_ascii=False, allow_nan=False, indent=2) + "\n").encode()


def _selection(options: argparse.Namespace) -> Selection:
    """What the command line names; the rest comes from `params.yaml`."""
    if options.experiments is None:
        chosen = results.selection()
        return Selection(chosen.experiments, options.baseline or chosen.baseline, options.gate or chosen.gate)
    return Selection(tuple(options.experiments), options.baseline, options.gate)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m runtime compare", description="Compare experiments with their baselines.")
    parser.add_argument("--experiments", nargs="+", metavar="NAME", help="instead of the selection of params.yaml")
    parser.add_argument("--baseline", metavar="NAME", help="an experiment or a file of baselines/")
    parser.add_argument("--gate", action="store_true", help="exit with 1 when a metric is worse than its tolerance allows")
    parser.add_argument("--json", action="store_true", help="print the comparison as JSON instead of tables")
    parser.add_argument("--no-write", action="store_true", help=f"leave {JSON_FILE} and {PAGE} as they are")
    return parser
