"""Refusals of Hydra in our form: each with its own code and place, all at once, with a fix that works when it is followed."""

import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler.diagnostics import Diagnostic, Faults
from compiler.parse import load
from compiler.parse.value_reader import troubles
from compiler.validate import validate

Project = Callable[[str], Path]
ROOT = Path(__file__).parents[4]


def faults(root: Path, *overrides: str) -> tuple[Diagnostic, ...]:
    with pytest.raises(Faults) as caught:
        load(root, "try", overrides)
    return caught.value.diagnostics


def test_every_override_that_is_refused_is_told(project: Project) -> None:
    overrides = ["~nothing", "+seed=3", "model=smal", "finetune.lora.targets.9=wq", "title=a=b", "seed=1,2", "hydra.verbose=true", "x=on"]
    found = [(fault.code, str(fault.place).partition(":")[0]) for fault in faults(project(""), *overrides)]
    codes = ["MS0118", "MS0118", "MS0106", "MS0119", "MS0107", "MS0109", "MS0120", "MS0104"]
    assert found == [(code, f"<override {number}>") for number, code in enumerate(codes, 1)]


def test_every_entry_of_a_defaults_list_is_told(project: Project) -> None:
    root = project("defaults: [_self_, /nothing, {override /modle: small}, {override /model: smal}, {override /experiment: good}]\n")
    assert [fault.code for fault in faults(root)] == ["MS0106", "MS0115", "MS0106", "MS0120"]


def test_refusals_of_files_and_overrides_come_together(project: Project) -> None:
    root = project("defaults: [_self_, {override /model: smal}]\n")
    assert [(fault.code, str(fault.place)[:9]) for fault in faults(root, "title=a=b")] == [("MS0107", "<override"), ("MS0106", "specs/exp")]


@pytest.mark.parametrize(
    ("override", "column", "words"),
    [
        ("title='abc", 7, "the quote ' is never closed"),
        ('title=a"bc', 8, 'the quote " is never closed'),
        ("title=[a,{b:c]", 14, "] closes nothing"),
        ("title={a:[1}", 12, "} closes nothing"),
        ("title={a:1", 7, "{ is never closed"),
        ("title=a}", 8, "} closes nothing"),
        ("title=data/x=1", 13, "= has no place"),
        ("title=a;b", 8, "; has no place"),
        ("title=[a,,b]", 10, "nothing stands before the comma"),
        ("title=[a,]", 10, "nothing stands behind the last comma"),
        ("title=a,", 8, "nothing stands behind the last comma"),
        ("title=,a", 7, "nothing stands before the comma"),
        ("title=(a)", 7, "( calls a function"),
        ("title=a{b}", 8, "stands within a text"),
        ("title='a''b'", 10, "a quoted text stands beside other text"),
        ("title='a'b", 10, "other text stands beside a quoted text"),
        ("title=foo(1)", 7, "Hydra has no function foo"),
    ],
)
def test_the_caret_is_at_the_character(override: str, column: int, words: str, project: Project) -> None:
    (fault,) = faults(project(""), override)
    assert (fault.code, fault.place and fault.place.column) == ("MS0107", column)
    assert words in fault.message


@pytest.mark.parametrize(
    ("override", "meant"),
    [
        ("title=data/x=1", 'title="data/x=1"'),
        ("title=it's", 'title="it\'s"'),
        ("finetune.lora.targets=[wq,]", "finetune.lora.targets=[wq]"),
        ("finetune.lora.targets=[wq,,wk]", "finetune.lora.targets=[wq,wk]"),
        ("+seed=3", "seed=3"),
        ("++model=small", "model=small"),
        ("+model=small", "model=small"),
        ("model@pretrain=small", "model=small"),
        ("model=smal", "model=small"),
        ("-seed=3", "seed=3"),
        ("/model=small", "model=small"),
        ("seed:3", "seed=3"),
        ("seed 3", "seed=3"),
        ("seed: 3", "seed=3"),
        ("~pretrain.stpes", "~pretrain.steps"),
        ("~model=large", "~model"),
        ("title=语料/新闻.jsonl", 'title="语料/新闻.jsonl"'),
        ("title=[语料,b]", 'title=["语料",b]'),
    ],
)
def test_the_override_that_is_offered_composes(override: str, meant: str, project: Project) -> None:
    root = project("")
    (fault,) = faults(root, override)
    assert fault.suggestion == meant
    assert override.startswith("model=") or shlex.quote(meant) in fault.fix or meant in fault.fix
    load(root, "try", [meant])


@pytest.mark.parametrize(
    ("overrides", "code"),
    [
        (["~finetune.lora.targets.0"], "MS0107"),
        (["~finetune.lora.targets[0]"], "MS0107"),
        (["seed=1", "seed=2"], "MS0103"),
        (["model=small", "model=small"], "MS0103"),
        (["model=../experiment/good"], "MS0106"),
        (["title@x=3"], "MS0115"),
        (["title=a\nb"], "MS0107"),
        (["hydra=3"], "MS0120"),
        (["+hydra=3"], "MS0120"),
        (["~experiment"], "MS0120"),
        (["title:x=4"], "MS0107"),
        (["finetune.lora.targets.-1=a"], "MS0107"),
    ],
)
def test_odd_overrides_are_refused_in_place(overrides: list[str], code: str, project: Project) -> None:
    (fault,) = faults(project(""), *overrides)
    assert (fault.code, fault.place and fault.place.file) == (code, f"<override {len(overrides)}>")


def test_a_group_needs_its_slash(project: Project) -> None:
    (fault,) = faults(project("defaults: [_self_, {override model: small}]\n"))
    assert (fault.code, fault.suggestion) == ("MS0115", "/model")


def test_a_circle_is_shown_where_it_closes(project: Project) -> None:
    root = project("defaults: [other, _self_]\n")
    other = root / "specs/experiment/other.yaml"
    other.write_text("# @package _global_\nname: other\ndefaults: [_self_, try]\n", encoding="utf-8")
    (fault,) = faults(root)
    assert (fault.code, str(fault.place)) == ("MS0121", "specs/experiment/other.yaml:3:20")


def test_a_reference_is_led_to_what_was_meant(project: Project) -> None:
    (fault,) = faults(project("title: ${pretrain.shedule.peak} of ${seed}\n"))
    assert (fault.code, fault.suggestion) == ("MS0111", "${pretrain.schedule.peak} of ${seed}")


def test_two_wrong_keys_in_one_run_are_both_led_home(project: Project) -> None:
    with pytest.raises(Faults) as caught:
        validate(load(project("pretrain: {schedule: {warmup-steps: 10, learing_rate: 1.0e-4}}\n"), "try"))
    assert [(fault.code, fault.suggestion) for fault in caught.value.diagnostics] == [
        ("MS0201", "pretrain.schedule.warmup_steps"),
        ("MS0201", "pretrain.schedule.peak"),
    ]


@settings(max_examples=150, deadline=None)
@given(text=st.text(alphabet="ab1,:='\"\\[]{}() ;$", max_size=9))
def test_what_hydra_reads_is_in_no_trouble(text: str) -> None:
    """The reader that explains never contradicts the one that decides."""
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import HydraException

    try:
        OverridesParser.create().parse_override(f"title={text}")
    except HydraException:
        return
    assert list(troubles(text)) == []
