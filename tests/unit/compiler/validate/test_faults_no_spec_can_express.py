"""What mindformers would take without a word and no spec can express, since the compiler alone writes its files.

Each kind holds of every compiled file, whatever the values of a spec are.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from compiler.diagnostics import Faults
from compiler.parse import load
from compiler.pipeline import compile_experiment
from compiler.project import Project
from compiler.validate import review

ROOT = Path(__file__).parents[4]


@pytest.fixture(scope="module")
def compiled() -> dict[str, dict[str, Any]]:
    """The mindformers files of the demo, and of the demo with accumulation, by stage."""
    project = Project(ROOT)
    plain = compile_experiment(project, "demo").files
    accumulated = compile_experiment(project, "demo", ["pretrain.accumulation=4", "pretrain.micro_batch=4"]).files
    named = {"pretrain": (plain, "pretrain"), "finetune": (plain, "finetune"), "accumulated": (accumulated, "pretrain")}
    return {name: yaml.safe_load(files[f"experiments/demo/config/{stage}.yaml"]) for name, (files, stage) in named.items()}


def monitor(config: dict[str, Any]) -> dict[str, Any]:
    return next(callback for callback in config["callbacks"] if callback["type"] == "CheckpointMonitor")


def at(config: dict[str, Any], path: str) -> Any:
    for key in path.split("."):
        config = config[key]
    return config


# Kind -> what holds in every compiled file.
IMPOSSIBLE: dict[str, Callable[[dict[str, Any]], bool]] = {
    "batch size of the dataset that is overwritten by the runner's": lambda c: (
        c["train_dataset"]["batch_size"] == c["runner_config"]["batch_size"]
    ),
    "seed of the dataset that is overwritten by the runner's": lambda c: c["train_dataset"]["seed"] == c["seed"],
    "dataset of the task that is not the dataset": lambda c: c["train_dataset_task"]["dataset_config"] == c["train_dataset"],
    "sink mode on a CPU, which trains longer than the data": lambda c: c["runner_config"]["sink_mode"] is False,
    "accumulation that mindformers resets": lambda c: c["runner_config"]["gradient_accumulation_steps"] == 1,
    "stop step that nothing reads": lambda c: (
        "stop_step" not in c["runner_config"] and {"type": "StopAtStep", "step": c["lr_schedule"]["total_steps"]} in c["callbacks"]
    ),
    "total steps that are not the steps": lambda c: c["lr_schedule"]["total_steps"] == c["runner_config"]["epochs"],
    "warm-up from zero, whose first update does nothing": lambda c: (
        not c["lr_schedule"]["warmup_steps"]
        or c["lr_schedule"]["warmup_lr_init"] * c["lr_schedule"]["warmup_steps"] == pytest.approx(c["lr_schedule"]["learning_rate"])
    ),
    "warm-up as a ratio beside the steps": lambda c: "warmup_ratio" not in c["lr_schedule"],
    "decay over other steps than there are": lambda c: not {"decay_steps", "decay_ratio"} & c["lr_schedule"].keys(),
    "gradients summed over replicas": lambda c: c["use_parallel"] is False and "parallel" not in c,
    "layout that is reset to 1": lambda c: (
        {c["parallel_config"][name] for name in ("data_parallel", "model_parallel", "pipeline_stage", "micro_batch_num")} == {1}
    ),
    "misspelt checkpoint format": lambda c: monitor(c)["checkpoint_format"] == "safetensors",
    "no checkpoint monitor": lambda c: [callback["type"] for callback in c["callbacks"]].count("CheckpointMonitor") == 1,
    "prefix that is taken for a rank": lambda c: "rank" not in monitor(c)["prefix"],
    "output folder that is taken for a rank": lambda c: "rank" not in c["output_dir"],
    "load format that is not the extension": lambda c: (
        not c["load_checkpoint"] or c["load_checkpoint"].endswith(f".{c['load_ckpt_format']}")
    ),
    "checkpoint transformed on the way": lambda c: c["auto_trans_ckpt"] is False and c["src_strategy_path_or_dir"] == "",
    "resuming, after which dropout differs": lambda c: c["resume_training"] is False,
    "fine-tuning from random weights": lambda c: c["run_mode"] == "train" or c["load_checkpoint"] == "base/model.safetensors",
    "padding outside the vocabulary": lambda c: all(
        0 <= at(c, f"model.model_config.{name}") < at(c, "model.model_config.vocab_size")
        for name in ("pad_token_id", "bos_token_id", "eos_token_id")
    ),
    "ignored label that is a token": lambda c: at(c, "model.model_config.ignore_token_id") < 0,
    "cache of keys in a training": lambda c: at(c, "model.model_config.use_past") is False,
    "kernels that a CPU has not": lambda c: (
        not at(c, "model.model_config.use_flash_attention") and not at(c, "model.model_config.fused_rms_norm")
    ),
    "training cell whose overflow check a CPU has not": lambda c: c["runner_wrapper"]["type"] == "CpuTrainOneStepCell",
    "gradients that are not clipped": lambda c: c["runner_wrapper"]["use_clip_grad"] is True and c["runner_wrapper"]["max_grad_norm"] > 0,
    "norms and biases that decay": lambda c: c["optimizer"]["type"] == "AdamW",
    "expression that matches more than the targets": lambda c: all(
        re.fullmatch(r"w[a-z0-9]\$", one)
        for one in (at(c, "model.model_config").get("pet_config") or {"target_modules": "wq$"})["target_modules"].split("|")
    ),
    "start of adapters that the network does not read": lambda c: {"lora_a_init", "lora_b_init"}.isdisjoint(
        c["model"]["model_config"].get("pet_config", {})
    ),
    "number written as text": lambda c: all(
        type(at(c, path)) is float
        for path in ("lr_schedule.learning_rate", "lr_schedule.lr_end", "optimizer.eps", "optimizer.weight_decay")
    ),
    "boolean written as text": lambda c: all(
        type(at(c, path)) is bool for path in ("use_legacy", "use_parallel", "runner_config.sink_mode")
    ),
    "port or host that two jobs of one machine would share": lambda c: (
        not re.search(r"port|host|addr|worker_num", repr(c).lower().replace("num_parallel_workers", ""))
    ),
    "incomplete batches": lambda c: c["train_dataset"]["drop_remainder"] is True,
}


@pytest.mark.parametrize("stage", ["pretrain", "finetune", "accumulated"])
@pytest.mark.parametrize("kind", IMPOSSIBLE)
def test_fault_that_no_spec_can_express(kind: str, stage: str, compiled: dict[str, dict[str, Any]]) -> None:
    assert IMPOSSIBLE[kind](compiled[stage])


def test_gradients_of_replicas_are_averaged_not_summed() -> None:
    two = ["device.count=2", "device.device_ids=[0,1]", "parallel={data: 2}"]
    config = yaml.safe_load(compile_experiment(Project(ROOT), "demo", two).files["experiments/demo/config/pretrain.yaml"])
    assert (config["use_parallel"], config["parallel"]["parallel_mode"], config["parallel"]["gradients_mean"]) == (True, 0, True)


VALUES: dict[str, list[str]] = {
    "seed": ["0", "4294967295"],
    "pretrain.steps": ["200", "5000"],
    "pretrain.micro_batch": ["1", "64"],
    "pretrain.accumulation": ["1", "5"],
    "pretrain.schedule.warmup_steps": ["0", "1", "100"],
    "pretrain.schedule.peak": ["3e-4", "0.001"],
    "pretrain.checkpoint.keep": ["2", "50"],
    "finetune.lora.targets": ["[wq]", "[q_proj,wv]", "[w2,up_proj,gate_proj]"],
    "finetune.lora.alpha": ["1", "16.5", "1e1"],
    "model.family": ["llama", "qwen2"],
    "model.num_kv_heads": ["1", "4"],
    "pretrain.loss_scale.kind": ["none", "static", "dynamic"],
    "finetune.loss_scale.kind": ["none", "dynamic"],
    "parallel": ["auto"],
    "parallel.recompute": ["full", "selective"],
    "pack.shards": ["1", "3"],
}
CHOSEN = st.fixed_dictionaries({}, optional={key: st.sampled_from(values) for key, values in VALUES.items()})


@settings(max_examples=12, deadline=None, derandomize=True)
@given(chosen=CHOSEN)
def test_no_combination_of_values_expresses_it(chosen: dict[str, str]) -> None:
    overrides = [f"{key}={value}" for key, value in chosen.items() if key != "parallel.recompute" or "parallel" not in chosen]
    try:
        files = compile_experiment(Project(ROOT), "demo", overrides).files
    except Faults:
        return
    for stage in ("pretrain", "finetune"):
        config = yaml.safe_load(files[f"experiments/demo/config/{stage}.yaml"])
        assert [kind for kind, holds in IMPOSSIBLE.items() if not holds(config)] == [], overrides


def test_accumulation_reaches_our_own_training_cell(compiled: dict[str, dict[str, Any]]) -> None:
    config = compiled["accumulated"]
    assert (config["runner_config"]["batch_size"], config["runner_wrapper"]["accumulation"]) == (16, 4)


@pytest.mark.parametrize("how", ["file", "override"])
@pytest.mark.parametrize(("written", "meant"), [("3e-4", 3e-4), ("3E-4", 3e-4), ("3.e-4", 3e-4), ("0.0003", 3e-4), ("1e-3", 1e-3)])
def test_a_rate_without_a_dot_is_a_number_to_every_reader(how: str, written: str, meant: float, project: Callable[[str], Path]) -> None:
    root = project(f"pretrain: {{schedule: {{peak: {written}}}}}\n" if how == "file" else "")
    overrides = [f"pretrain.schedule.peak={written}"] if how == "override" else []
    assert review(load(root, "try", overrides)).spec.pretrain.schedule.peak == meant
    files = compile_experiment(Project(ROOT), "demo", [f"pretrain.schedule.peak={written}"]).files
    content = files["experiments/demo/config/pretrain.yaml"].decode()
    for read in (yaml.safe_load, YAML(typ="safe", pure=True).load):
        rate = read(content)["lr_schedule"]["learning_rate"]
        assert (type(rate), rate) == (float, meant)
    assert re.search(r"^  learning_rate: [0-9]+\.[0-9]+(e-[0-9]+)?$", content, re.MULTILINE)
