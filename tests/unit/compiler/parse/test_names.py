"""Which file is an experiment: names that are missing, taken, improper, or in files that cannot be read."""

from collections.abc import Callable
from pathlib import Path

import pytest

from compiler.diagnostics import Faults
from compiler.parse import load

Project = Callable[[str], Path]
HEADER = "# @package _global_\n"


def write(root: Path, stem: str, text: str) -> Path:
    file = root / "specs" / "experiment" / f"{stem}.yaml"
    file.write_text(HEADER + text, encoding="utf-8")
    return file


def faults(root: Path, name: str, *overrides: str) -> list[tuple[str, str]]:
    """Code and file of each fault."""
    with pytest.raises(Faults) as caught:
        load(root, name, overrides)
    return [(fault.code, fault.place.file if fault.place else "") for fault in caught.value.diagnostics]


def test_a_name_is_never_taken_from_the_experiment_below(project: Project) -> None:
    root = project("")
    write(root, "derived", "defaults: [good, _self_]\nseed: 7\n")
    assert ("MS0003", "specs/experiment/derived.yaml") in faults(root, "derived")


def test_two_files_of_one_name(project: Project) -> None:
    root = project("")
    write(root, "again", "name: try\nseed: 7\n")
    assert faults(root, "try") == [("MS0002", "specs/experiment/try.yaml")]


def test_an_override_cannot_take_the_name_of_another_experiment(project: Project) -> None:
    root = project("")
    assert faults(root, "try", "name=good") == [("MS0002", "<override 1>")]
    assert load(root, "try", ["name=better"]).values["name"] == "better"


@pytest.mark.parametrize("written", ["Other", "a.b", "..", '"other\\n"', "${title}", "???"])
def test_an_improper_name_is_shown_where_it_stands(project: Project, written: str) -> None:
    root = project("")
    write(root, "other", f"name: {written}\n")
    assert ("MS0003", "specs/experiment/other.yaml") in faults(root, "other")


@pytest.mark.parametrize("stem", ["12", "true", "null", "nan", "1e3", "\u4e2d\u6587", "a b", "a,b", "x'y", "A.B", "a=b", "[a]"])
def test_any_file_name_will_do(project: Project, stem: str) -> None:
    root = project("")
    write(root, stem, "name: other\n")
    assert load(root, "other").values["name"] == "other"


def test_a_file_that_cannot_be_read_is_a_located_fault(project: Project) -> None:
    root = project("")
    (root / "specs/experiment/loop.yaml").symlink_to("loop.yaml")
    (root / "specs/experiment/folder.yaml").mkdir()
    assert load(root, "try").values["name"] == "try"
    assert faults(root, "loop") == [("MS0028", "specs/experiment/loop.yaml")]
    assert [code for code, _ in faults(root, "absent")] == ["MS0001", "MS0028", "MS0028"]


def test_a_group_is_overridden_once(project: Project) -> None:
    root = project("defaults: [{override /model: small}, {override /model: small}, _self_]\n")
    assert faults(root, "try") == [("MS0116", "specs/experiment/try.yaml")]


def test_an_experiment_cannot_choose_the_experiment(project: Project) -> None:
    root = project("defaults: [{override /experiment: good}, _self_]\n")
    assert faults(root, "try") == [("MS0120", "specs/experiment/try.yaml")]


@pytest.mark.parametrize(
    ("text", "code"),
    [("seed: " + "9" * 5000 + "\n", "MS0205"), ("title: " + "${oc.select:" * 400 + "a" + "}" * 400 + "\n", "MS0111")],
    ids=["digits", "references"],
)
def test_what_python_refuses_to_read_is_a_fault(project: Project, text: str, code: str) -> None:
    assert code in dict(faults(project(text), "try"))


@pytest.mark.parametrize("override", ["seed=" + "9" * 5000, "title=" + "[" * 2000 + "]" * 2000], ids=["digits", "brackets"])
def test_what_hydra_cannot_read_is_a_fault(project: Project, override: str) -> None:
    assert {code for code, _ in faults(project(""), "try", override)} == {"MS0107"}
