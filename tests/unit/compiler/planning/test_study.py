"""From a spec to its plan: what `auto` becomes, and that it reaches the compiled files."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from compiler.cli import main
from compiler.diagnostics import Diagnostic, Faults
from compiler.parse import load
from compiler.pipeline import compile_experiment
from compiler.planning.outlook import outlooks
from compiler.planning.shape import gigabytes
from compiler.planning.study import concrete, effective_batch, studied
from compiler.project import Project
from compiler.spec import Spec
from compiler.spec.train import Layout
from compiler.validate import review

ROOT = Path(__file__).parents[4]
BILLIONS = ["model=llama2-7b", "model.seq_length=2048", "model.dtype.params=float16", "model.dtype.compute=float16"]
SCALED = ["pretrain.loss_scale.kind=dynamic", "finetune.loss_scale.kind=dynamic"]
FOUR_CARDS = ["device=gpu-4x24gb-pcie", "parallel=auto"]


def spec(*overrides: str) -> Spec:
    return review(load(ROOT, "demo", overrides), planning=True).spec


def written(*overrides: str) -> dict[str, Any]:
    files = compile_experiment(Project(ROOT), "demo", overrides).files
    return {stage: yaml.safe_load(files[f"experiments/demo/config/{stage}.yaml"]) for stage in ("pretrain", "finetune")}


def codes(*overrides: str) -> list[str]:
    try:
        return [one.code for one in review(load(ROOT, "demo", overrides)).warnings]
    except Faults as faults:
        return [one.code for one in faults.diagnostics]


def test_on_one_device_auto_compiles_to_the_files_of_the_written_layout() -> None:
    assert compile_experiment(Project(ROOT), "demo", ["parallel=auto"]).files == compile_experiment(Project(ROOT), "demo").files


def refused(*overrides: str) -> Diagnostic:
    """The one error of a spec."""
    with pytest.raises(Faults) as caught:
        review(load(ROOT, "demo", overrides))
    (fault,) = [one for one in caught.value.diagnostics if one.severity == "error"]
    return fault


def peak(*overrides: str) -> int:
    """Bytes of pre-training, the larger of the demo's trainings."""
    return outlooks(spec(*overrides))[0].ledger.peak


def test_what_does_not_fit_in_one_pass_is_accumulated_at_the_same_effective_batch() -> None:
    halves = peak("pretrain.micro_batch=8", "pretrain.accumulation=2")
    assert halves < peak()
    tight = concrete(spec("parallel=auto", f"device.memory={halves * 13 // 10 + 1}"))
    assert tight.parallel == Layout()
    assert (tight.pretrain.micro_batch, tight.pretrain.accumulation) == (8, 2)
    assert effective_batch(tight.pretrain, Layout()) == 16


ONE_GPU = ["device=gpu", "model.num_layers=64"]


def test_auto_compiles_on_one_accelerator_where_one_pass_fits_with_recomputation() -> None:
    memory = peak(*ONE_GPU, "parallel.recompute=full") * 13 // 10 + 1
    overrides = [*ONE_GPU, f"device.memory={memory}", "parallel=auto"]
    assert studied(spec(*overrides)).candidates[-1].accumulated, "accumulation would fit as well"
    assert codes(*overrides) == []
    assert written(*overrides)["pretrain"]["recompute_config"]["recompute"] is True


def test_auto_on_one_accelerator_says_which_update_fits_in_one_pass() -> None:
    memory = peak(*ONE_GPU, "parallel.recompute=full", "pretrain.micro_batch=6") * 13 // 10 + 1
    fault = refused(*ONE_GPU, f"device.memory={memory}", "parallel=auto", "finetune.micro_batch=1")
    assert (fault.code, fault.path) == ("MS0352", ("parallel",))
    assert "what fits takes pretrain in" in fault.message
    assert "at most 6 of 16 rows fit: write pretrain.accumulation: 1, pretrain.micro_batch: 6 for" in fault.fix
    assert codes(*ONE_GPU, f"device.memory={memory}", "parallel=auto", "finetune.micro_batch=1", "pretrain.micro_batch=6") == []


def test_accumulation_on_one_accelerator_names_the_recomputation_that_makes_room() -> None:
    memory = peak(*ONE_GPU, "parallel.recompute=full") * 13 // 10 + 1
    fault = refused(*ONE_GPU, f"device.memory={memory}", "pretrain.micro_batch=2", "pretrain.accumulation=8", "finetune.micro_batch=1")
    assert (fault.code, fault.path) == ("MS0352", ("pretrain", "accumulation"))
    assert "write pretrain.accumulation: 1, pretrain.micro_batch: 16, parallel.recompute: full for the same effective batch" in fault.fix


def test_layouts_that_would_be_refused_for_their_accumulation_are_not_offered() -> None:
    memory = peak(*ONE_GPU, "parallel.recompute=full", "pretrain.micro_batch=6") * 13 // 10 + 1
    fault = refused(*ONE_GPU, f"device.memory={memory}", "finetune.micro_batch=1")
    assert fault.code == "MS0366"
    assert "layouts that fit" not in fault.fix
    assert "at most 6 rows of an update fit with recompute: full" in fault.fix


def test_sixteen_bits_and_adapters_are_advised_only_where_they_help() -> None:
    fault = refused(*BILLIONS, *SCALED, "device=gpu", "parallel=auto", "device.memory=2GB")
    assert "16-bit" not in fault.fix
    assert "LoRA" not in fault.fix
    assert "16-bit" in refused("device=gpu", "parallel=auto", "device.memory=1MB").fix


@pytest.mark.parametrize(("replicas", "told"), [(512, "gate_proj 11008, up_proj 11008 do not"), (3, "rows of q_proj 4096")])
def test_matrices_that_sharding_leaves_whole_are_named(replicas: int, told: str) -> None:
    overrides = [*BILLIONS[:2], "device=ascend-8x64gb", f"device.count={replicas}", "finetune.micro_batch=1", "pretrain.micro_batch=1"]
    try:
        found = review(load(ROOT, "demo", [*overrides, f"parallel={{data: {replicas}, optimizer_sharding: 3}}"]), planning=True).warnings
    except Faults as faults:
        found = faults.diagnostics
    assert any(one.code == "MS0372" and told in one.message for one in found)


def test_auto_reaches_the_files_of_several_devices() -> None:
    configs = written(*FOUR_CARDS, "pretrain.micro_batch=16")
    for config in configs.values():
        assert config["use_parallel"] is True
        assert config["parallel_config"]["data_parallel"] == 4
        assert config["parallel_config"]["pipeline_stage"] == 1
        assert config["runner_config"]["batch_size"] == 4


def test_a_pipeline_takes_its_micro_batches_from_the_effective_batch() -> None:
    layout = Layout(data=2, pipeline=2, micro_batches=8)
    training = spec().pretrain.model_copy(update={"micro_batch": 3})
    assert effective_batch(training, layout) == 3 * 8 * 2
    assert effective_batch(training, "auto") == 3


def test_where_nothing_fits_auto_is_an_error_with_the_numbers_and_the_ways_out() -> None:
    with pytest.raises(Faults) as caught:
        review(load(ROOT, "demo", [*BILLIONS, *SCALED, *FOUR_CARDS]))
    (fault,) = [one for one in caught.value.diagnostics if one.code == "MS0366"]
    assert fault.severity == "error"
    assert "no layout of 4 devices fits" in fault.message
    assert "x 1.3 =" in fault.reason
    assert "> 24.0 GB" in fault.reason
    assert "more devices" in fault.fix
    assert "LoRA" in fault.fix


def test_where_no_division_is_legal_auto_says_which_batch_would_be() -> None:
    with pytest.raises(Faults) as caught:
        review(load(ROOT, "demo", ["parallel=auto", "device.count=3", "device.device_ids=[0,1,2]"]))
    (fault,) = [one for one in caught.value.diagnostics if one.severity == "error"]
    assert fault.code == "MS0361"
    assert "16 rows (pretrain) does not divide by 3" in fault.reason
    assert "such as 18" in fault.fix


@pytest.mark.parametrize(("share", "severity"), [(0.9, "error"), (1.1, "warning"), (1.31, "")])
def test_a_peak_above_the_memory_is_an_error_and_a_lack_of_headroom_a_warning(share: float, severity: str) -> None:
    memory = f"device.memory={int(share * peak('device=gpu'))}"
    reviewed = review(load(ROOT, "demo", ["device=gpu", memory]), planning=True)
    found = [one for one in reviewed.warnings if one.message.startswith("pretrain needs")]
    assert [(one.code, one.severity) for one in found] == ([("MS0366", severity)] if severity else [])


def test_the_published_recipe_for_four_cards_is_refused_with_the_arithmetic_and_the_layouts_that_fit() -> None:
    recipe = "parallel={data: 2, tensor: 2, pipeline: 2, micro_batches: 4}"
    with pytest.raises(Faults) as caught:
        review(load(ROOT, "demo", ["device=gpu-4x24gb-pcie", recipe]))
    (fault,) = [one for one in caught.value.diagnostics if one.code == "MS0361"]
    assert "2 x 2 x 2 = 8, but 4 devices" in fault.message
    assert "layouts that fit: {data: 4}" in fault.fix


@pytest.mark.parametrize(
    ("layout", "code"),
    [
        ("{data: 4}", None),
        ("{tensor: 4}", "MS0367"),
        ("{pipeline: 4, micro_batches: 4}", "MS0368"),
        ("{pipeline: 2, data: 2, micro_batches: 4}", "MS0369"),
        ("{data: 4, micro_batches: 2}", "MS0363"),
        ("{pipeline: 4, micro_batches: 2}", "MS0363"),
        ("{tensor: 4, optimizer_sharding: 1}", "MS0367"),
        ("{context: 4}", "MS0367"),
    ],
)
def test_a_written_layout_is_held_against_the_devices(layout: str, code: str | None) -> None:
    found = set(codes("device=gpu-4x24gb-pcie", f"parallel={layout}")) - {"MS0362"}
    assert (code in found) if code else not found & {"MS0361", "MS0363", "MS0364", "MS0366", "MS0367", "MS0368", "MS0369"}


def test_a_heavier_layout_that_is_faster_is_not_warned_of() -> None:
    """Sharding 1 without recomputation is heavier than full recomputation alone, and saves a third of the compute."""
    eight = ["device=ascend-8x64gb", *BILLIONS[:2], "model.dtype.params=bfloat16", "model.dtype.compute=bfloat16"]
    assert studied(spec(*eight, "parallel=auto")).best is not None
    assert "MS0369" not in codes(*eight, "parallel={data: 8, optimizer_sharding: 1}", "pretrain.micro_batch=1", "finetune.micro_batch=1")


def test_a_broken_section_keeps_auto_from_being_judged_and_nothing_else() -> None:
    found = codes("parallel=auto", "pretrain.steps=many", "finetune.checkpoint.keep=1")
    assert "MS0203" in found
    assert "MS0345" in found


def test_a_run_of_several_devices_is_refused_before_any_work(tmp_path: Path) -> None:
    from compiler.machine import check_machine

    overrides = ["device=gpu-4x24gb-pcie", "parallel={data: 4}"]
    compiled = compile_experiment(Project(ROOT), "demo", overrides)
    assert "MS0362" in {one.code for one in compiled.warnings}
    with pytest.raises(Faults) as caught:
        check_machine(Project(ROOT), "demo", overrides, compiled.spec, compiled.graph.environment)
    assert ("MS0362", "error") in {(one.code, one.severity) for one in caught.value.diagnostics}


def test_a_batch_beyond_counting_is_not_blamed_on_the_devices() -> None:
    found = codes("device=cpu", "parallel=auto", "pretrain.micro_batch=2000000000", "pretrain.accumulation=2000000000")
    assert "MS0308" in found
    assert "MS0361" not in found


SINGLE = ["parallel=auto", "device=gpu", "pretrain.micro_batch=1", "finetune.micro_batch=1"]


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> pytest.CaptureFixture[str]:
    """What the command prints, run at the root of the project."""
    monkeypatch.chdir(ROOT)
    return capsys


def test_one_of_a_kind_is_not_told_in_the_plural(told: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "demo", "--layouts", *SINGLE, "device.count=2", "device.device_ids=[0,1]", "model.num_layers=1"]) == 1
    assert "an effective batch of 1 row (pretrain) does not divide by 2" in told.readouterr().err
    assert main(["plan", "demo", "--layouts", *SINGLE]) == 0
    plan = told.readouterr().out
    assert "1 row = micro batch x accumulation x data = 1 x 1 x 1" in plan
    assert not re.search(r"\b1 (rows|steps|layers|heads|layouts|devices|nodes|rejections)\b", plan)


def test_several_sizes_that_do_not_divide_take_the_plural_verb(told: pytest.CaptureFixture[str]) -> None:
    main(["plan", "demo", "--layouts", "device=gpu-8x80gb", "parallel=auto"])
    assert "num_heads 4, num_kv_heads 4 do not divide by 8" in told.readouterr().out


def test_a_plan_as_data_is_told_in_the_language_that_was_asked_for(told: pytest.CaptureFixture[str]) -> None:
    def plan(language: str) -> dict[str, Any]:
        arguments = ["plan", "demo", "--json", "--memory", "--layouts", "--lang", language, "device=gpu-8x80gb", "parallel=auto"]
        assert main(arguments) == 0
        return json.loads(told.readouterr().out, parse_constant=pytest.fail)["trainings"]["pretrain"]

    english, chinese = plan("en"), plan("zh")
    for texts in (
        lambda one: [step["reason"] for step in one["steps_from_light_to_heavy"]],
        lambda one: [row["formula"] for row in one["ledger"][0]["rows"]],
        lambda one: [left["reason"] for left in one["rejected"]],
        lambda one: [one["assumed_speed"]["of"]],
    ):
        assert all(text.isascii() for text in texts(english))
        assert all(not text.isascii() for text in texts(chinese))
    assert english["layouts"] == chinese["layouts"]
    assert all(layout["built"] for layout in english["layouts"])


def test_layouts_that_are_not_built_are_marked(told: pytest.CaptureFixture[str]) -> None:
    memory = peak(*ONE_GPU, "parallel.recompute=full") * 13 // 10 + 1
    assert main(["plan", "demo", "--layouts", *ONE_GPU, "parallel=auto", f"device.memory={memory}"]) == 0
    assert "of them, placed last, accumulate, which is not built on one gpu" in told.readouterr().out


@pytest.mark.parametrize(
    ("count", "text"), [(999_999_999, "1.0 GB"), (7_762_626_032_700_000_000, "7,762,626,032.7 GB"), (13_400, "13.4 kB"), (2.5e6, "2.5 MB")]
)
def test_bytes_are_told_in_a_unit_that_can_be_compared(count: float, text: str) -> None:
    assert gigabytes(count) == text
