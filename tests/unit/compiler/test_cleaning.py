"""What the cleaning of a spec compiles to, and what a run asks of the machine."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from compiler import machine
from compiler.diagnostics import Faults
from compiler.parse import load
from compiler.pipeline import compile_experiment
from compiler.project import Project
from compiler.validate import review
from runtime.contracts import installed
from runtime.contracts.sieve import KENLM

ROOT = Path(__file__).parents[3]
CLEAN = "data.pretrain.clean"
SIEVED = f"+{CLEAN}.perplexity={{reference: data/raw/handbook}}"


def files(*overrides: str) -> dict[str, Any]:
    made = compile_experiment(Project(ROOT), "demo", overrides).files
    return {path.removeprefix("experiments/demo/"): content for path, content in made.items()}


def config(stage: str, *overrides: str) -> dict[str, Any]:
    return yaml.safe_load(files(*overrides)[f"config/{stage}.yaml"])


def test_what_is_not_asked_for_is_in_no_file() -> None:
    assert set(config("clean")) == {"html", "normalization", "rules"}
    assert "sieve" not in yaml.safe_load(files()["dvc.yaml"])["stages"]


def test_the_sieve_is_a_stage_that_reads_its_reference_and_that_clean_reads() -> None:
    made = files(SIEVED)
    stages = yaml.safe_load(made["dvc.yaml"])["stages"]
    assert "../../data/raw/handbook" in stages["sieve"]["deps"]
    assert "sieve" in stages["clean"]["deps"]
    assert yaml.safe_load(made["config/sieve.yaml"]) == {"reference": "data/raw/handbook", "order": 5}
    assert yaml.safe_load(made["config/clean.yaml"])["perplexity"] == {"percentile": 0.9, "limit": None}


def test_personal_data_is_lowered_to_the_text_of_each_kind() -> None:
    asked = f"+{CLEAN}.pii={{phones: false, cards: false, placeholders: {{email: '[e-mail]'}}}}"
    assert config("clean", asked)["pii"] == {"email": "[e-mail]", "id": "<id>", "ip_address": "<ip_address>"}


def test_limits_are_lowered_as_they_stand() -> None:
    asked = f"+{CLEAN}.limits={{en: {{too_few_words: 30, symbols_per_word: null}}}}"
    assert config("clean", asked)["limits"] == {"en": {"too_few_words": 30, "symbols_per_word": None}}


@pytest.mark.parametrize(("have", "told"), [(None, "KenLM is not installed"), ("0.2.0", f"KenLM is 0.2.0, not {KENLM}")])
def test_a_run_with_a_sieve_asks_for_kenlm_and_a_check_does_not(have: str | None, told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    project, version = Project(ROOT), installed.installed_version
    monkeypatch.setattr(installed, "installed_version", lambda name: have if name == "kenlm" else version(name))
    spec = review(load(ROOT, "demo", [SIEVED])).spec
    with pytest.raises(Faults) as caught:
        machine.check_machine(project, "demo", [SIEVED], spec, {})
    fault = next(one for one in caught.value.diagnostics if one.code == "MS0417")
    assert fault.message == told and "make kenlm" in str(fault.fix)
    machine.check_machine(project, "demo", [], review(load(ROOT, "demo")).spec, {})
