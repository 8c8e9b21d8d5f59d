"""What accumulation and loss scale become in the mindformers files of a CPU."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from compiler.diagnostics import Faults
from compiler.pipeline import compile_experiment
from compiler.project import Project

PROJECT = Project(Path(__file__).parents[4])
STAGES = ("pretrain", "finetune")


def compiled(*overrides: str) -> tuple[dict[str, Any], set[str]]:
    """The pre-training file of the demo, and the codes of its warnings."""
    made = compile_experiment(PROJECT, "demo", overrides)
    return yaml.safe_load(made.files["experiments/demo/config/pretrain.yaml"]), {one.code for one in made.warnings}


def test_accumulation_reaches_our_cell_and_not_the_setting_that_would_be_reset() -> None:
    config, warned = compiled("pretrain.micro_batch=2", "pretrain.accumulation=8")
    assert config["runner_config"]["gradient_accumulation_steps"] == 1
    assert config["runner_wrapper"]["accumulation"] == 8
    assert config["runner_config"]["batch_size"] == config["train_dataset"]["batch_size"] == 16
    assert config["model"]["model_config"]["batch_size"] == 2
    assert "MS0352" not in warned


def test_nothing_is_written_for_one_forward_pass_without_a_scale() -> None:
    config, _ = compiled()
    assert config["runner_wrapper"].keys() == {"type", "scale_sense", "use_clip_grad", "max_grad_norm"}
    assert config["runner_wrapper"]["scale_sense"] == 1.0


@pytest.mark.parametrize(
    ("overrides", "scale"),
    [
        (["kind=static"], 1024.0),
        (["kind=static", "initial=256"], 256.0),
        (["kind=dynamic"], (65536.0, 1000)),
        (["kind=dynamic", "initial=2.0e+0", "window=50"], (2.0, 50)),
    ],
)
def test_a_scale_has_sane_defaults(overrides: list[str], scale: object) -> None:
    scaled = [f"++{stage}.loss_scale.{one}" for one in overrides for stage in STAGES]
    config, warned = compiled("model.dtype.compute=float16", *scaled)
    made = config["runner_wrapper"]["scale_sense"]
    assert (made if isinstance(made, float) else (made["loss_scale_value"], made["scale_window"])) == scale
    assert warned.isdisjoint({"MS0353", "MS0359"})


def test_the_window_is_lengthened_under_accumulation() -> None:
    """A skipped update throws away all of its forward passes."""
    scaled = [f"++{stage}.loss_scale.kind=dynamic" for stage in STAGES]
    config, _ = compiled("model.dtype.compute=float16", "pretrain.accumulation=4", *scaled)
    assert config["runner_wrapper"]["scale_sense"]["scale_window"] == 4000


def test_the_window_stays_one_that_32_bits_hold() -> None:
    scaled = [f"++{stage}.loss_scale.kind=dynamic" for stage in STAGES]
    config, _ = compiled(
        "model.dtype.compute=float16",
        "pretrain.micro_batch=1",
        "pretrain.accumulation=3000000",
        "data.pretrain.mix.budget_bytes=1TB",
        *scaled,
    )
    assert config["runner_wrapper"]["scale_sense"]["scale_window"] == 2**31 - 1


def test_a_scale_without_float16_and_recomputation_on_a_cpu_are_warned_of() -> None:
    _, warned = compiled("++pretrain.loss_scale.kind=static", "parallel.recompute=full")
    assert {"MS0359", "MS0360"} <= warned


@pytest.mark.parametrize("part", ["params", "softmax", "rotary"])
def test_a_gradient_in_float16_has_a_use_for_a_scale(part: str) -> None:
    _, warned = compiled(f"model.dtype.{part}=float16", *(f"++{stage}.loss_scale.kind=dynamic" for stage in STAGES))
    assert warned.isdisjoint({"MS0353", "MS0359"})


def test_weights_in_float16_need_a_scale_although_products_do_not() -> None:
    with pytest.raises(Faults) as caught:
        compiled("model.dtype.params=float16")
    assert {(one.code, one.path[0]) for one in caught.value.diagnostics if one.severity == "error"} == {
        ("MS0353", "pretrain"),
        ("MS0353", "finetune"),
    }


def test_a_softmax_in_float16_loses_a_part_of_the_gradients() -> None:
    _, warned = compiled("model.dtype.softmax=float16")
    assert "MS0353" in warned


@pytest.mark.parametrize(("alpha", "said"), [("800000", "is infinite in float16"), ("1.0e-7", "is 0 in float16")])
def test_the_scale_of_an_adapter_is_one_that_float16_holds(alpha: str, said: str) -> None:
    scaled = [f"++{stage}.loss_scale.kind=dynamic" for stage in STAGES]
    with pytest.raises(Faults, match=said):
        compiled("model.dtype.compute=float16", f"finetune.lora.alpha={alpha}", *scaled)
    compiled(f"finetune.lora.alpha={alpha}")
