"""How long compiling takes: a hundred experiments against Hydra composing them alone, and one check from a cold start."""

import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir
from pytest_benchmark.fixture import BenchmarkFixture

from compiler.pipeline import compile_experiment
from compiler.project import Project

ROOT = Path(__file__).parents[1]
COUNT = 100
MOST_TIMES_HYDRA = 2.0
MOST_COLD_SECONDS = 1.0


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """This project with a hundred experiments of their own rank, rate and seed."""
    root = tmp_path_factory.mktemp("project")
    shutil.copytree(ROOT / "specs", root / "specs")
    for name in ("requirements.lock", ".python-version", "params.yaml", "runtime", "data"):
        (root / name).symlink_to(ROOT / name)
    for number in range(COUNT):
        text = f"# @package _global_\nname: point-{number}\nseed: {number}\nfinetune: {{lora: {{rank: {number % 7 + 2}}}}}\n"
        (root / f"specs/experiment/point-{number}.yaml").write_text(text, "utf-8")
    return Project(root)


def composed(project: Project, numbers: range) -> None:
    """What Hydra alone does, in one process."""
    with initialize_config_dir(str(project.root / "specs"), version_base="1.3"):
        for number in numbers:
            compose("mindspec", overrides=[f"experiment=point-{number}"])


def compiled(project: Project, numbers: range) -> None:
    """All files of all experiments, in memory."""
    for number in numbers:
        compile_experiment(project, f"point-{number}")


@pytest.mark.benchmark(group=f"{COUNT} experiments", min_rounds=1)
@pytest.mark.parametrize("work", [composed, compiled])
def test_a_hundred_experiments(work: Callable[[Project, range], None], project: Project, benchmark: BenchmarkFixture) -> None:
    benchmark.pedantic(work, (project, range(COUNT)), warmup_rounds=0, rounds=1)


def test_times_of_hydra(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """Both in turns of ten, so that whatever else the machine does meets both; CPU time of this process."""
    spent = {composed: 0.0, compiled: 0.0}
    for start in range(0, COUNT, 10):
        for work in spent:
            before = time.process_time()
            work(project, range(start, start + 10))
            spent[work] += time.process_time() - before
    ratio = spent[compiled] / spent[composed]
    with capsys.disabled():
        print(
            f"\n{COUNT} experiments: Hydra alone {spent[composed]:.2f} s, compiled {spent[compiled]:.2f} s of CPU time, {ratio:.2f} times"
        )
    assert ratio <= MOST_TIMES_HYDRA


def cold_starts(rounds: int) -> Iterator[float]:
    """CPU seconds of `mindspec check demo`, a process each time: what it takes on an idle core."""
    for _ in range(rounds):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-m", "compiler", "check", "demo"], cwd=ROOT, check=True, capture_output=True, env={**os.environ})
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        yield (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)


def test_a_check_from_a_cold_start(capsys: pytest.CaptureFixture[str]) -> None:
    seconds = sorted(cold_starts(7))
    with capsys.disabled():
        print(f"\nmindspec check demo: {seconds[0]:.2f} s of CPU time at best, {seconds[len(seconds) // 2]:.2f} s at the median of 7")
    assert seconds[0] < MOST_COLD_SECONDS
