"""Every file of an experiment means the same to YAML 1.1 and YAML 1.2 readers, whatever numbers and texts it was given."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from compiler.diagnostics import Faults
from compiler.difference import same
from compiler.parse import load
from compiler.pipeline import compile_experiment
from compiler.project import Project
from tests.property.mutation import Experiments, changed

RATE = st.floats(1e-12, 1e-2)
TEXT = st.text(st.characters(blacklist_categories=["Cs"]), max_size=20).filter(lambda text: "${" not in text)
PLAIN = st.sampled_from(["1e-3", "0123", "12:30", "on", "~", "null", "2024-01-01", "- x", "a: b", "#", "'", '"', "%", "@", "`", "中文：值"])
PRETRAIN = {
    "pretrain.schedule.peak": RATE,
    "pretrain.optimizer.eps": st.floats(1e-15, 1e-5),
    "pretrain.optimizer.weight_decay": st.floats(0, 0.1),
    "pretrain.optimizer.clip_norm": st.floats(0.1, 1e4),
    "finetune.lora.alpha": st.floats(0.5, 1e3),
    "data.pretrain.sources.*.weight": st.floats(1e-6, 1e6),
    "data.pretrain.split.validation": st.floats(1e-3, 0.4),
    "seed": st.integers(0, 2**32 - 1),
    "data.pretrain.mix.budget_bytes": st.integers(10**6, 2**63 - 1),
}
TEXTS = {
    "title": TEXT | PLAIN,
    "description": TEXT | PLAIN,
    "data.pretrain.sources.*.licence": PLAIN,
    "data.pretrain.sources.*.date": PLAIN,
    "data.pretrain.filter.deny": st.lists(PLAIN.filter(lambda text: text != "~"), unique=True, max_size=3),
    "tokenizer.special_tokens.pad": PLAIN.map(lambda text: text.replace(" ", "")),
}


@pytest.fixture(scope="module")
def experiments(tmp_path_factory: pytest.TempPathFactory) -> Experiments:
    return Experiments(tmp_path_factory.mktemp("project"))


def readings(path: str, content: bytes) -> Mapping[str, Any]:
    text = content.decode("utf-8")
    found = {"1.1": yaml.safe_load(text), "1.2": YAML(typ="safe", pure=True).load(text)}
    return found | ({"JSON": json.loads(text)} if path.endswith(".json") else {})


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.fixed_dictionaries({}, optional={**PRETRAIN, **TEXTS}))
def test_all_readers_read_the_same(experiments: Experiments, values: dict[str, Any]) -> None:
    try:
        compiled = experiments.compiled(changed(experiments.values, values))
    except Faults:
        reject()  # a combination that the rules refuse writes nothing
    for path, content in compiled.files.items():
        first, *others = readings(path, content).values()
        assert all(same(plain(first), plain(other)) for other in others), path
        assert b"${" not in content, path


def plain(value: Any) -> Any:
    """Without the reader's own types of mappings and lists."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value


def test_references_are_values_before_anything_is_written(experiments: Experiments) -> None:
    """A second reader would not know the functions of the first one."""
    overrides = ["finetune.steps=${pretrain.steps}", "finetune.lora.alpha=${finetune.lora.rank}", "title='\\${x}'"]
    compiled = compile_experiment(Project(experiments.root), "demo", overrides)
    params = json.loads(compiled.files["experiments/demo/params.json"])
    assert params["finetune"]["steps"] == params["pretrain"]["steps"]
    assert same(params["finetune"]["lora"]["alpha"], 8.0)
    holding = {path for path, content in compiled.files.items() if b"${" in content}
    assert holding == {"experiments/demo/presentation.yaml"}  # two characters of a title, that nobody resolves


@pytest.mark.parametrize(("written", "rate"), [("1", 1.0), ("1.0", 1.0), ("1e-3", 0.001), ("0.001", 0.001)])
def test_a_number_is_written_as_the_type_of_its_field(experiments: Experiments, written: str, rate: float) -> None:
    """DVC takes 1, 1.0 and true for equal, so that a change between them would never be seen."""
    compiled = compile_experiment(Project(experiments.root), "demo", [f"pretrain.optimizer.clip_norm={written}"])
    content = yaml.safe_load(compiled.files["experiments/demo/config/pretrain.yaml"])
    assert same(content["runner_wrapper"]["max_grad_norm"], rate)


def test_a_boolean_is_no_number(experiments: Experiments) -> None:
    for field in ("pretrain.optimizer.clip_norm", "pretrain.steps", "seed"):
        with pytest.raises(Faults, match="got the boolean true"):
            compile_experiment(Project(experiments.root), "demo", [f"{field}=true"])


def test_one_value_is_the_same_in_spec_parameters_and_configuration(experiments: Experiments) -> None:
    compiled = compile_experiment(Project(experiments.root), "demo", ["pretrain.steps=1230"])
    config = yaml.safe_load(compiled.files["experiments/demo/config/pretrain.yaml"])
    params = json.loads(compiled.files["experiments/demo/params.json"])
    assert compiled.spec.pretrain.steps == params["pretrain"]["steps"] == config["lr_schedule"]["total_steps"] == 1230


def test_the_tree_itself_holds_no_reference(experiments: Experiments) -> None:
    assert "${" not in repr(load(experiments.root, "demo", ["finetune.steps=${pretrain.steps}"]).values)
