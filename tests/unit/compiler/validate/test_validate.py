"""From tree to spec."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import ValidationError

from compiler.diagnostics import Faults
from compiler.parse import load
from compiler.schema import spec_schema
from compiler.source import leaves
from compiler.spec import Spec
from compiler.validate import validate
from compiler.validate.rules import RULES

Project = Callable[[str], Path]
ROOT = Path(__file__).parents[4]


def faults(root: Path, *overrides: str) -> list[tuple[str, str]]:
    with pytest.raises(Faults) as caught:
        validate(load(root, "try", list(overrides)))
    return [(fault.code, fault.suggestion) for fault in caught.value.diagnostics]


@pytest.mark.parametrize("name", ["demo", "smoke"])
def test_shipped_experiments_are_sound(name: str) -> None:
    spec = validate(load(ROOT, name))
    assert spec.name == name
    assert spec.model_dump() == json.loads(json.dumps(spec.model_dump(), allow_nan=False))
    assert Spec.model_validate(spec.model_dump()) == spec


def test_the_smoke_experiment_walks_the_data_path_of_the_demo() -> None:
    demo, smoke = (validate(load(ROOT, name)) for name in ("demo", "smoke"))
    assert smoke.data.pretrain.sources == demo.data.pretrain.sources
    assert smoke.data.instruct == demo.data.instruct
    assert smoke.pretrain.steps < demo.pretrain.steps // 10


def test_sizes_end_as_bytes(project: Project) -> None:
    spec = validate(load(project(""), "try", ["device.memory=2GiB"]))
    assert (spec.device.memory, spec.data.pretrain.mix.budget_bytes) == (2**31, 10**6)


def test_faults_of_structure_and_meaning_come_together(project: Project) -> None:
    found = faults(project("pretrain: {lr: 3}\nmodel: {hidden_size: 66}\n"), "seed=-1")
    assert [code for code, _ in found] == ["MS0205", "MS0201", "MS0301"]


def test_meaning_of_one_training_section_while_the_other_is_broken(project: Project) -> None:
    found = faults(project("pretrain: {steps: many}\nfinetune: {checkpoint: {keep: 1}}\n"))
    assert [code for code, _ in found] == ["MS0203", "MS0345"]


@pytest.mark.parametrize(
    ("override", "suggestion"),
    [
        ("pretrain.warmup-steps=4", "pretrain.schedule.warmup_steps"),
        ("pretrain.learing_rate=4", "pretrain.schedule.peak"),
        ("pretrain.batch_size=4", "pretrain.micro_batch"),
        ("finetune.lora.target_modules=[wq]", "finetune.lora.targets"),
        ("finetune.lora_rank=4", "finetune.lora.rank"),
        ("model.num_hidden_layers=4", "model.num_layers"),
        ("Model.num_layers=4", "model"),
        ("parallel.tp=2", "parallel.tensor"),
        ("data.pretrain.sources.handbook.fromat=html", "data.pretrain.sources.handbook.format"),
    ],
)
def test_an_unknown_key_is_led_to_its_section(override: str, suggestion: str, project: Project) -> None:
    assert faults(project(""), override) == [("MS0201", suggestion)]


def test_a_misspelt_key_is_not_also_missing(project: Project) -> None:
    root = project("data: {pretrain: {sources: {poems: {pth: a, format: text}}}}\n")
    assert faults(root) == [("MS0201", "data.pretrain.sources.poems.path")]


def test_a_union_is_explained_by_the_branch_that_was_meant(project: Project) -> None:
    with pytest.raises(Faults) as caught:
        validate(load(project("parallel: {tensor: '8'}\n"), "try"))
    (fault,) = caught.value.diagnostics
    assert (fault.code, fault.path, fault.suggestion) == ("MS0207", ("parallel", "tensor"), "8")
    assert "auto" not in str(caught.value)


def test_no_message_repeats_the_instance(project: Project) -> None:
    root = project(f"report: {list(range(200))}\n")
    with pytest.raises(Faults) as caught:
        validate(load(root, "try"))
    assert caught.value.diagnostics[0].message == "expected a mapping, got a list of 200"


def test_a_list_in_place_of_a_mapping_is_located(project: Project) -> None:
    root = project("finetune:\n  lora:\n    targets: {q_proj: true}\n")
    with pytest.raises(Faults) as caught:
        load(root, "try")
    (fault,) = caught.value.diagnostics
    assert (fault.code, fault.path, str(fault.place)) == (
        "MS0203",
        ("finetune", "lora", "targets"),
        "specs/experiment/try.yaml:5:14",
    )


@pytest.mark.parametrize("target", ["q_proj", "wq", "w2", "down_proj", "gate_proj"])
def test_layers_by_either_name(target: str, project: Project) -> None:
    assert validate(load(project(""), "try", [f"finetune.lora.targets=[{target}]"]))


def test_bfloat16_is_for_devices_that_have_it(project: Project) -> None:
    root = project("model: {dtype: {compute: bfloat16}}\n")
    assert faults(root) == [("MS0305", "float32")]
    assert validate(load(root, "try", ["device.target=ascend"]))


def test_each_rule_names_sections_of_the_spec() -> None:
    assert all(rule.needs <= Spec.model_fields.keys() for rule in RULES)
    assert len({rule.check for rule in RULES}) == len(RULES)


def shuffled(value: Any, random: Random) -> Any:
    if not isinstance(value, dict):
        return value
    keys = list(value)
    random.shuffle(keys)
    return {key: shuffled(value[key], random) for key in keys}


@settings(max_examples=12, deadline=None)
@given(random=st.randoms(use_true_random=False), comment=st.sampled_from(["", "# a comment", "# 注释: {"]))
def test_order_and_comments_change_nothing(random: Random, comment: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    root = tmp_path_factory.mktemp("project")
    shutil.copytree(ROOT / "tests" / "diagnostics" / "project", root, dirs_exist_ok=True)
    before = json.dumps(validate(load(root, "good")).model_dump())
    for file in (root / "specs" / "mindspec.yaml", root / "specs" / "model" / "small.yaml"):
        values = shuffled(yaml.safe_load(file.read_text(encoding="utf-8")), random)
        file.write_text(f"{comment}\n{yaml.safe_dump(values, sort_keys=False)}{comment}\n", encoding="utf-8")
    assert json.dumps(validate(load(root, "good")).model_dump()) == before


WRONG = st.sampled_from([None, True, -1, 0, 1, 2.5, 1e300, "", "x", "8MB", "3", [], [1], ["en"], {}, {"x": 1}])


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_schema_and_types_agree(data: st.DataObject) -> None:
    values = json.loads(json.dumps(load_demo()))
    path = data.draw(st.sampled_from([path for path, _ in leaves(values)]))
    holder: Any = values
    for part in path[:-1]:
        holder = holder[part]
    holder[path[-1]] = data.draw(WRONG)
    valid = not list(Draft202012Validator(spec_schema()).iter_errors(values))
    try:
        Spec.model_validate(values)
    except ValidationError:
        assert not valid, (path, holder[path[-1]])
    else:
        assert valid, (path, holder[path[-1]])


_DEMO: dict[str, Any] = {}


def load_demo() -> dict[str, Any]:
    if not _DEMO:
        _DEMO.update(load(ROOT, "demo").values)
    return _DEMO


@pytest.mark.parametrize(
    ("override", "code"),
    [
        ("pretrain.optimizer.betas=[0,0.95]", "MS0205"),  # mindformers takes 0 < beta < 1
        ("pretrain.steps=1e30", "MS0205"),
        ("model.dtype.layernorm=float16", "MS0305"),
        ("launch.threads=1e9", "MS0205"),
        ("device.device_ids=[-1]", "MS0205"),
        ("tokenizer.character_coverage=0.5", "MS0205"),
        ("pretrain.optimizer.eps=1e-300", "MS0391"),
        ("pretrain.schedule.peak=1e-46", "MS0391"),
        ("finetune.lora.alpha=1e39", "MS0391"),
        ("finetune.lora.dropout=0.99999999999", "MS0391"),
        ("data.pretrain.clean.rules={english: gopher}", "MS0206"),
        ("tokenizer.special_tokens.pad='<0x41>'", "MS0206"),
        ("tokenizer.special_tokens.user=['\u2581x']", "MS0206"),
        ("data.pretrain.mix.budget_bytes='8MB\n'", "MS0206"),
        ("name='other\n'", "MS0206"),
        ("evaluation.suites.core.cases=data/evaluation", "MS0381"),
    ],
)
def test_what_would_fail_or_be_ignored_hours_later(override: str, code: str) -> None:
    with pytest.raises(Faults) as caught:
        validate(load(ROOT, "demo", [override]))
    assert code in [fault.code for fault in caught.value.diagnostics]


@pytest.mark.parametrize("path", ["data/raw", "data/raw/poems", "./data//raw/handbook/en/", "data/raw/handbook"])
def test_sources_that_overlap(path: str) -> None:
    with pytest.raises(Faults) as caught:
        validate(load(ROOT, "demo", [f"++data.pretrain.sources.more={{path: {path}, format: text}}"]))
    assert "MS0330" in [fault.code for fault in caught.value.diagnostics]


def test_a_variable_of_the_environment_is_told_to_be_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKERS", "3")
    with pytest.raises(Faults) as caught:
        validate(load(ROOT, "demo", ["launch.workers=${oc.env:WORKERS}"]))
    assert [fault.fix for fault in caught.value.diagnostics] == ['let the text be read as a number: "${oc.decode:${...}}"']
    assert validate(load(ROOT, "demo", ['launch.workers="${oc.decode:${oc.env:WORKERS}}"'])).launch.workers == 3
