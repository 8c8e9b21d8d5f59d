"""Wrong usage of the command line: exit code 2 or a fault, in the language that is spoken, and data that is JSON everywhere."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from compiler.cli import main
from compiler.command_parser import usage_words
from compiler.project import Project
from compiler.wording import in_language

CHECKOUT = Path(__file__).parents[3]


def refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """What is said of arguments that end with code 2."""
    try:
        code = main(arguments)
    except SystemExit as ended:
        code = ended.code
    assert code == 2
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "english", "chinese"),
    [
        (["chekc", "demo"], "did you mean check?", "是否想写 check"),
        (["plan"], "required: name\n", "缺少参数：name\n"),
        (["diff"], "required: A\n", "缺少参数：A\n"),
        (["check", "demo", "--bogus"], "unrecognized arguments: --bogus", "无法识别的参数：--bogus"),
        (["compare", "--baseline"], "--baseline: expected one argument", "--baseline 需要一个值"),
        (["baseline", "put", "x"], "no action 'put'", "没有操作 'put'"),
        (["diff", "demo@"], "no NAME or NAME@REVISION", "不是 NAME 或 NAME@REVISION"),
        (["diff", "@HEAD"], "no NAME or NAME@REVISION", "不是 NAME 或 NAME@REVISION"),
        (["check", "demo", "title=\udcff"], "is not UTF-8", "不是 UTF-8"),
    ],
)
def test_wrong_usage_in_both_languages(
    project: Project, capsys: pytest.CaptureFixture[str], arguments: list[str], english: str, chinese: str
) -> None:
    assert english in refused(arguments, capsys)
    assert chinese in refused([*arguments, "--lang", "zh"], capsys)


def test_words_of_argparse_that_are_not_known_stay() -> None:
    assert in_language(usage_words("something new"), "zh") == "something new"


@pytest.mark.parametrize("command", [["baseline"], ["baseline", "set"], ["compare"], ["timings"], ["check"], ["plan"], ["diff"], ["run"]])
def test_the_help_is_chinese(capsys: pytest.CaptureFixture[str], command: list[str]) -> None:
    with pytest.raises(SystemExit):
        main([*command, "--help", "--lang", "zh"])
    text = capsys.readouterr().out
    for english in ("usage:", "positional arguments", "options:", "show this", "experiment;", "an experiment", "write ", "letters"):
        assert english not in text


def test_a_second_experiment_is_no_override(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "demo", "smoke"]) == 1
    assert "smoke is an experiment" in capsys.readouterr().err


def test_a_stage_is_no_override_and_the_way_to_run_it_is_told(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "demo", "split"]) == 1
    assert "dvc repro experiments/NAME/dvc.yaml:split" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["../..", "", "nope", "x" * 300])
def test_timings_of_what_is_no_experiment(project: Project, capsys: pytest.CaptureFixture[str], name: str) -> None:
    assert main(["timings", name]) == 1
    assert "MS0001" in capsys.readouterr().err


def test_compare_names_experiments_with_results(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["nope"], ["../x"], ["pretrain.steps=3"], ["--baseline", "nope"]):
        assert main(["compare", "--json", *arguments]) == 1
        assert [one["code"] for one in json.loads(capsys.readouterr().out)["diagnostics"]] == ["MS0031"]


def test_a_misspelt_command_is_no_sweep() -> None:
    ended = subprocess.run([sys.executable, "-m", "compiler", "chekc", "demo"], cwd=CHECKOUT, capture_output=True, text=True, check=False)
    assert ended.returncode == 2 and "did you mean check?" in ended.stderr


def test_a_code_that_is_like_none(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "MS9999"]) == 1
    assert "did you mean" not in capsys.readouterr().err


def test_data_is_json_in_every_encoding(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    for encoding in ("ascii", "latin-1", "gbk", "utf-8"):
        raw = io.BytesIO()
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding=encoding, errors="strict"))
        assert main(["check", "demo", "--json", "title='é😀'", "data.unknwon='é😀'"]) == 1
        sys.stdout.flush()
        assert json.loads(raw.getvalue().decode(encoding))["diagnostics"][0]["place"]["text"] == "data.unknwon='é😀'"


def test_an_argument_that_the_locale_could_not_decode_is_utf_8(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    undecoded = os.fsencode("title='标题'").decode("ascii", "surrogateescape")
    assert main(["compile", "demo", undecoded]) == 0
    assert "标题" in (project.root / "experiments/demo/presentation.yaml").read_text("utf-8")


def test_a_refusal_of_the_system_is_told_in_chinese(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    (project.root / "experiments").write_text("")
    assert main(["compile", "demo", "--lang", "zh"]) == 1
    assert "不是文件夹" in capsys.readouterr().err


def test_a_project_without_git_is_told_in_both_languages(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert "not in a Git repository" in refused(["diff", "demo"], capsys)
    assert "不在 Git 仓库中" in refused(["diff", "demo", "--lang", "zh"], capsys)


@pytest.mark.parametrize(("arguments", "code"), [(["experiment=demo", "smoke"], "MS0107"), (["experiment="], "MS0001")])
def test_a_sweep_refuses_in_its_own_words(arguments: list[str], code: str) -> None:
    line = [sys.executable, "-m", "compiler", "-m", *arguments]
    ended = subprocess.run(line, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    assert ended.returncode == 1 and code in ended.stderr and "Hydra" not in ended.stderr
