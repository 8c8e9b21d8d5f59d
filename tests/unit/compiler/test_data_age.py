"""`mindspec data` says which figures are older than the compiled files or than the stages before."""

import hashlib
from pathlib import Path

import pytest
import yaml

from compiler.cli import main
from compiler.command import data_age
from compiler.project import Project

BEFORE = {"clean": "corpus/ingest", "dedup": "corpus/clean"}


@pytest.fixture
def folder(project: Project) -> Path:
    """An experiment of which DVC has run three stages, and nothing was changed since."""
    made = project.root / "experiments" / "demo"
    stages = {}
    for stage in ("ingest", "clean", "dedup"):
        for path, content in ((f"config/{stage}.yaml", "seed: 1\n"), (f"metrics/{stage}.json", '{"documents_in": 1, "sources": {}}\n')):
            (made / path).parent.mkdir(parents=True, exist_ok=True)
            (made / path).write_text(content)
        read = [entry(made, f"config/{stage}.yaml")]
        read += [{"path": BEFORE[stage], "md5": f"{BEFORE[stage]}.dir"}] if stage in BEFORE else []
        written = [{"path": f"corpus/{stage}", "md5": f"corpus/{stage}.dir"}, entry(made, f"metrics/{stage}.json")]
        stages[stage] = {"cmd": f"python -m runtime {stage}", "deps": read, "outs": written}
    (made / "dvc.lock").write_text(yaml.safe_dump({"schema": "2.0", "stages": stages}))
    return made


def entry(folder: Path, path: str) -> dict[str, str]:
    return {"path": path, "hash": "md5", "md5": hashlib.md5((folder / path).read_bytes()).hexdigest()}


def older(folder: Path) -> dict[str, str]:
    return {stage: str(cause) for stage, cause in data_age.older(folder).items()}


def test_nothing_is_said_of_figures_that_are_up_to_date(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "demo"]) == 0
    assert "older" not in capsys.readouterr().err


def test_settings_that_were_compiled_since_are_named_and_the_stages_behind(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "config/clean.yaml").write_text("seed: 2\n")
    assert main(["data", "demo"]) == 0
    assert (
        "older figures: clean than config/clean.yaml; dedup than clean; bring them up to date: mindspec run demo" in capsys.readouterr().err
    )
    assert main(["data", "demo", "dedup", "--lang", "zh"]) == 0
    assert "以下数字已过时：dedup 早于 clean；更新：mindspec run demo" in capsys.readouterr().err
    assert main(["data", "demo", "ingest"]) == 0
    assert "older" not in capsys.readouterr().err


def test_a_stage_before_that_ran_again_alone_and_one_that_failed(folder: Path) -> None:
    lock = folder / "dvc.lock"
    content = yaml.safe_load(lock.read_text())
    content["stages"]["ingest"]["outs"][0]["md5"] = "new.dir"
    lock.write_text(yaml.safe_dump(content))
    (folder / "metrics/clean.json").unlink()
    assert older(folder) == {"clean": "ingest", "dedup": "clean"}


def test_figures_of_a_run_without_dvc_are_not_called_old(folder: Path) -> None:
    (folder / "config/clean.yaml").write_text("seed: 2\n")
    (folder / "metrics/clean.json").write_text('{"documents_in": 2, "sources": {}}\n')
    assert older(folder) == {}


@pytest.mark.parametrize("content", [None, "", "[]", "stages: 3", "stages: {clean: 3}", "a: [", "\0", "stages: {clean: {deps: [3]}}"])
def test_without_a_lock_file_of_dvc_nothing_is_known(folder: Path, content: str | None) -> None:
    (folder / "config/clean.yaml").write_text("seed: 2\n")
    (folder / "dvc.lock").unlink()
    if content is not None:
        (folder / "dvc.lock").write_text(content)
    assert older(folder) == {}
