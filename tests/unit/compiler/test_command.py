"""The command line: what is written, what is said, which exit code."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from compiler import dvc, machine
from compiler.cli import main
from compiler.project import Project
from runtime.contracts import installed

CHECKOUT = Path(__file__).parents[3]


def files(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in (root / "experiments").rglob("*") if path.is_file()}


def test_check_writes_nothing(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "demo"]) == 0
    assert capsys.readouterr().out == "ok: demo\n"
    assert not (project.root / "experiments").exists()


def test_compile_writes_only_what_differs(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compile"]) == 0
    first = files(project.root)
    assert main(["compile"]) == 0
    assert capsys.readouterr().out.splitlines().count("experiments/demo/dvc.yaml") == 1
    assert files(project.root) == first
    assert (project.root / "dvc.yaml").exists()


def test_compile_removes_configuration_that_no_stage_reads(project: Project) -> None:
    main(["compile", "demo"])
    stale = project.root / "experiments/demo/config/old-stage.yaml"
    stale.write_text("a: 1\n")
    main(["compile", "demo"])
    assert not stale.exists()


def test_faults_of_all_selected_experiments_are_reported_and_nothing_is_written(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    (project.root / "params.yaml").write_text("experiments: [demo, smoke]\n")
    for name in ("demo", "smoke"):
        path = project.root / f"specs/experiment/{name}.yaml"
        path.write_text(path.read_text("utf-8") + "unknwon: 1\n", "utf-8")
    assert main(["compile"]) == 1
    said = capsys.readouterr().err
    assert "specs/experiment/demo.yaml" in said
    assert "specs/experiment/smoke.yaml" in said
    assert not (project.root / "experiments").exists()
    assert not (project.root / "dvc.yaml").exists()


def test_faults_as_data(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "demo", "finetune.lora.rnak=4", "--json"]) == 1
    said = json.loads(capsys.readouterr().out)
    assert not said["ok"]
    assert [fault["code"] for fault in said["diagnostics"]] == ["MS0201"]
    assert said["diagnostics"][0]["place"]["file"] == "<override 1>"


@pytest.mark.parametrize("arguments", [[], ["chekc"], ["check", "finetune.lora.rank=4"], ["baseline", "set", "x"]])
def test_wrong_usage_ends_with_2(project: Project, arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2


def test_a_point_of_a_sweep_is_told_from_a_misspelt_name(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "demo--finetune-lora-rank-4"]) == 1
    assert "is a point of a sweep over demo" in capsys.readouterr().err


def test_outside_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["check", "demo"]) == 1
    assert "MS0004" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("experiments: demo\n", "experiments is 'demo'"),
        ("experiments: []\n", "no experiment is selected"),
        ("experiments: [demo, demo]\n", "selected twice"),
        ("experiment: [demo]\n", "unknown key 'experiment'"),
        ("experiments: [demo]\ngate: 1\n", "gate is 1"),
        ("- demo\n", "no mapping"),
        ("experiments: [demo\n", "YAML cannot be read"),
        ("", "no mapping"),
        ("experiments: [demo]\nexperiments: [smoke]\n", "key experiments is written twice"),
        ("experiments: [demo]\ngate: yes\n", "yes without quotes"),
        ("experiments: [demo]\nbaseline: no-such\n", "is named no-such"),
        ("experiments: [demo]\nbaseline: demo\ngate: true\n", "nothing to compare with"),
        ("experiments: [demo]\ngate: true\n", "nothing to compare with"),
        ("experiments: 2021-13-45\n", "experiments is '2021-13-45'"),
        ("[" * 3000, "nesting"),
    ],
)
def test_a_selection_that_cannot_be_read(project: Project, capsys: pytest.CaptureFixture[str], text: str, message: str) -> None:
    (project.root / "params.yaml").write_text(text)
    assert main(["check"]) == 1
    said = capsys.readouterr().err
    assert "MS0022" in said
    assert message in said
    assert "params.yaml:" in said


def test_a_pair_of_versions_that_does_not_match_is_refused(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    lock = project.root / "requirements.lock"
    lines = lock.read_text().splitlines()
    line = next(number for number, text in enumerate(lines, 1) if text.startswith("mindspore=="))
    lock.write_text(lock.read_text().replace("mindspore==2.9.0", "mindspore==2.7.0"))
    assert main(["check", "demo"]) == 1
    said = capsys.readouterr().err
    assert f"requirements.lock:{line}:1: error MS0023: mindformers 1.9.0 goes with mindspore 2.9.0, but mindspore 2.7.0 is locked" in said


def test_a_library_that_is_not_locked_is_refused(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    lock = project.root / "requirements.lock"
    lock.write_text(lock.read_text().replace("sentencepiece==", "sentencepeace=="))
    assert main(["check", "demo"]) == 1
    assert "MS0026: sentencepiece is not locked" in capsys.readouterr().err


def test_no_lock_file(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    (project.root / "requirements.lock").unlink()
    assert main(["check", "demo"]) == 1
    assert "MS0021: requirements.lock does not exist" in capsys.readouterr().err


@pytest.mark.parametrize("content", [b"- a\n", b"a: [\n", "\u4f60".encode("utf-16")])
def test_a_template_that_cannot_be_read(project: Project, capsys: pytest.CaptureFixture[str], content: bytes) -> None:
    (project.root / "specs/template/chatml.yaml").write_bytes(content)
    assert main(["check", "demo"]) == 1
    assert "MS0027" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("version", "message"), [(None, "mindspore 2.9.0 is locked, but it is not installed"), ("2.7.0", "but 2.7.0 is installed")]
)
def test_run_refuses_another_mindspore_before_anything_is_written(
    project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, version: str | None, message: str
) -> None:
    real = installed.installed_version
    monkeypatch.setattr(installed, "installed_version", lambda library: version if library == "mindspore" else real(library))
    assert main(["run", "demo"]) == 1
    said = capsys.readouterr().err
    assert "MS0024" in said
    assert message in said
    assert not (project.root / "experiments").exists()


@pytest.mark.parametrize("setting", ["MS_SIMULATION_LEVEL=0", "MS_KERNEL_LAUNCH_SKIP=ALL", "MS_JIT=0", "MS_WORKER_NUM=2"])
def test_run_refuses_an_environment_that_falsifies_results(
    project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, setting: str
) -> None:
    name, _, value = setting.partition("=")
    monkeypatch.setenv(name, value)
    assert main(["run", "demo"]) == 1
    assert f"error MS0029: the environment has {setting}" in capsys.readouterr().err
    assert not (project.root / "experiments").exists()


@pytest.mark.parametrize("target", ["gpu", "ascend"])
def test_run_refuses_a_device_that_is_not_there(
    project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    monkeypatch.setattr(machine, "DRIVERS", {target: ("/dev/no-such-device",)})
    assert main(["run", "demo", f"device.target={target}"]) == 1
    assert f"<override 1>:1:15: error MS0025: device.target: no {target} device on this machine" in capsys.readouterr().err
    assert not (project.root / "experiments").exists()


def record(root: Path, name: str, loss: float) -> None:
    folder = root / "experiments" / name
    (folder / "metrics").mkdir(parents=True, exist_ok=True)
    (folder / "record.json").write_text(json.dumps({"model_version": {"steps": 3}}))
    (folder / "metrics/evaluate.json").write_text(json.dumps({"merged": {"answer_loss": loss}}))


def test_a_baseline_is_kept_from_the_folder_or_from_a_revision(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    record(project.root, "demo", 1.0)
    git = ["git", "-c", "user.name=test", "-c", "user.email=test@example.org"]
    for command in (["init", "-q"], ["add", "experiments"], ["commit", "-qm", "one"]):
        subprocess.run([*git, *command], cwd=project.root, check=True, env={**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null"})
    record(project.root, "demo", 2.0)
    assert main(["baseline", "set", "now", "--from", "demo"]) == 0
    assert main(["baseline", "set", "before", "--from", "demo@HEAD"]) == 0
    kept = {name: json.loads((project.root / f"baselines/{name}.json").read_text()) for name in ("now", "before")}
    assert [kept[name]["evaluate"]["merged"]["answer_loss"] for name in ("now", "before")] == [2.0, 1.0]
    assert kept["before"]["record"] == {"model_version": {"steps": 3}}
    capsys.readouterr()
    assert main(["baseline", "list"]) == 0
    assert capsys.readouterr().out == "before\nnow\n"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["set", "first", "--from", "demo"], "MS0031"),
        (["set", "First!", "--from", "demo"], "MS0033"),
        (["set", "../x", "--from", "demo"], "MS0033"),
        (["set", "first", "--from", "demo@no-such-revision"], "MS0032"),
        (["set", "first", "--from", "../../etc"], "MS0033"),
    ],
)
def test_a_baseline_of_nothing(project: Project, capsys: pytest.CaptureFixture[str], arguments: list[str], code: str) -> None:
    assert main(["baseline", *arguments]) == 1
    assert code in capsys.readouterr().err
    assert not (project.root / "baselines").exists()


def test_timings_of_nothing(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["timings", "demo"]) == 1
    assert "experiments/demo does not exist" in capsys.readouterr().err


def test_schema_writes_what_is_committed(project: Project) -> None:
    before = {path.name: path.read_bytes() for path in (project.root / "specs/schema").iterdir()}
    for path in (project.root / "specs/schema").iterdir():
        path.unlink()
    assert main(["schema"]) == 0
    assert {path.name: path.read_bytes() for path in (project.root / "specs/schema").iterdir()} == before


def test_run_works_in_the_folder_of_the_name_that_was_given(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    folders: list[Path] = []

    def repro(folder: Path) -> dvc.Outcome:
        folders.append(folder)
        return dvc.Outcome(folder)

    monkeypatch.setattr(dvc, "repro", repro)
    assert main(["run", "demo", "name=other"]) == 0
    assert folders == [project.root / "experiments" / "other"]


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("begin:", "begn:", "5:1: error MS0027: begin: Field required"),
        ('begin: "<s>"', 'begin: "<S>"', "5:8: error MS0027: begin: <S> is not tokenizer.special_tokens.bos"),
        ("trained: true", 'trained: "true"', "9:103: error MS0027: roles.assistant.trained: Input should be a valid boolean"),
        ("trained: true", "trained: false", "7:3: error MS0027: roles: no role is trained"),
        ("follows: [start]", "follows: [strt]", "7:120: error MS0027: roles.system.follows[0]: strt is no role"),
        ('close: "<|im_end|>"', 'close: "<|end|>"', "7:67: error MS0027: roles.system.close: <|end|> is no special piece of the tokenizer"),
    ],
)
def test_a_template_is_checked_before_anything_runs(
    project: Project, capsys: pytest.CaptureFixture[str], before: str, after: str, said: str
) -> None:
    file = project.root / "specs/template/chatml.yaml"
    file.write_text(file.read_text("utf-8").replace(before, after, 1), "utf-8")
    assert main(["check", "demo"]) == 1
    assert f"specs/template/chatml.yaml:{said}" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["params.yaml", "requirements.lock", ".python-version"])
def test_files_of_the_project_in_another_encoding(project: Project, capsys: pytest.CaptureFixture[str], name: str) -> None:
    (project.root / name).write_bytes("# 中文\n".encode("gbk"))
    assert main(["check"]) == 1
    assert f"{name}:1:" in capsys.readouterr().err


@pytest.mark.parametrize("content", ["{", "{}", "[1]", '{"seconds": "x", "cpu_seconds": 1, "peak_bytes": 1}'])
def test_a_measurement_that_cannot_be_read_is_left_out(project: Project, capsys: pytest.CaptureFixture[str], content: str) -> None:
    folder = project.root / "experiments/demo/timings"
    folder.mkdir(parents=True)
    (folder / "ingest.json").write_text(content)
    assert main(["timings", "demo"]) == 0
    assert "no stage of demo has run here" in capsys.readouterr().err


@pytest.mark.parametrize("content", ['{"a": NaN}', "3", "{", b"\xff"])
def test_a_baseline_is_never_made_of_a_broken_record(project: Project, capsys: pytest.CaptureFixture[str], content: str | bytes) -> None:
    record(project.root, "demo", 1.0)
    (project.root / "experiments/demo/record.json").write_bytes(content if isinstance(content, bytes) else content.encode())
    assert main(["baseline", "set", "first", "--from", "demo"]) == 1
    assert "MS0031: experiments/demo/record.json is no record" in capsys.readouterr().err
    assert not (project.root / "baselines").exists()


def test_an_unforeseen_error_is_written_down(project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_arguments: object) -> None:
        raise AssertionError("unforeseen")

    monkeypatch.setattr("compiler.command.check.compile_selected", broken)
    assert main(["check", "demo"]) == 3
    said = capsys.readouterr().err
    assert "Traceback" not in said
    assert "unforeseen" in said
    assert "Traceback" in (project.root / ".mindspec/error.log").read_text("utf-8")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "gbk"])
def test_any_terminal_encoding_will_do(project: Project, encoding: str) -> None:
    (project.root / "specs/experiment/demo.yaml").write_text("# @package _global_\nname: demo\n标题: 😀\n", "utf-8")
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT), "PYTHONIOENCODING": encoding}
    for arguments in (["check", "demo"], ["check", "demo", "--json"]):
        command = [sys.executable, "-m", "compiler", *arguments]
        ended = subprocess.run(command, cwd=project.root, env=environment, capture_output=True, check=False)
        assert ended.returncode == 1
        assert b"MS0201" in ended.stdout + ended.stderr
        assert b"Traceback" not in ended.stderr
