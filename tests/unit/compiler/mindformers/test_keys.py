"""The keys that the typed model declares, against those that the installed mindformers accepts.

`known_keys.txt` is the whole comparison, so that a new version of the package shows as a diff. Run as a script this file
writes it again.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from compiler import mindformers as mf
from compiler.mindformers.block import matches

HERE = Path(__file__).parent
ROOT = HERE.parents[3]
KNOWN = HERE / "known_keys.txt"
HEADER = "# <section> of a mindformers file. both: declared by the compiler and accepted by the package; package: accepted only.\n"

# Section, and the class of a `type` where there are several -> what the compiler can write there.
DECLARED: Mapping[str, tuple[type[mf.Block], ...]] = {
    "(file)": (mf.TrainingConfig, mf.EvaluationConfig, mf.PredictionConfig),
    "trainer": (mf.Trainer,),
    "runner_config": (mf.Runner,),
    "context": (mf.Context,),
    "context.ascend_config": (mf.AscendConfig,),
    "context.jit_config": (mf.JitConfig,),
    "parallel": (mf.Parallel,),
    "parallel.parallel_optimizer_config": (mf.ParallelOptimizer,),
    "parallel.strategy_ckpt_config": (mf.StrategyFile,),
    "parallel_config": (mf.ParallelConfig,),
    "recompute_config": (mf.Recompute,),
    "optimizer": (mf.Optimizer,),
    "lr_schedule": (mf.LearningRate,),
    "runner_wrapper.scale_sense": (mf.DynamicScale,),
    "callbacks StopAtStep": (mf.StopAtStep,),
    "callbacks StopAtNonFinite": (mf.StopAtNonFinite,),
    "callbacks MFLossMonitor": (mf.LossMonitor,),
    "callbacks CheckpointMonitor": (mf.CheckpointMonitor,),
    "metric": (mf.Metric,),
    "dataset_task": (mf.DatasetTask,),
    "dataset": (mf.Dataset,),
    "dataset.data_loader": (mf.DataLoader,),
    "model": (mf.Model, mf.Qwen3Model),
    "model.arch": (mf.Arch,),
    "model.model_config LlamaConfig": (mf.ModelConfig,),
    "model.model_config Qwen3Config": (mf.Qwen3Config,),
    "model.model_config.scaling_factor LLAMA3": (mf.RopeScaling,),
    "model.model_config.pet_config": (mf.Pet,),
    "processor": (mf.Processor,),
    "processor.tokenizer": (mf.Tokenizer,),
}
# The training cells share one declaration; these keys are of one of them alone.
OWN = {"CpuTrainOneStepCell": {"accumulation"}, "MFTrainOneStepCell": set[str](), "MFPipelineWithLossScaleCell": {"micro_batch_num"}}


def names(*blocks: type[mf.Block]) -> set[str]:
    return {field.name for block in blocks for field in fields(block)}


def declared() -> dict[str, set[str]]:
    """Section -> keys that the compiler can write."""
    shared = names(mf.Wrapper) - set().union(*OWN.values())
    wrappers = {f"runner_wrapper {cell}": shared | own for cell, own in OWN.items()}
    return {section: names(*blocks) for section, blocks in DECLARED.items()} | wrappers


@cache
def introspected() -> dict[str, Any]:
    """`keys` and `defaults` of the installed package, from a process of its own: importing it takes seconds."""
    command = [sys.executable, str(HERE / "package_keys.py")]
    done = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=300, check=True)
    return json.loads(done.stdout[done.stdout.index("{") :])


def accepted() -> dict[str, set[str]]:
    """Section -> keys that the installed package accepts."""
    return {section: set(keys) for section, keys in introspected()["keys"].items()}


def environment() -> dict[str, str]:
    """Where a process of its own finds this checkout."""
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def comparison(ours: Mapping[str, set[str]], theirs: Mapping[str, set[str]]) -> str:
    """One line for each key of each section."""
    lines = [HEADER]
    for section in sorted(theirs):
        lines.append(f"\n[{section}]\n")
        lines += [f"both     {key}\n" for key in sorted(ours[section] & theirs[section])]
        lines += [f"package  {key}\n" for key in sorted(theirs[section] - ours[section])]
    return "".join(lines)


def recorded() -> dict[str, set[str]]:
    """Section -> keys of the committed comparison that both know."""
    found: dict[str, set[str]] = {}
    for line in KNOWN.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            section = found.setdefault(line[1:-1], set())
        elif line.startswith("both"):
            section.add(line.split()[1])
    return found


def test_every_declared_block_is_compared() -> None:
    compared = {block for blocks in DECLARED.values() for block in blocks} | {mf.Wrapper}
    blocks = {value for value in vars(mf).values() if isinstance(value, type) and issubclass(value, mf.Block)} - {mf.Block}
    assert blocks == compared


def test_what_is_declared_is_what_the_comparison_says() -> None:
    assert recorded() == declared(), f"python {KNOWN.with_name('test_keys.py').relative_to(ROOT)} writes the comparison again"


@pytest.mark.slow
def test_the_package_knows_every_key_and_nothing_changed() -> None:
    theirs = accepted()
    unknown = {section: keys - theirs[section] for section, keys in declared().items() if keys - theirs[section]}
    assert not unknown, "mindformers would ignore these keys, or refuse them"
    assert comparison(declared(), theirs) == KNOWN.read_text(encoding="utf-8")


# Defaults of the package that no declared type holds, each for a reason: what is written is narrower, or a float for an int.
NARROWER = {
    ("(file)", "load_ckpt_format"): "ckpt",
    ("parallel", "full_batch"): True,
    ("model.model_config LlamaConfig", "extend_method"): "None",
    ("model.model_config LlamaConfig", "scaling_factor"): 1.0,
    ("model.model_config.pet_config", "lora_alpha"): 16,
}


@pytest.mark.slow
def test_declared_types_hold_the_defaults_of_the_package() -> None:
    odd = {
        (section, key): value
        for section, values in introspected()["defaults"].items()
        for block in DECLARED[section]
        for key, hint in get_type_hints(block).items()
        if (value := values.get(key)) is not None and not matches(value, hint)
    }
    assert odd == NARROWER


if __name__ == "__main__":
    KNOWN.write_text(comparison(declared(), accepted()), encoding="utf-8")
