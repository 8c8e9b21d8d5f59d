"""The command line: `mindspec COMMAND [NAME] [overrides]`.

Results go to standard output, messages to standard error. Exit codes: 0 ok, 1 problems found in a spec or a failed gate,
2 wrong usage, 3 a stage failed.
"""

import argparse
import importlib
import io
import json
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from compiler.diagnostics import Diagnostic, Faults, render
from compiler.project import find_project

COMMANDS = {
    "check": "validate experiments and report every fault at once",
    "compile": "write the DVC stages and the concrete configuration files",
    "run": "compile, then `dvc repro` with live progress",
    "compare": "metrics of experiments side by side, with tolerances",
    "baseline": "keep an experiment's record as a baseline",
    "timings": "measured time and memory of an experiment's stages",
    "schema": "write the JSON Schemas of the spec",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code. A user's mistake never ends in a traceback."""
    _never_fail_to_print()
    top = parser()
    options = top.parse_args(arguments)
    if "=" in (getattr(options, "name", None) or ""):
        top.error(f"an override needs the experiment before it: mindspec {options.command} NAME {options.name}")
    command = importlib.import_module(f"compiler.command.{options.command}")
    try:
        return command.run(find_project(Path.cwd()), options)
    except Faults as faults:
        report_faults(faults, as_json=options.json)
        return 1
    except KeyboardInterrupt:
        print("mindspec: interrupted; what was finished stays, run it again", file=sys.stderr)
        return 130
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    except OSError as error:
        print(f"mindspec: {error.strerror or error}: {error.filename or ''}".rstrip(": "), file=sys.stderr)
        return 1
    except Exception:
        return _unforeseen()


def _never_fail_to_print() -> None:
    """Text that the encoding of the terminal lacks (Chinese in a Latin-1 locale) is shown as escapes."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _unforeseen() -> int:
    """A fault of ours: the traceback goes to a file, the user gets its name."""
    story = traceback.format_exc()
    log = Path(".mindspec/error.log")
    try:
        log = find_project(Path.cwd()).root / log
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text(story, "utf-8")
        where = f"the whole story is in {log}"
    except (OSError, Faults):
        where = "it could not be written down"
    print(f"mindspec: a fault of mindspec itself: {story.splitlines()[-1]}; {where}", file=sys.stderr)
    return 3


def report_faults(faults: Faults, *, as_json: bool) -> None:
    """All faults: as data on standard output, or as text on standard error."""
    if as_json:
        print(json.dumps({"ok": False, "diagnostics": [one.as_dict() for one in faults.diagnostics]}, ensure_ascii=False, indent=2))
    else:
        print(render(faults.diagnostics, colour=sys.stderr.isatty()), file=sys.stderr)


def report_warnings(warnings: Sequence[Diagnostic]) -> None:
    """What does not keep an experiment from being compiled, on standard error."""
    if warnings:
        print(render(warnings, colour=sys.stderr.isatty()), file=sys.stderr)


def parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    top = argparse.ArgumentParser(prog="mindspec", description="One spec, compiled into DVC stages and mindformers configurations.")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, summary in COMMANDS.items():
        sub = commands.add_parser(name, help=summary, description=summary[0].upper() + summary[1:] + ".")
        sub.add_argument("--json", action="store_true", help="results as JSON on standard output")
        importlib.import_module(f"compiler.command.{name}").add_arguments(sub)
    return top


def add_experiment_arguments(sub: argparse.ArgumentParser) -> None:
    """NAME and Hydra overrides; without a name, the selection of `params.yaml`."""
    sub.add_argument("name", nargs="?", help="experiment; without one, those that params.yaml selects")
    sub.add_argument("overrides", nargs="*", metavar="key=value", help="Hydra overrides, such as finetune.lora.rank=16")


if __name__ == "__main__":
    sys.exit(main())
