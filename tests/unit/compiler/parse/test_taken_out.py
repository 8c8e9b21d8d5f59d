"""`NAME: null` takes an inherited entry of a map out, from a file and from the command line; anything else that is null stays."""

from collections.abc import Callable
from pathlib import Path

import pytest

from compiler.diagnostics import Diagnostic, Faults
from compiler.parse import load
from compiler.schema import experiment_schema
from compiler.source import dotted
from compiler.spec.walk import is_map, maps
from compiler.validate import review

ROOT = Path(__file__).parents[4]
SOURCES = "data.pretrain.sources"
Project = Callable[[str], Path]


def faults(root: Path, name: str, *overrides: str) -> list[Diagnostic]:
    with pytest.raises(Faults) as caught:
        review(load(root, name, overrides))
    return list(caught.value.diagnostics)


def test_a_source_that_is_null_is_not_there(project: Project) -> None:
    root = project("data: {pretrain: {sources: {handbook: null, mine: {path: data/raw/handbook, format: text}}}}\n")
    assert set(review(load(root, "try")).spec.data.pretrain.sources) == {"mine"}
    assert set(review(load(ROOT, "demo", [f"{SOURCES}.poems=null"])).spec.data.pretrain.sources) == {"handbook_en", "handbook_zh"}


def test_the_last_source_cannot_go(project: Project) -> None:
    (fault,) = faults(project("data: {pretrain: {sources: {handbook: null}}}\n"), "try")
    assert (dotted(fault.path), fault.fix) == (SOURCES, "add a source")


def test_limits_of_a_language_go_with_its_rules(project: Project) -> None:
    clean = "{rules: {zh: %s}, limits: {zh: %s}}"
    root = project("data: {pretrain: {clean: %s}}\n" % (clean % ("none", "{han_share: 0.1}")))
    (fault,) = (one for one in faults(root, "try") if one.code == "MS0412")
    assert fault.fix.startswith("write limits: {zh: null}, which takes them out") and not fault.suggestion
    assert review(load(root, "try", ["data.pretrain.clean.limits.zh=null"])).spec.data.pretrain.clean.limits == {}


def test_null_stays_where_it_is_a_value() -> None:
    limit = "data.pretrain.clean.limits.en.stop_words"
    assert load(ROOT, "demo", [f"++{limit}=null"]).values["data"]["pretrain"]["clean"]["limits"]["en"] == {"stop_words": None}
    assert not is_map(("data", "pretrain", "clean", "limits", "en"))
    assert load(ROOT, "demo", ["data.pretrain.clean.perplexity=null"]).values["data"]["pretrain"]["clean"]["perplexity"] is None


def test_what_is_no_source_of_the_spec_is_not_taken_for_a_field() -> None:
    (fault,) = faults(ROOT, "demo", f"~{SOURCES}.poms")
    assert (fault.code, fault.suggestion, fault.fix) == ("MS0118", "", "leave it out")


def test_the_schema_of_an_experiment_lets_entries_be_null() -> None:
    declared = experiment_schema()["$defs"]
    for path in maps():
        found = [part["properties"][path[-1]] for part in declared.values() if path[-1] in part.get("properties", {})]
        assert any({"type": "null"} in one.get("additionalProperties", {}).get("anyOf", []) for one in found), path


def test_an_inherited_budget_is_named_with_its_place_and_goes_by_null(project: Project) -> None:
    own = "data: {pretrain: {mix: {budget_tokens: 2000%s}}}\n"
    (fault,) = faults(project(own % ""), "try")
    assert fault.fix == "write budget_bytes: null beside it, which takes the inherited one out"
    assert [(text, place.file) for text, place in fault.related] == [("budget_bytes is given here", "specs/mindspec.yaml")]
    assert review(load(project(own % ", budget_bytes: null"), "try")).spec.data.pretrain.mix.budget_tokens == 2000
    (fault,) = faults(project(own % ", budget_bytes: 3MB"), "try")
    assert fault.fix == "remove one of the two"
