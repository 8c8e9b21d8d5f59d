"""`python -m runtime <stage>`: run one stage in the current experiment folder, or `compare` and `gate` in the project root.

Exit codes: 0 done, 1 refused with a message (data, settings, versions, disk), 2 wrong usage, 3 the program failed.
"""

import errno
import importlib
import json
import os
import sys
import traceback
from collections import deque
from pathlib import Path

TAIL = 20
AT_ROOT = {"compare": "runtime.evaluation.compare", "gate": "runtime.evaluation.gate"}


def main(arguments: list[str]) -> int:
    """Run the stage that is named; messages go to standard error, never a traceback."""
    for variable in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "DO_NOT_TRACK"):
        os.environ.setdefault(variable, "1")
    try:
        from runtime.contracts.registry import BY_NAME
    except ImportError as error:
        print(f"mindspec: {error.name} is not installed: activate the environment (`source .venv/bin/activate`, made by `make setup`)", file=sys.stderr)
        return 1
    if arguments and arguments[0] in AT_ROOT:
        return _run_at_root(*arguments)
    if len(arguments) != 1 or arguments[0] not in BY_NAME:
        print(f"usage: python -m runtime STAGE, one of: {' '.join((*BY_NAME, *AT_ROOT))}", file=sys.stderr)
        return 2
    return _run(arguments[0])


def _run_at_root(name: str, *options: str) -> int:
    try:
        return importlib.import_module(AT_ROOT[name]).main(options)
    except ImportError as error:
        print(f"mindspec: {error.name} is not installed: activate the environment (`source .venv/bin/activate`, made by `make setup`)", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"mindspec: {name}: {error.strerror}: {error.filename or ''}", file=sys.stderr)
        return 1


def _run(name: str) -> int:
    from runtime.contracts.registry import BY_NAME

    contract = BY_NAME[name]
    refusal = Path("logs") / f"{name}.fault.json"
    refusal.unlink(missing_ok=True)
    try:
        from runtime.faults import StageFault
        from runtime.stage import execute
    except ImportError as error:
        print(f"mindspec: {error.name} is not installed: activate the environment (`source .venv/bin/activate`, made by `make setup`)", file=sys.stderr)
        return 1
    try:
        execute(contract)
    except StageFault as fault:
        return _refuse(name, fault, refusal)
    except KeyboardInterrupt:
        print(f"mindspec: {name}: interrupted; nothing half-written is left, run it again", file=sys.stderr)
        return 130
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES):
            fault = StageFault(f"{error.strerror}: {error.filename or ''}".rstrip(": "), fix="make room or mend the rights, then run it again; what was finished before stays")
            return _refuse(name, fault, refusal)
        return _fail(name)
    except Exception:
        return _fail(name)
    return 0


def _refuse(name: str, fault: "Exception", refusal: Path) -> int:
    print(f"mindspec: {name}: {fault}", file=sys.stderr)
    try:
        refusal.parent.mkdir(exist_ok=True)
        refusal.write_text(json.dumps({"kind": "refused", **vars(fault)}, ensure_ascii=False) + "\n", "utf-8")
    except OSError:
        pass  # a full disk must not hide the message
    return 1


def _fail(name: str) -> int:
    """An error nobody foresaw: the whole story goes to the log, the end of it to the terminal."""
    log = Path("logs") / f"{name}.log"
    log.parent.mkdir(exist_ok=True)
    log.with_suffix(".fault.json").write_text(json.dumps({"kind": "failed"}) + "\n", "utf-8")
    with log.open("a", encoding="utf-8") as file:
        traceback.print_exc(file=file)
    with log.open(encoding="utf-8", errors="replace") as file:
        tail = deque(file, TAIL)
    print(f"mindspec: {name} failed; the end of {log}:", file=sys.stderr)
    sys.stderr.writelines(f"  | {line.rstrip()}\n" for line in tail)
    print(f"  run it again: cd {Path.cwd().relative_to(Path.cwd().parent.parent)} && python -m runtime {name}", file=sys.stderr)
    return 3


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
