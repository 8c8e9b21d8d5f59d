"""`mindspec diff`: values with their places, files, and the stages that run again with the reason."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from compiler.cli import main
from compiler.command.diff import Asked, asked
from compiler.project import Project

AFTER_FINETUNE = ["finetune", "merge", "export", "evaluate", "report", "compare"]


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main(["diff", "--json", *arguments]) == 0
    return json.loads(capsys.readouterr().out)


def stages(found: dict[str, Any]) -> list[str]:
    return [one["stage"] for one in found["reruns"]]


def reasons(found: dict[str, Any], stage: str) -> list[str]:
    return next(one["direct"] for one in found["reruns"] if one["stage"] == stage)


@pytest.fixture
def repository(project: Project) -> Path:
    """The project under Git, with one commit that is tagged `first`."""
    git(project.root, "init", "-q")
    git(project.root, "add", "-A")
    git(project.root, "commit", "-q", "-m", "first")
    git(project.root, "tag", "first")
    return project.root


def git(root: Path, *arguments: str) -> None:
    person = ("-c", "user.name=someone", "-c", "user.email=someone@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *person, *arguments], cwd=root, check=True, capture_output=True)


@pytest.mark.parametrize(
    ("written", "before", "after"),
    [
        (["a", "b"], Asked("a"), Asked("b")),
        (["a", "b", "seed=1"], Asked("a"), Asked("b", "", ("seed=1",))),
        (["a", "seed=1", "title=x"], Asked("a"), Asked("a", "", ("seed=1", "title=x"))),
        (["a", "a@v1"], Asked("a"), Asked("a", "v1")),
        (["a@v1"], Asked("a", "v1"), Asked("a")),
        (["a@v1", "a@v2", "seed=1"], Asked("a", "v1"), Asked("a", "v2", ("seed=1",))),
        (["a@HEAD~1", "seed=1"], Asked("a", "HEAD~1"), Asked("a", "", ("seed=1",))),
        (["a", "~data.pretrain.dedup"], Asked("a"), Asked("a", "", ("~data.pretrain.dedup",))),
        (["a"], Asked("a", "HEAD"), Asked("a")),
    ],
)
def test_what_is_compared(written: list[str], before: Asked, after: Asked) -> None:
    assert asked(written[0], written[1:]) == (before, after)


def test_the_same_twice(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "demo", "demo"]) == 0
    assert capsys.readouterr().out == "no difference: demo and demo\n"


def test_a_new_rank(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    found = told(capsys, "demo", "finetune.lora.rank=4")
    assert found["spec"] == [
        {
            "path": "finetune.lora.rank",
            "before": 8,
            "after": 4,
            "class": "identity",
            "places": ["specs/finetune/lora.yaml:7:14", "<override 1>:1:20"],
        }
    ]
    assert [one["path"] for one in found["files"] if "mindformers" not in one["path"]] == [
        "config/finetune.yaml",
        "config/merge.yaml",
        "params.json",
    ]
    assert stages(found) == AFTER_FINETUNE
    assert reasons(found, "finetune") == ["config/finetune.yaml: model.model_config.pet_config.lora_rank 8 -> 4"]
    assert reasons(found, "export") == []


def test_the_text_shows_places_reasons_and_files(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "demo", "finetune.lora.rank=4", "--files"]) == 0
    out = capsys.readouterr().out
    assert "finetune.lora.rank: 8 -> 4  [identity]  (specs/finetune/lora.yaml:7:14 -> <override 1>:1:20)" in out
    assert "-rank: 8\n+rank: 4" in out
    assert "  merge\n    config/merge.yaml: rank 8 -> 4\n    follows finetune\n" in out


def test_in_chinese(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "demo", "finetune.lora.rank=4", "--lang", "zh"]) == 0
    out = capsys.readouterr().out
    assert "规格：" in out and "需要重新运行的阶段" in out and "跟随 finetune" in out


def test_type_and_default_count(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    (changed,) = told(capsys, "demo", "pretrain.schedule.final=0.0002", "finetune.lora.alpha=16.0")["spec"]
    assert changed["path"] == "pretrain.schedule.final"
    (changed,) = told(capsys, "demo", "model.max_length=4096")["spec"]
    assert changed["places"][0] is None or changed["before"] is None


@pytest.mark.parametrize("override", ["launch.workers=7", "device.memory=17GB"])
def test_placement_runs_nothing_again(override: str, project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert stages(told(capsys, "demo", override)) == []
    assert main(["diff", "demo", override]) == 0
    assert capsys.readouterr().out.endswith("no stage runs again\n")


def test_a_title_writes_the_report_again(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    found = told(capsys, "demo", "title=x")
    assert stages(found) == ["report", "compare"]
    assert reasons(found, "report") == ["presentation.yaml"]


def test_a_limit_is_compared_again(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    found = told(capsys, "demo", "compare.tolerance.exact_match.absolute=0.5")
    assert [(one["stage"], one["direct"]) for one in found["reruns"]] == [("compare", ["config/compare.yaml"])]


def test_what_is_not_selected_is_not_compared_at_the_root(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert "compare" not in stages(told(capsys, "smoke", "finetune.lora.rank=2"))


def test_another_source_is_another_dependency(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    found = told(capsys, "demo", "data.pretrain.sources.poems.path=data/raw/poems/tang.jsonl")
    assert {"+data/raw/poems/tang.jsonl", "-data/raw/poems"} <= set(reasons(found, "ingest"))


def test_a_fault_of_one_side_is_told(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "demo", "pretrain.steps=many"]) == 1
    assert "pretrain.steps" in capsys.readouterr().err


def test_the_work_tree_against_a_revision(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = repository / "specs/finetune/lora.yaml"
    file.write_text(file.read_text("utf-8").replace("rank: 8", "rank: 6"), "utf-8")
    for arguments in (["demo@first"], ["demo"], ["demo@HEAD", "demo"]):
        (changed,) = told(capsys, *arguments)["spec"]
        assert (changed["path"], changed["before"], changed["after"]) == ("finetune.lora.rank", 8, 6)
    assert told(capsys, "demo", "demo@first")["spec"][0]["after"] == 8


def test_code_that_changed_runs_its_stages_again(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = (repository / "runtime").resolve()
    (repository / "runtime").unlink()
    shutil.copytree(code, repository / "runtime", ignore=shutil.ignore_patterns("__pycache__"))
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "code")
    assert told(capsys, "demo@HEAD")["reruns"] == []
    merge = repository / "runtime/model/merge.py"
    merge.write_text(merge.read_text("utf-8") + "# a word\n", "utf-8")
    found = told(capsys, "demo@HEAD")
    assert reasons(found, "merge") == ["runtime/model/merge.py"]
    assert found["spec"] == found["files"] == []
    assert "finetune" not in stages(found)


def test_raw_text_that_changed_is_read_again(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cases = (repository / "data").resolve() / "evaluation" / "core.jsonl"
    (repository / "data").unlink()
    shutil.copytree(cases.parents[1], repository / "data")
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "data")
    own = repository / "data/evaluation/core.jsonl"
    own.write_text(own.read_text("utf-8") + "\n", "utf-8")
    found = told(capsys, "demo@HEAD")
    assert reasons(found, "evaluate") == ["data/evaluation/core.jsonl"]
    assert stages(found) == ["evaluate", "report", "compare"]


def test_a_fault_of_a_revision_says_whose_it_is(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = repository / "specs/finetune/lora.yaml"
    sound = file.read_text("utf-8")
    file.write_text(sound.replace("rank: 8", "rank: none"), "utf-8")
    git(repository, "commit", "-q", "-a", "-m", "broken")
    file.write_text(sound, "utf-8")
    assert main(["diff", "demo"]) == 1
    err = capsys.readouterr().err
    assert err.startswith("mindspec: demo@HEAD does not compile; the places below are those of HEAD\n")
    assert "specs/finetune/lora.yaml:7:14: error MS0203" in err


def test_the_work_tree_is_never_touched(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def state() -> dict[str, float]:
        found = (path for path in repository.rglob("*") if ".git" not in path.relative_to(repository).parts)
        return {str(path): path.lstat().st_mtime for path in found}

    before = state()
    told(capsys, "demo@first", "demo", "seed=3")
    assert state() == before


@pytest.mark.parametrize("revision", ["nosuch", "--all", "first..HEAD"])
def test_no_such_revision(revision: str, repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", f"demo@{revision}", "demo"]) == 2
    assert capsys.readouterr().err == f"mindspec: no such revision: {revision}\n"


def test_without_git(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "demo"]) == 2
    assert "no such revision" in capsys.readouterr().err
