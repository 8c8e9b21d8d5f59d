"""The harness: nothing half-written under a final name, nothing read that is not what was written."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
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
    def write_more(one: stage.Stage[Limits]) -> None:
        write_result(one)
        (one.out / "stale.txt").write_text("old")

    install(monkeypatch, write_more)
    stage.execute(CONTRACT)
    install(monkeypatch, write_result)
    stage.execute(CONTRACT)
    assert sorted(path.name for path in Path("results/double").iterdir()) == ["a.txt", "manifest.json"]


@pytest.mark.parametrize("there", ["results/double", "results/double/a.txt", "results/double/\u8bf4\u660e 1.txt"])
@pytest.mark.parametrize("finished", [True, False])
def test_what_no_stage_wrote_is_not_replaced(experiment: Path, monkeypatch: pytest.MonkeyPatch, there: str, finished: bool) -> None:
    install(monkeypatch, write_result)
    if finished and there.endswith(" 1.txt"):
        stage.execute(CONTRACT)
    Path(there).parent.mkdir(parents=True, exist_ok=True)
    Path(there).write_text("of somebody else")
    with pytest.raises(StageFault, match=f"no stage wrote '{Path(there).name}'") as fault:
        stage.execute(CONTRACT)
    assert (fault.value.where, Path(there).read_text()) == ("results/double", "of somebody else")
    Path(there).unlink()
    stage.execute(CONTRACT)
    assert sorted(path.name for path in Path("results/double").iterdir()) == ["a.txt", "manifest.json"]


def test_an_empty_folder_where_a_result_should_be_is_replaced(experiment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("results/double/empty").mkdir(parents=True)
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


def test_a_placement_that_is_missing_means_defaults(experiment: Path) -> None:
    assert placement.read(Path("placement.yaml")) == placement.Placement()
    Path("placement.yaml").write_text("workers: 3\ndevice_ids: [1]\n")
    assert placement.read(Path("placement.yaml")) == placement.Placement(workers=3, device_ids=(1,))


@pytest.mark.parametrize(
    "text",
    [
        "wrokers: 2", "workers: many", "workers: 0", "threads: 2.5", "threads: true", "log_every: -1", "workers: null", "device_ids: 3",
        "device_ids: []", "device_ids: [a]", "device_ids: [-1]", "[1]", "word", "1: 2", "workers: [", "", "\ufffe",
        "max_device_memory: 58", "max_device_memory: 0GB", "max_device_memory: 58GiB", "max_device_memory: ''",
    ],
)  # fmt: skip
def test_a_placement_of_nonsense_is_refused(experiment: Path, text: str) -> None:
    Path("placement.yaml").write_text(text, "utf-16" if text == "\ufffe" else "utf-8")
    with pytest.raises(StageFault) as refused:
        placement.read(Path("placement.yaml"))
    assert refused.value.where.startswith("placement.yaml")
    assert refused.value.fix == "run `mindspec compile`"


DAMAGED_YAML = (b"", b"a: [1", b"a:\n\t- b", b"\xff\x00", b"\x00", b"- a", b"rank: 2024-01-01", b"rank: 2024-99-99", b"rank: !!set {a}")
DAMAGED_YAML += (b"rank: &x [*x]", b"rank: !!python/object:os.system x")


@pytest.mark.parametrize("content", [None, *DAMAGED_YAML])
def test_a_damaged_configuration_is_refused_at_its_place(experiment: Path, content: bytes | None) -> None:
    for name in ("config/double.yaml", "config/environment.yaml"):
        path, before = experiment / name, (experiment / name).read_bytes()
        path.unlink() if content is None else path.write_bytes(content)
        Path("params.json").write_text("{}")
        with pytest.raises(StageFault) as refused:
            stage.execute(replace(CONTRACT, tracked={}))
        assert refused.value.where.startswith(name)
        path.write_bytes(before)


def test_a_key_that_a_mindformers_file_lacks_is_refused_when_it_is_asked_for(experiment: Path) -> None:
    Path("config/double.yaml").write_text("callbacks: [{type: StopAtStep}]\n")
    config = stage.read_parameters(replace(CONTRACT, parameters=None, tracked={}))
    assert config["callbacks"][0]["type"] == "StopAtStep"
    for lacking in (lambda: config["model"], lambda: config["callbacks"][0]["step"]):
        with pytest.raises(StageFault, match="is missing"):
            lacking()


@pytest.mark.parametrize("content", [None, b"", b'{"lora":', b"\xff", b"[]"])
def test_damaged_parameters_are_refused_at_their_place(experiment: Path, content: bytes | None) -> None:
    Path("params.json").unlink() if content is None else Path("params.json").write_bytes(content)
    with pytest.raises(StageFault) as refused:
        stage.execute(CONTRACT)
    assert refused.value.where.startswith("params.json")


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="needs a second file system")
def test_scratch_on_another_file_system_is_refused_before_the_work(experiment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, lambda one: pytest.fail("the program was started"))
    with TemporaryDirectory(dir="/dev/shm") as elsewhere:
        Path(".scratch").symlink_to(elsewhere)
        if os.stat(elsewhere).st_dev == os.stat(".").st_dev:
            pytest.skip("one file system")
        with pytest.raises(StageFault, match="different file systems"):
            stage.execute(CONTRACT)


@pytest.mark.parametrize(
    "change",
    [
        {"counts": ["rows"]}, {"counts": {"rows": "2"}}, {"counts": {"rows": True}}, {"facts": None}, {"facts": "x"}, {"stage": 1},
        {"files": 5}, {"files": [{"path": "a.txt"}]}, {"files": [{"path": 1, "bytes": 1, "sha256": "x"}]},
        {"files": 2 * [{"path": "a.txt", "bytes": 1, "sha256": "x"}]},
    ],
)  # fmt: skip
def test_a_manifest_that_no_stage_writes_is_refused(experiment: Path, monkeypatch: pytest.MonkeyPatch, change: dict[str, Any]) -> None:
    install(monkeypatch, write_result)
    stage.execute(CONTRACT)
    path = Path("results/double/manifest.json")
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(InputFault, match="not a manifest"):
        manifest.read(Path("results/double"))


def test_what_a_manifest_does_not_state_is_refused_when_it_is_asked_for(experiment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, write_result)
    stage.execute(CONTRACT)
    made = manifest.read(Path("results/double"))
    assert made.counts["rows"] == 2
    for stated in (made.counts, made.facts):
        with pytest.raises(InputFault, match="tokens is not stated"):
            stated["tokens"]


def test_a_file_where_a_result_folder_should_be_is_refused(experiment: Path) -> None:
    Path("results").mkdir()
    Path("results/double").write_text("")
    with pytest.raises(InputFault, match=r"has no manifest\.json"):
        manifest.verify(Path("results/double"))


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
