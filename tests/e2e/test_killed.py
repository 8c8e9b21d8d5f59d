"""Every stage, killed at random moments, is simply run again and ends with the same bytes."""

import hashlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from runtime import atomic, manifest
from runtime.contracts.base import Contract
from runtime.contracts.registry import CONTRACTS
from tests.e2e.conftest import Copy

pytestmark = pytest.mark.slow
KILLS = 3


def digest(path: Path) -> dict[str, str]:
    files = list(atomic.files_below(path)) if path.is_dir() else [path]
    return {file.relative_to(path.parent).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def results(folder: Path, contract: Contract) -> dict[str, str]:
    paths = [contract.output, *contract.plots, *contract.records, *([contract.metrics_file] if contract.metrics else [])]
    return {name: value for path in paths for name, value in digest(folder / path).items()}


def start(copy: Copy, folder: Path, stage: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "runtime", stage]
    return subprocess.Popen(
        command, cwd=folder, env=copy.environment, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda contract: contract.name)
def test_a_killed_stage_is_run_again_to_the_same_bytes(smoke: Copy, contract: Contract, tmp_path: Path) -> None:
    folder = smoke.root / "experiments/smoke"
    before = results(folder, contract)
    shutil.copytree(folder, tmp_path / "experiments/smoke", copy_function=os.link, ignore=shutil.ignore_patterns(".scratch"))
    for name in ("data", "runtime", "specs", "requirements.lock"):
        (tmp_path / name).symlink_to(smoke.root / name)
    folder = tmp_path / "experiments/smoke"
    _forget(folder, contract)
    began = time.monotonic()
    assert start(smoke, folder, contract.name).wait() == 0
    took = time.monotonic() - began
    assert results(folder, contract) == before
    moments = random.Random(contract.name)
    for _ in range(KILLS):
        _forget(folder, contract)
        process = start(smoke, folder, contract.name)
        time.sleep(took * moments.uniform(0.1, 0.98))
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        _whole_or_absent(folder / contract.output)
    assert start(smoke, folder, contract.name).wait() == 0
    assert results(folder, contract) == before
    assert [path.name for path in (folder / ".scratch" / contract.name).iterdir()] == ["lock"]


def _forget(folder: Path, contract: Contract) -> None:
    """As DVC does before it runs a stage; the files are links, so deleting is all that is done to them."""
    for path in (contract.output, contract.metrics_file, *contract.plots, *contract.records):
        atomic.remove(folder / path)


def _whole_or_absent(output: Path) -> None:
    if output.is_dir():
        manifest.verify(output)
