"""Tasks in processes and on Ray: results in order, faults as they were raised, workers that die."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from runtime import engine
from runtime.faults import EnvironmentFault, StageFault
from runtime.placement import Placement

ROOT = Path(__file__).parents[3]
RAY = pytest.param(Placement(workers=2, engine="ray"), marks=pytest.mark.slow)
ENGINES = (Placement(workers=1), Placement(workers=2), Placement(workers=4), RAY)


def doubled(task: int) -> tuple[int, int]:
    """The first tasks take longest."""
    time.sleep(max(0.0, 0.2 - task / 20))
    return task * 2, os.getpid()


def refused(task: int) -> int:
    if task >= 2:
        raise StageFault(f"task {task}", where="there", reason="why", fix="how")
    return task


def killed(task: int) -> int:
    if task == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return task


@pytest.mark.parametrize("placement", ENGINES, ids=lambda one: f"{one.engine}-{one.workers}")
def test_results_come_in_the_order_of_the_tasks(placement: Placement) -> None:
    made = list(engine.each(doubled, range(12), placement))
    assert [result for result, _ in made] == list(range(0, 24, 2))
    assert (os.getpid() in {process for _, process in made}) == (placement.workers == 1)


@pytest.mark.parametrize("placement", ENGINES, ids=lambda one: f"{one.engine}-{one.workers}")
def test_the_fault_of_the_first_task_that_has_one(placement: Placement) -> None:
    done = list[int]()
    with pytest.raises(StageFault) as caught:
        done.extend(engine.each(refused, range(8), placement))
    assert caught.value.as_dict() == {"message": "task 2", "where": "there", "reason": "why", "fix": "how"}


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_a_pool_ends_after_every_fault() -> None:
    """Once in some twenty times, Python 3.11.2 waits for ever on a pool whose futures were cancelled one by one."""
    for _ in range(60):
        with pytest.raises(StageFault, match="task 2"):
            list(engine.each(refused, range(8), Placement(workers=2)))


def test_a_worker_that_is_killed_is_told() -> None:
    with pytest.raises(StageFault, match="a worker process ended before its work did"):
        list(engine.each(killed, range(8), Placement(workers=2)))


def test_one_task_starts_no_process() -> None:
    assert [process for _, process in engine.each(doubled, [1], Placement(workers=4))] == [os.getpid()]


@pytest.mark.parametrize("address", ["127.0.0.1:9", "ray://127.0.0.1:9", "127.0.0.1:99999", "nonsense", "auto"])
def test_a_cluster_that_does_not_answer_is_told_at_once(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    def init(**_: object) -> None:
        raise ConnectionError("no cluster") if address == "auto" else ValueError("Invalid address format")

    monkeypatch.setattr(engine, "_ray", lambda: SimpleNamespace(is_initialized=lambda: False, init=init))
    begun = time.monotonic()
    with pytest.raises(EnvironmentFault, match=f"no Ray cluster lets this stage in at {re.escape(address)}") as fault:
        list(engine.each(str, [1], Placement(engine="ray", ray_address=address)))
    assert time.monotonic() - begun < engine.ANSWER
    assert "launch.ray_address" in fault.value.fix and "RAY_AUTH_MODE" in fault.value.fix


@pytest.mark.slow
def test_without_an_address_a_cluster_that_runs_elsewhere_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:9")
    assert list(engine.each(abs, [-1, -2], Placement(workers=2, engine="ray"))) == [1, 2]


@pytest.mark.slow
def test_mindspore_can_be_imported_after_ray() -> None:
    script = (
        "from runtime import engine; from runtime.placement import Placement\n"
        "assert list(engine.each(abs, [-1, -2], Placement(workers=2, engine='ray'))) == [1, 2]\n"
        "import mindspore.train.serialization\n"
    )
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PROTOCOL_BUFFERS")}
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
