"""What the benchmarks of a session found: printed as tables at its end, and kept for `results.py`."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from results import tables

FOUND = pytest.StashKey[dict[str, Any]]()
KEPT = Path(__file__).parents[2] / ".mindspec/bench-data.json"


def pytest_configure(config: pytest.Config) -> None:
    """Begin with nothing."""
    config.stash[FOUND] = {}


@pytest.fixture(scope="session")
def found(pytestconfig: pytest.Config) -> dict[str, Any]:
    """Where a benchmark puts what it found, by the name of its table."""
    return pytestconfig.stash[FOUND]


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder that `corpus.py` made."""
    folder = os.environ.get("MINDSPEC_CORPUS")
    if not folder or not (Path(folder) / "mixed/made.json").exists():
        pytest.skip("MINDSPEC_CORPUS names no folder that benchmarks/data/corpus.py has made")
    return Path(folder)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """All tables."""
    found = config.stash[FOUND]
    if not found:
        return
    KEPT.parent.mkdir(exist_ok=True)
    KEPT.write_text(json.dumps(found, ensure_ascii=False, indent=1), "utf-8")
    terminalreporter.write_line("\n" + tables(found))
