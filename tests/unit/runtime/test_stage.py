"""The harness: nothing half-written under a final name, nothing read that is not what was written."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from runtime import manifest, placement, stage
from runtime.contracts.base import Contract, parameters
from runtime.faults import EnvironmentFault, InputFault, StageFault

PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"


@parameters
class Limits:
    """Test parameters."""

    rank: int
    alpha: float


CONTRACT = Contract(
    name="double",
    program="double_program",
    parameters=Limits,
    output="results/double",
    plots=("plots/double.csv",),
    tracked={"lora.rank": "rank"},
)


@pytest.fixture
def experiment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "experiments" / "demo"
    (folder / "config").mkdir(parents=True)
    (folder / "config/environment.yaml").write_text(f'python: "{PYTHON}"\n')
    (folder / "config/double.yaml").write_text("rank: 4\nalpha: 16.0\n")
    (folder / "params.json").write_text('{"lora": {"rank": 4}}')
    monkeypatch.chdir(folder)
    return folder


def install(monkeypatch: pytest.MonkeyPatch, run: Any) -> None:
    monkeypatch.setitem(sys.modules, "double_program", SimpleNamespace(run=run))


def write_result(one: stage.Stage[Limits]) -> None:
    (one.out / "a.txt").write_text(str(one.parameters.rank))
    one.counts = {"rows": 2}
    one.metrics({"loss": 1.5, "bad": float("nan"), "deep": {"worse": float("inf")}})
    one.plot("plots/double.csv", ["step", "loss"], [[1, 0.5]])


def test_a_finished_stage_leaves_results_with_a_manifest_and_no_scratch(experiment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, write_result)
    stage.execute(CONTRACT)
    made = manifest.verify(Path("results/double"))
    assert made.counts == {"rows": 2}
    assert made.file("a.txt").bytes == 1
    assert Path("plots/double.csv").read_bytes() == b"step,loss\n1,0.5\n"
    assert [path.name for path in Path(".scratch/double").iterdir()] == ["lock"]


def test_a_number_that_is_not_finite_is_null_with_a_reason(experiment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, write_result)
    stage.execute(CONTRACT)
    expected = {"loss": 1.5, "bad": None, "bad_reason": "not a number", "deep": {"worse": None, "worse_reason": "overflow"}}
    assert json.loads(Path("metrics/double.json").read_text(), parse_constant=pytest.fail) == expected


def test_a_stage_that_fails_leaves_no_result(experiment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(one: stage.Stage[Limits]) -> None:
        write_result(one)
        raise StageFault("no text")

    install(monkeypatch, fail)
    with pytest.raises(StageFault):
        stage.execute(CONTRACT)
    assert not Path("results").exists()
    assert not Path("metrics").exists()


def test_an_old_result_is_replaced_as_a_whole(experiment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("results/double").mkdir(parents=True)
    Path("results/double/stale.txt").write_text("old")
    install(monkeypatch, write_result)
    stage.execute(CONTRACT)
    assert sorted(path.name for path in Path("results/double").iterdir()) == ["a.txt", "manifest.json"]


def test_two_at_once_are_refused_with_the_process_that_holds_the_stage(experiment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def again(one: stage.Stage[Limits]) -> None:
        with pytest.raises(StageFault, match=f"process {os.getpid()} is running this stage"):
            stage.execute(CONTRACT)
        write_result(one)

    install(monkeypatch, again)
    stage.execute(CONTRACT)


def test_params_that_differ_from_the_config_are_refused(experiment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, write_result)
    for recorded in ('{"lora": {"rank": 8}}', '{"lora": {"rank": 4.0}}', '{"lora": {"rank": true}}', "{}"):
        Path("params.json").write_text(recorded)
        with pytest.raises(StageFault, match=r"lora\.rank is .* in params\.json but 4 in config/double\.yaml"):
            stage.execute(CONTRACT)


@pytest.mark.parametrize("text", ["rank: '4'\nalpha: 16.0\n", "rank: 4\n", "rank: 4\nalpha: 16.0\nextra: 1\n"])
def test_a_config_that_the_compiler_did_not_write_is_refused(experiment: Path, text: str) -> None:
    Path("config/double.yaml").write_text(text)
    Path("params.json").write_text(json.dumps({"lora": {"rank": "4" if "'4'" in text else 4}}))
    with pytest.raises(StageFault):
        stage.read_parameters(CONTRACT)


def test_another_version_than_the_locked_one_is_refused_before_the_program_is_imported(experiment: Path) -> None:
    Path("config/environment.yaml").write_text('python: "2.7"\n')
    with pytest.raises(EnvironmentFault, match=r"python is .*, locked is 2\.7"):
        stage.execute(CONTRACT)
    assert not Path(".scratch").exists()


def test_a_result_that_was_changed_is_not_read(experiment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, write_result)
    stage.execute(CONTRACT)
    folder = Path("results/double")
    (folder / "extra.txt").write_text("x")
    with pytest.raises(InputFault, match=r"extra\.txt is not in the manifest"):
        manifest.verify(folder)
    (folder / "extra.txt").unlink()
    (folder / "a.txt").write_text("5")
    with pytest.raises(InputFault, match=r"a\.txt has other content"):
        manifest.verify(folder)
    (folder / "a.txt").unlink()
    with pytest.raises(InputFault, match=r"a\.txt is missing"):
        manifest.verify(folder)


def test_unknown_placement_is_refused_and_a_missing_file_means_defaults(experiment: Path) -> None:
    assert placement.read(Path("placement.yaml")) == placement.Placement()
    Path("placement.yaml").write_text("wrokers: 2\n")
    with pytest.raises(StageFault, match="wrokers"):
        placement.read(Path("placement.yaml"))


SLEEPER = """
import sys, time, types
from runtime import stage
from runtime.contracts.base import Contract
def run(one):
    (one.out / "half.txt").write_text("half")
    print("ready", file=one.terminal.stream, flush=True)
    time.sleep(60)
sys.modules["sleeper"] = types.SimpleNamespace(run=run)
stage.execute(Contract(name="sleeper", program="sleeper", parameters=None, output="results/sleeper"))
"""


def test_a_killed_stage_leaves_nothing_and_can_be_run_again(experiment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("config/sleeper.yaml").write_text("a: 1\n")
    with subprocess.Popen([sys.executable, "-c", SLEEPER], stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == b"ready\n"
        process.send_signal(signal.SIGKILL)
    assert not Path("results").exists()
    install(monkeypatch, write_result)
    monkeypatch.setitem(sys.modules, "sleeper", SimpleNamespace(run=lambda one: (one.out / "whole.txt").write_text("whole")))
    stage.execute(Contract(name="sleeper", program="sleeper", parameters=None, output="results/sleeper"))
    assert sorted(path.name for path in Path("results/sleeper").iterdir()) == ["manifest.json", "whole.txt"]
