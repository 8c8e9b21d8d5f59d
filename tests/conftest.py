"""What holds for every test, and a check that each leaves the process as it found it.

Tests share a process, and which of them do is chance: what one leaves behind is a failure of another, on some other day.
"""

import logging
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from runtime.__main__ import OFFLINE

os.environ["LC_ALL"] = "C.UTF-8"  # messages in English, whatever the locale of the machine that runs the tests
# Libraries and programs set these for the whole process when they are first used, and which test is the first to do so is chance.
# Of protobuf, MindSpore sets this one: the other implementation, once loaded, keeps MindSpore out.
os.environ.setdefault("PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION", "python")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ.setdefault("HYDRA_FULL_ERROR", "0")
for variable in OFFLINE:
    os.environ.setdefault(variable, "1")

# The same examples in every run, however slow the machine: `--hypothesis-profile default` draws others.
settings.register_profile("same", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("same")

# What MindSpore, scikit-learn and Ray set when they are imported: they need it from then on, and no result depends on it.
BY_LIBRARIES = ("CRC32C_", "HCCL_", "KMP_", "LD_LIBRARY_PATH", "PYTHONBREAKPOINT", "RAY_")


@pytest.fixture(autouse=True)
def _nothing_is_left_behind() -> Iterator[None]:
    """Fails the test that changed what others see. It is set up before all other fixtures, so theirs are undone by then."""
    before = _process()
    yield
    after = _process()
    # A variable that was not there may be one that a library sets when it is imported.
    after["variables"] = {name: after["variables"].get(name) for name in before["variables"]}
    changed = {name: (before[name], after[name]) for name in before if before[name] != after[name]}
    assert not changed, f"left behind in the process: {changed}"


def _process() -> dict[str, Any]:
    """What holds for the whole process, as far as Python can tell. Filters of warnings are put back by pytest."""
    mask = os.umask(0)
    os.umask(mask)
    return {
        "working folder": Path.cwd(),
        "umask": mask,
        "variables": {name: value for name, value in os.environ.items() if not name.startswith((*BY_LIBRARIES, "PYTEST_"))},
        "import path": [folder for folder in sys.path if "site-packages" not in folder],  # some libraries add folders of their own
        "signals": {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGVTALRM)},  # Ray has SIGTERM
        "timer": signal.getitimer(signal.ITIMER_VIRTUAL),
        "log level": (logging.root.level, logging.root.manager.disable),
        "log handlers": [one for one in logging.root.handlers if not type(one).__module__.startswith("_pytest")],
    }
