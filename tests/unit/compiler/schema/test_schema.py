"""The committed schemas are those of the declaration, and the committed specs follow them."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from compiler import schema
from compiler.parse import experiments, load
from compiler.parse.files import read

ROOT = Path(__file__).parents[4]
SPECS = sorted(path for path in (ROOT / "specs").rglob("*.yaml") if path.parent.name not in ("template", "prompt"))


@pytest.mark.parametrize("name", sorted(schema.schemas()))
def test_committed_equals_generated(name: str) -> None:
    assert (ROOT / schema.FOLDER / name).read_text(encoding="utf-8") == schema.text(schema.schemas()[name])


def test_no_schema_is_left_over() -> None:
    assert {file.name for file in (ROOT / schema.FOLDER).glob("*.json")} == set(schema.schemas())


@pytest.mark.parametrize("name", sorted(schema.schemas()))
def test_valid_against_the_metaschema(name: str) -> None:
    Draft202012Validator.check_schema(schema.schemas()[name])


def test_write_gives_the_same_files(tmp_path: Path) -> None:
    for file in schema.write(tmp_path):
        assert file.read_bytes() == (ROOT / schema.FOLDER / file.name).read_bytes()


@pytest.mark.parametrize("file", SPECS, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_each_spec_file_follows_the_schema_it_names(file: Path) -> None:
    parsed = read(ROOT, file)
    header = [line for line in parsed.text.splitlines()[:2] if line.startswith("# yaml-language-server: $schema=")]
    named = json.loads((file.parent / header[0].partition("=")[2]).read_text(encoding="utf-8"))
    assert not parsed.faults
    assert not list(Draft202012Validator(named).iter_errors(parsed.values))


@pytest.mark.parametrize("name", [name for name, _ in experiments(ROOT)])
def test_composed_experiments_follow_the_whole_schema(name: str) -> None:
    assert not list(Draft202012Validator(schema.spec_schema()).iter_errors(load(ROOT, name).values))


def errors(name: str, values: dict[str, Any]) -> int:
    return len(list(Draft202012Validator(schema.schemas()[name]).iter_errors(values)))


def test_an_experiment_file_may_be_partial_and_refer() -> None:
    assert errors("experiment.schema.json", {"pretrain": {"steps": "${finetune.steps}"}, "defaults": ["_self_"]}) == 0
    assert errors("experiment.schema.json", {"pretrain": {"steps": "many"}}) == 1
    assert errors("experiment.schema.json", {"pretrain": {"stepps": 3}}) == 1


def test_a_whole_spec_may_not() -> None:
    assert errors("spec.schema.json", {}) > 1


def test_a_group_file_has_the_fields_of_its_group() -> None:
    assert errors("model.schema.json", {"num_layers": 2}) == 0
    assert errors("model.schema.json", {"model": {"num_layers": 2}}) == 1


def test_fields_carry_class_and_both_docs() -> None:
    memory = schema.spec_schema()["$defs"]["Device"]["properties"]["memory"]
    assert memory["x-mindspec-class"] == "placement"
    assert memory["x-unit"] == "bytes"
    assert memory["description"] and memory["x-doc-zh"]
