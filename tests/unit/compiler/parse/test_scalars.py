"""One reading of an unquoted scalar, in a file and in an override."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from compiler.diagnostics import Faults
from compiler.parse import load
from compiler.parse.scalars import SpecLoader, is_ambiguous
from compiler.validate import validate

Project = Callable[[str], Path]


@pytest.mark.parametrize("text", ["2e-5", "2.0e-5", "0.00002", "2E-05", ".00002"])
def test_one_float_however_it_is_written(text: str, project: Project) -> None:
    root = project(f"pretrain: {{schedule: {{final: {text}}}}}\n")
    in_file = validate(load(root, "try")).pretrain.schedule.final
    in_override = validate(load(root, "good", [f"pretrain.schedule.final={text}"])).pretrain.schedule.final
    assert in_file == in_override == 2e-5


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12", 12), ("-3", -3), ("+3", 3), ("0", 0), ("1e5", 1e5), ("1.", 1.0), ("true", True), ("False", False),
        ("null", None), ("~", None), ("", None), ("y", "y"), ("2024-01-01", "2024-01-01"), ("8MB", "8MB"), ("e5", "e5"),
        ("1.2.3", "1.2.3"), ("中文", "中文"),
    ],
)  # fmt: skip
def test_readings(text: str, value: Any) -> None:
    found = yaml.load(f"x: {text}", Loader=SpecLoader)["x"]
    assert (found, type(found)) == (value, type(value))
    assert not is_ambiguous(text)


@pytest.mark.parametrize(
    "text",
    ["on", "Off", "YES", "no", "tRUE", "nULL", "0123", "-07", "0005747", "00.5", "0x1F", "0o17", "0b11", "1_000", "12:30",
     "1:02:03", "nan", "Inf", "-inf"],
)  # fmt: skip
def test_refused_in_file_and_override_alike(text: str, project: Project) -> None:
    root = project(f"title: {text}\n")
    for name, overrides in (("try", []), ("good", [f"title={text}"])):
        with pytest.raises(Faults) as caught:
            load(root, name, overrides)
        assert [fault.code for fault in caught.value.diagnostics] == ["MS0104"]
        assert caught.value.diagnostics[0].suggestion == f'"{text}"'


@pytest.mark.parametrize("text", ["on", "0123", "12:30", "12e5", "no", "0005747", "null"])
def test_quotes_keep_the_characters(text: str, project: Project) -> None:
    root = project(f"title: '{text}'\n")
    assert validate(load(root, "try")).title == text
    assert validate(load(root, "good", [f'title="{text}"'])).title == text


def test_an_identifier_that_became_a_number_is_refused(project: Project) -> None:
    with pytest.raises(Faults) as caught:
        validate(load(project("compare: {baseline: 12e5}\n"), "try"))
    fault = caught.value.diagnostics[0]
    assert (fault.code, fault.suggestion) == ("MS0208", '"12e5"')
