"""Every code has a folder with a bad spec and the whole text that a user sees.

bad.yaml        the experiment; it replaces nothing in `project/`
overrides.txt   one override a line
specs/          files that are added to the project, or replace its own
removed.txt     files that are taken away
expected.txt    the text
expected.zh.txt the text in Chinese
"""

import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from compiler.codes import CODES
from compiler.diagnostics import Diagnostic, Faults, render
from compiler.parse import experiments, load
from compiler.validate import review, validate
from compiler.wording import Language, Said

HERE = Path(__file__).parent
MACHINE = {"MS0417", "MS0471", "MS0472", "MS0473"}  # what other commands ask, of the machine or of results, and a check does not
LANGUAGES: dict[Language, str] = {"en": "expected.txt", "zh": "expected.zh.txt"}
CASES = sorted(folder for folder in HERE.glob("MS*") if (folder / "bad.yaml").exists())


def project(case: Path, root: Path) -> list[str]:
    """The project of a case below `root`; returns its overrides."""
    shutil.copytree(HERE / "project", root, dirs_exist_ok=True)
    shutil.copy(case / "bad.yaml", root / "specs" / "experiment" / "bad.yaml")
    if (case / "specs").exists():
        shutil.copytree(case / "specs", root / "specs", dirs_exist_ok=True)
    for name in lines(case / "removed.txt"):
        (root / name).unlink()
    return lines(case / "overrides.txt")


def lines(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []


def found(root: Path, overrides: list[str]) -> tuple[Diagnostic, ...]:
    """The faults of a spec, or the warnings of one that has none."""
    try:
        reviewed = review(load(root, "bad", overrides))
        experiments(root)
    except Faults as faults:
        return faults.diagnostics
    return reviewed.warnings


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_text_of_each_code(case: Path, tmp_path: Path) -> None:
    diagnostics = found(tmp_path, project(case, tmp_path))
    assert case.name in {one.code for one in diagnostics}
    for language, name in LANGUAGES.items():
        expected = case / name
        told = render(diagnostics, language=language) + "\n"
        assert told == (expected.read_text(encoding="utf-8") if expected.exists() else ""), name


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_text_is_said_in_both_languages(case: Path, tmp_path: Path) -> None:
    for text in texts(found(tmp_path, project(case, tmp_path))):
        assert isinstance(text, Said), f"written in English alone: {text}"
        formula = " = " in text  # reads the same in every language
        assert formula or re.search(r"[\u4e00-\u9fff]", text.zh), f"no Chinese: {text}"


def texts(diagnostics: Iterable[Diagnostic]) -> Iterator[str]:
    """Everything that a diagnostic tells a person."""
    for one in diagnostics:
        yield from (one.message, *(word for word, _ in one.related), *(text for text in (one.reason, one.fix) if text))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_excerpt_is_the_line_of_the_file(case: Path, tmp_path: Path) -> None:
    overrides = project(case, tmp_path)
    for fault in found(tmp_path, overrides):
        if fault.place and fault.place.text and not fault.place.file.startswith("<"):
            written = (tmp_path / fault.place.file).read_text(encoding="utf-8-sig").split("\n")
            assert written[fault.place.line - 1] == fault.place.text
            assert 1 <= fault.place.column <= len(fault.place.text) + 1


def test_project_itself_is_sound(tmp_path: Path) -> None:
    shutil.copytree(HERE / "project", tmp_path, dirs_exist_ok=True)
    assert experiments(tmp_path) == [("good", "specs/experiment/good.yaml")]
    assert validate(load(tmp_path, "good")).name == "good"


def test_every_code_of_the_front_has_a_case() -> None:
    front = {code for code in CODES if code < "MS0010" or code[:4] in ("MS01", "MS02", "MS03", "MS04")} - MACHINE
    assert front == {case.name for case in CASES}
