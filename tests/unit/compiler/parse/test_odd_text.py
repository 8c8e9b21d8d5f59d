"""Files and overrides of a form that no person writes on purpose: told at their place, never with an error of Python."""

from collections.abc import Callable
from pathlib import Path

import pytest

from compiler.diagnostics import Diagnostic, Faults
from compiler.parse import load
from compiler.pipeline import compile_experiment
from compiler.project import find_project
from compiler.wording import in_language

Project = Callable[[str], Path]
FILE = "specs/experiment/try.yaml"


def told(root: Path, *overrides: str) -> list[Diagnostic]:
    with pytest.raises(Faults) as caught:
        compile_experiment(find_project(root), "try", overrides)
    return [fault for fault in caught.value.diagnostics if fault.severity == "error"]


def one(root: Path, *overrides: str) -> Diagnostic:
    (fault,) = told(root, *overrides)
    return fault


@pytest.mark.parametrize("text", ["!!int abc", "!!float abc", "!!bool maybe", "!!null something", "!!int 0x1f"])
def test_a_tag_that_its_text_does_not_fit(project: Project, text: str) -> None:
    fault = one(project(f"seed: {text}\n"))
    assert (fault.code, str(fault.place)) == ("MS0114", f"{FILE}:3:7")


def test_a_tag_that_its_text_fits(project: Project) -> None:
    assert load(project('seed: !!int "42"\n'), "try").values["seed"] == 42


@pytest.mark.parametrize("number", ["0x" + "f" * 5000, "0" + "7" * 5000, "1" + ":07" * 5000, "1_" * 3000 + "0"])
def test_a_number_of_thousands_of_digits_in_another_notation(project: Project, number: str) -> None:
    assert one(project(f"seed: {number}\n")).code == "MS0104"


@pytest.mark.parametrize("levels", [60, 400, 990])
def test_mappings_nested_deeper_than_any_field(project: Project, levels: int) -> None:
    fault = one(project("model: " + "{a: " * levels + "1" + "}" * levels + "\n"))
    assert fault.code == "MS0102" and "nest" in fault.message


@pytest.mark.parametrize(
    ("text", "column", "wanted"),
    [
        ("title：x\n", 6, ":"),
        ("model: {hidden_size: 64，num_layers: 2}\n", 24, ","),
        ("model: ｛hidden_size: 64｝\n", 8, "{"),
    ],
)
def test_full_width_punctuation_is_shown_where_it_stands(project: Project, text: str, column: int, wanted: str) -> None:
    fault = one(project(text))
    assert (fault.code, str(fault.place)) == ("MS0102", f"{FILE}:3:{column}")
    assert f"`{wanted}`" in fault.fix and "半角" in in_language(fault.fix, "zh")


def test_full_width_punctuation_of_a_title_is_text_like_any_other(project: Project) -> None:
    fault = one(project("title: 注：你好，世界 {\nseed: [1\n"))
    assert "full-width" not in fault.fix


def test_a_full_width_colon_within_a_flow_mapping(project: Project) -> None:
    fault = one(project("model: {hidden_size：64}\n"))
    assert fault.code == "MS0201" and "full-width" in fault.fix


@pytest.mark.parametrize(("written", "plain"), [("１２", "12"), ("−1", "-1"), ("12\u200b", "12"), ("1２", "12")])
def test_look_alikes_of_digits(project: Project, written: str, plain: str) -> None:
    fault = one(project(f"seed: {written}\n"))
    assert (fault.code, fault.suggestion) == ("MS0203", plain)


def test_a_folder_is_no_option_of_a_group(project: Project) -> None:
    root = project("")
    (root / "specs/model/large.yaml").mkdir()
    fault = one(root, "model=large")
    assert fault.code == "MS0106" and "large" not in fault.fix


@pytest.mark.parametrize("key", ["a" * 300, ".".join("a" * 3000)])
def test_a_key_longer_than_a_file_name(project: Project, key: str) -> None:
    assert one(project(""), f"{key}=1").code == "MS0107"


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ('data: {pretrain: {sources: {handbook: {path: "data/%s"}}}}\n', "data.pretrain.sources.handbook.path"),
        ('model: {from_hf: "data/%s"}\n', "model.from_hf"),
    ],
)
def test_a_path_longer_than_a_file_name(project: Project, text: str, path: str) -> None:
    assert [fault.as_dict()["path"] for fault in told(project(text % ("x" * 300)))] == [path]


@pytest.mark.parametrize("name", ["a" * 300, "x/" * 200])
def test_an_option_longer_than_a_file_name(project: Project, name: str) -> None:
    assert one(project(""), f"model={name}").code == "MS0106"


@pytest.mark.parametrize("head", ["", "# @package other\n"])
def test_a_file_without_its_header_has_one_fault(project: Project, head: str) -> None:
    root = project("")
    (root / FILE).write_text(f"{head}name: try\nseed: 3\n")
    fault = one(root)
    assert fault.code == "MS0201" and "# @package _global_" in fault.fix


@pytest.mark.parametrize("name", ["Two Words", '""', "../try"])
def test_an_improper_name_is_told_once(project: Project, name: str) -> None:
    root = project("")
    (root / FILE).write_text(f"# @package _global_\nname: {name}\n")
    assert one(root).code == "MS0003"


def test_a_name_that_is_not_there_is_told_once(project: Project) -> None:
    root = project("")
    (root / FILE).write_text("# @package _global_\nseed: 3\n")
    assert one(root).code == "MS0003"


def test_what_an_override_took_away_is_missing_there(project: Project) -> None:
    fault = one(project(""), "~seed")
    assert (fault.code, str(fault.place)) == ("MS0202", "<override 1>:1:2")


def test_a_name_longer_than_the_name_of_a_folder(project: Project) -> None:
    root = project("")
    (root / FILE).write_text(f"# @package _global_\nname: {'a' * 250}\n")
    with pytest.raises(Faults) as caught:
        load(root, "a" * 250)
    assert [fault.code for fault in caught.value.diagnostics] == ["MS0003"]


def test_a_path_with_a_character_that_no_path_has(project: Project) -> None:
    assert one(project('model: {from_hf: "hf\\0"}\n')).code == "MS0315"


def test_what_the_system_refuses_is_told_in_chinese(project: Project) -> None:
    root = project("")
    (root / FILE).unlink()
    (root / FILE).mkdir()
    with pytest.raises(Faults) as caught:
        load(root, "try")
    assert "文件无法读取：是文件夹" in caught.value.diagnostics[0].message.zh  # type: ignore[attr-defined]
