"""`python -m runtime <stage>`: run one stage in the current experiment folder, or `compare` and `gate` in the project root.

Exit codes: 0 done, 1 refused with a message (data, settings, versions, disk), 2 wrong usage, 3 the program failed.
"""

import ctypes
import importlib
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

AT_ROOT = {"compare": "runtime.evaluation.compare", "gate": "runtime.evaluation.gate"}
PR_SET_PDEATHSIG = 1  # linux/prctl.h
UNMAPPED = "failed to map segment"  # the loader's words where there is no memory
# NumPy's own threads: nothing here needs them, they spin for a while in every process, and how many there are may round products otherwise.
ALONE = ("OPENBLAS_NUM_THREADS",)
OFFLINE = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "DO_NOT_TRACK")


def main(arguments: Sequence[str]) -> int:
    """Run the stage that is named; messages go to standard error, never a traceback."""
    for variable in (*OFFLINE, *ALONE):
        os.environ.setdefault(variable, "1")
    if "DVC_STAGE" in os.environ:
        _end_with_dvc()
    try:
        return _dispatch(arguments)
    except (ImportError, MemoryError) as error:
        if isinstance(error, MemoryError) or UNMAPPED in str(error):
            return _say(f"{' '.join(arguments)}: memory ran out while the program was loaded: raise ulimit -v", 1)
        return _say(f"{error.name} is not installed: activate the environment (`source .venv/bin/activate`, made by `make setup`)", 1)


def _dispatch(arguments: Sequence[str]) -> int:
    from runtime.contracts.registry import BY_NAME
    from runtime.ending import ended

    name = arguments[0] if arguments else ""
    if name in AT_ROOT:
        return importlib.import_module(AT_ROOT[name]).main(arguments[1:])
    if len(arguments) != 1 or name not in BY_NAME:
        return _say(f"usage: python -m runtime STAGE, one of: {' '.join((*BY_NAME, *AT_ROOT))}", 2)
    if not Path("config").is_dir():
        return _say(f"{Path.cwd()} is not an experiment: compile one (mindspec compile NAME) and change into experiments/NAME", 1)
    return ended(BY_NAME[name])


def _end_with_dvc() -> None:
    """A stage that DVC started ends when DVC is killed: it would write a result that nobody records, and hold up the next run."""
    parent = os.getppid()
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGTERM)


def _say(message: str, code: int) -> int:
    print(f"mindspec: {message}", file=sys.stderr)
    return code


def _leave(code: int) -> NoReturn:
    """End the process with an exit code.

    After a failure, nothing of it is waited for: a library's thread that got no memory never ends, and would be waited for for ever.
    """
    if code:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):  # a full disk, or nobody who reads: the code says enough
                stream.flush()
        os._exit(code)
    sys.exit(0)


if __name__ == "__main__":
    _leave(main(sys.argv[1:]))
