"""`mindspec explain`: every code has its story, in both languages."""

import json
import re
from pathlib import Path

import pytest

from compiler.cli import main
from compiler.codes import AREAS, CODES, structure
from compiler.command.explain import explained, wrapped
from compiler.diagnostics import width
from compiler.wording import Said, speaking


@pytest.mark.parametrize("code", sorted(CODES))
def test_every_code_has_title_and_story_in_both_languages(code: str) -> None:
    for text in (CODES[code].title, CODES[code].story):
        assert isinstance(text, Said), f"{code} is written in one language"
        assert text and re.search(r"[\u4e00-\u9fff]", text.zh)
        assert not re.search(r"[\u4e00-\u9fff]", re.sub(r"(?m)^ .*$|[\"'].*[\"']", "", text)), "Chinese outside an example"


def test_a_code_is_declared_in_one_area() -> None:
    assert sum(len(codes) for _, codes in AREAS) == len(CODES)


def test_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "ms0109"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("MS0109: comma in a single run\n\nTo Hydra a comma")
    assert "\n  'title=\"first, second\"'" in told


def test_text_in_chinese(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "MS0109", "--lang", "zh"]) == 0
    assert capsys.readouterr().out.startswith("MS0109: 单次运行中出现逗号\n")


def test_it_needs_no_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["explain", "MS0004"]) == 0
    assert "outside a project" in capsys.readouterr().out


def test_data(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "MS0201", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["code"], told["area"], told["title"]) == ("MS0201", "structure", "unknown key")
    assert told["story"] == CODES["MS0201"].story


def test_without_a_code_all_of_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain"]) == 0
    text = capsys.readouterr().out
    assert all(f"  {code}  {CODES[code].title}\n" in text for code in CODES)
    assert main(["explain", "--json"]) == 0
    assert [one["code"] for one in json.loads(capsys.readouterr().out) if one["area"] == "structure"] == sorted(structure.CODES)


@pytest.mark.parametrize(("written", "meant"), [("MS303", "MS0303"), ("MS0999", "MS0"), ("0104", "MS0104")])
def test_an_unknown_code(written: str, meant: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", written]) == 1
    assert f"did you mean {meant}" in capsys.readouterr().err


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("code", sorted(CODES))
def test_lines_fit_a_terminal(code: str, language: str) -> None:
    with speaking("zh" if language == "zh" else "en"):
        lines = explained(code, 80).splitlines()
    assert [line for line in lines if width(line) > 84 and not line.startswith(" ")] == []


def test_wrapping_keeps_the_words() -> None:
    text = "一份规格，编译为 DVC 阶段与 mindformers 配置。" * 5
    assert "".join(wrapped(text, 30)).replace(" ", "") == text.replace(" ", "")
    assert all(width(line) <= 32 for line in wrapped(text, 30))
    assert " ".join(wrapped("one two three four", 9)) == "one two three four"
