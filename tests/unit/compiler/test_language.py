"""English or Chinese: which is spoken, and that all of a message is."""

import json
import re
import subprocess
import sys

import pytest

from compiler.cli import chosen_language, main
from compiler.project import Project
from compiler.wording import in_language, language_of, listed, said, speaking


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh"}, "zh"),
        ({"LANG": "zh_TW.UTF-8", "LC_MESSAGES": "en_GB.UTF-8"}, "en"),
        ({"LANG": "de_DE.UTF-8", "LC_MESSAGES": "zh_CN"}, "zh"),
        ({"LANG": "zh_CN", "LC_MESSAGES": "zh_CN", "LC_ALL": "C"}, "en"),
        ({"LANG": "zh_CN", "LC_ALL": ""}, "zh"),
    ],
)
def test_the_language_of_a_locale(environment: dict[str, str], language: str) -> None:
    assert language_of(environment) == language


@pytest.mark.parametrize(
    "arguments", [["--lang", "zh", "check", "demo"], ["check", "--lang=zh", "demo"], ["check", "demo", "--lang", "zh"]]
)
def test_the_option_may_stand_anywhere(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C")
    assert chosen_language(arguments) == (["check", "demo"], "zh")


def test_the_option_wins_over_the_locale(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    assert chosen_language(["check"]) == (["check"], "zh")
    assert chosen_language(["check", "--lang", "en"]) == (["check"], "en")


@pytest.mark.parametrize("arguments", [["check", "--lang", "fr"], ["check", "--lang"]])
def test_another_language_is_wrong_usage(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2


def test_a_word_is_english_to_whoever_knows_no_languages() -> None:
    word = said("error", "错误")
    assert word == "error"
    assert in_language(word) == "error"
    with speaking("zh"):
        assert in_language(word) == "错误"
        assert in_language("plain") == "plain"
    assert listed([word, 3]).zh == "错误、3"


def test_all_of_a_message_is_chinese(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "demo", "finetune.lora.rnak=4", "--lang", "zh"]) == 1
    told = capsys.readouterr().err
    assert "<override 1>:1:1: 错误 MS0201: finetune.lora.rnak: 未知的键" in told
    assert "  原因: " in told
    assert "  修复: 是否想写 finetune.lora.rank？" in told
    assert told.rstrip().endswith("1 个错误")


def test_data_is_in_the_language_that_was_chosen(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--lang", "zh", "check", "demo", "--json", "finetune.lora.rnak=4"]) == 1
    (fault,) = json.loads(capsys.readouterr().out)["diagnostics"]
    assert (fault["title"], fault["message"], fault["severity"]) == ("未知的键", "未知的键", "error")
    assert fault["suggestion"] == "finetune.lora.rank"


def test_the_locale_reaches_a_started_program(project: Project) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "compiler", "-m", "experiment=dmeo"],
        cwd=project.root,
        env={"LANG": "zh_CN.UTF-8", "PYTHONPATH": str(project.root.joinpath("runtime").resolve().parent), "PYTHONUTF8": "1"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert (done.returncode, "没有名为 dmeo 的实验" in done.stderr) == (1, True)


def test_help_is_chinese(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help", "--lang", "zh"])
    assert re.search(r"check\s+校验实验", capsys.readouterr().out)
