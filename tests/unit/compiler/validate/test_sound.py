"""A fault of structure hides no fault of meaning, and brings none about."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compiler.diagnostics import Diagnostic, Faults
from compiler.parse import load
from compiler.pipeline import compile_experiment
from compiler.project import Project as CompiledProject
from compiler.source import SourceTree, children
from compiler.spec import Spec
from compiler.spec.train import Lora
from compiler.validate import check, review, validate
from compiler.validate.rules import Rule
from compiler.validate.sound import sound_part

Project = Callable[[str], Path]
ROOT = Path(__file__).parents[4]


def errors(root: Path, *overrides: str) -> list[tuple[str, str]]:
    """Code and path of each error."""
    with pytest.raises(Faults) as caught:
        validate(load(root, "try", overrides))
    return [(fault.code, fault.as_dict()["path"]) for fault in caught.value.diagnostics if fault.severity == "error"]


def test_a_quoted_number_and_a_warm_up_that_never_ends(project: Project) -> None:
    root = project('finetune: {lora: {rank: "8"}, schedule: {warmup_steps: 500}}\n')
    assert errors(root) == [("MS0207", "finetune.lora.rank"), ("MS0341", "finetune.schedule.warmup_steps")]


def test_an_unknown_key_and_an_odd_head(project: Project) -> None:
    root = project("model: {hidden_size: 36, num_heads: 4, num_kv_heads: 4, colour: red}\n")
    assert set(errors(root)) == {("MS0303", "model.hidden_size"), ("MS0201", "model.colour")}


def test_a_malformed_size_and_a_source_that_does_not_exist(project: Project) -> None:
    root = project("data: {pretrain: {ingest: {max_line_bytes: 0.5B}, sources: {handbook: {path: data/raw/handbok}}}}\n")
    assert errors(root) == [("MS0206", "data.pretrain.ingest.max_line_bytes"), ("MS0322", "data.pretrain.sources.handbook.path")]


def test_one_broken_training_leaves_the_other_to_be_judged(project: Project) -> None:
    root = project("pretrain: {steps: many}\nfinetune: {schedule: {warmup_steps: 900}}\n")
    assert errors(root) == [("MS0203", "pretrain.steps"), ("MS0341", "finetune.schedule.warmup_steps")]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("pretrain: {schedule: {warmup-steps: 500}}\n", [("MS0201", "pretrain.schedule.warmup-steps")]),
        ("compare: {gate: true, base_line: good}\n", [("MS0201", "compare.base_line")]),
        ("pretrain: {steps: '3'}\n", [("MS0207", "pretrain.steps")]),
        ("data: {pretrain: {sources: {handbook: 3}}}\n", [("MS0203", "data.pretrain.sources.handbook")]),
        ("evaluation: {metrics: [perplexty, exact_match]}\n", [("MS0204", "evaluation.metrics[0]")]),
        ("parallel: {data: two}\n", [("MS0203", "parallel.data")]),
        ("tokenizer: {vocab_size: tiny}\n", [("MS0203", "tokenizer.vocab_size")]),
    ],
)
def test_what_follows_from_a_fault_is_not_told(text: str, told: list[tuple[str, str]], project: Project) -> None:
    assert errors(project(text)) == told


def test_a_fault_of_ours_still_surfaces(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(spec: Spec, _tree: SourceTree) -> list[Diagnostic]:
        return [spec.model.no_such_field]  # type: ignore[attr-defined]

    monkeypatch.setattr(check, "RULES", (Rule(frozenset({"model"}), broken),))
    with pytest.raises(AttributeError, match="no_such_field"):
        validate(load(project("pretrain: {steps: many}\n"), "try"))


def test_the_sound_part_of_a_sound_spec_is_the_spec() -> None:
    values = load(ROOT, "demo").values
    assert sound_part(Spec, values, ()) == Spec.model_validate(values)


def test_a_field_that_is_left_out_is_not_there() -> None:
    part = sound_part(Lora, {"rank": "x", "targets": ["wq"]}, {("rank",)})
    assert part.targets == ("wq",)
    assert part.alpha == 16.0
    with pytest.raises(AttributeError):
        _ = part.rank


def test_warnings_do_not_refuse(project: Project) -> None:
    reviewed = review(load(project(""), "try"))
    assert reviewed.spec.name == "try"
    assert all(warning.severity == "warning" and warning.place for warning in reviewed.warnings)


_VALUES: Any = load(ROOT, "demo").values


def _scalars(value: object, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    below = children(value)
    return [found for key, item in below for found in _scalars(item, (*path, key))] if below else [path]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(paths=st.lists(st.sampled_from(_scalars(_VALUES)), min_size=1, max_size=4, unique=True))
def test_values_of_a_wrong_type_are_all_told_and_nothing_else(paths: list[tuple[Any, ...]]) -> None:
    """A mapping is the type of no scalar; whatever else is right stays right."""
    tree = load(ROOT, "demo")
    values: Any = _copied(tree.values)
    for path in paths:
        above = values
        for part in path[:-1]:
            above = above[part]
        above[path[-1]] = {"a": 1}
    with pytest.raises(Faults) as caught:
        validate(SourceTree(tree.root, values, tree.places, tree.keys, tree.written))
    assert {fault.path[: len(path)] for fault in caught.value.diagnostics for path in paths if fault.path[: len(path)] == path} == set(
        paths
    )
    assert {fault.code for fault in caught.value.diagnostics if fault.severity == "error"} <= {"MS0201", "MS0202", "MS0203", "MS0204"}


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in value.items()}
    return [_copied(item) for item in value] if isinstance(value, list) else value


def told(root: Path, *overrides: str) -> list[str]:
    """Codes of all that a command would tell."""
    with pytest.raises(Faults) as caught:
        compile_experiment(CompiledProject(root), "try", overrides)
    return [fault.code for fault in caught.value.diagnostics if fault.severity == "error"]


def test_an_override_that_is_refused_hides_nothing_else(project: Project) -> None:
    root = project("model: {colour: red}\nfinetune: {schedule: {warmup_steps: 900}}\n")
    assert told(root, "title=a=b", "~nothing") == ["MS0107", "MS0118", "MS0201", "MS0341"]


@pytest.mark.parametrize(
    ("overrides", "codes"),
    [
        (["pretrain.steps=1_0", "pretrain.schedule.warmup_steps=1000"], ["MS0104"]),
        (["finetune.lora=[", "finetune.method=full"], ["MS0107"]),
        (["parallel.data=2,4", "device.count=2", "device.device_ids=[0,1]"], ["MS0109"]),
        (["model=smal", "model.colour=red"], ["MS0106"]),
    ],
)
def test_nothing_is_told_that_depends_on_a_refused_override(overrides: list[str], codes: list[str], project: Project) -> None:
    assert set(told(project(""), *overrides)) - {"MS0347", "MS0362"} == set(codes)
