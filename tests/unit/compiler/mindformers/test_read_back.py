"""Every file that can be emitted is read back as what was meant: value for value, type for type, by each of its readers."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from ruamel.yaml import YAML

from compiler.emit.yaml_text import to_yaml
from compiler.mindformers import written
from tests.unit.compiler.mindformers.plans import cases
from tests.unit.compiler.mindformers.reading import differences

HERE = Path(__file__).parent
ROOT = HERE.parents[3]


FEW = 5  # of so many cases one: writing all takes seconds


@cache
def texts(step: int = 1) -> dict[str, tuple[dict[str, Any], bytes, int]]:
    """Name -> content that is meant, text, devices, of every `step`th case; files of the same text once."""
    found: dict[bytes, tuple[str, dict[str, Any], int]] = {}
    for case in cases()[::step]:
        for kind, block in case.files.items():
            content = written(block)
            found.setdefault(to_yaml(content), (f"{case.name} {kind}", content, case.plan.experiment.spec.device.count))
    return {name: (content, text, devices) for text, (name, content, devices) in found.items()}


def test_yaml_1_1_reads_what_was_meant() -> None:
    for name, (content, text, _) in texts(FEW).items():
        assert [*differences(content, yaml.load(text, yaml.CSafeLoader))] == [], name


def test_yaml_1_2_reads_what_was_meant() -> None:
    reader = YAML(typ="safe", pure=False)
    for name, (content, text, _) in texts(FEW).items():
        assert [*differences(content, reader.load(text))] == [], name


def test_a_difference_is_seen() -> None:
    meant = {"a": 1, "b": [1.0, {"c": True}], "d": "1"}
    assert [*differences(meant, {"a": 1, "b": [1.0, {"c": True}], "d": "1", "more": 0})] == []
    wrong = {"a": True, "b": [1, {"c": 1}], "d": 1}
    assert [*differences(meant, wrong)] == [".a: 1 became True", ".b[0]: 1.0 became 1", ".b[1].c: True became 1", ".d: '1' became 1"]


def lines_of(folder: Path, files: Mapping[str, tuple[dict[str, Any], int]]) -> list[str]:
    """What `reading.py`, as a process of its own, says of files: name -> what is meant, devices."""
    for name, (content, devices) in files.items():
        (folder / f"{name}.yaml").write_bytes(to_yaml(content))
        (folder / f"{name}.json").write_text(json.dumps({"content": content, "devices": devices}))
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "LOG_MF_PATH": str(folder / "log")}
    command = [sys.executable, str(HERE / "reading.py"), str(folder)]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600, check=True)
    return [line for line in done.stdout.splitlines() if line.startswith(("DIFFERENT", "DONE"))]


@pytest.mark.slow
def test_mindformers_reads_what_was_meant_and_resets_nothing(tmp_path: Path) -> None:
    assert lines_of(tmp_path, {name: (content, devices) for name, (content, _, devices) in texts().items()}) == ["DONE"]


# Text of an evaluation that computes in bfloat16, with float32 weights and flash attention as in its training -> what runs.
FORCED = {
    ("param_init_type", "float32"): ("compute_dtype", "'bfloat16' became 'float16'"),
    ("use_flash_attention", True): ("use_flash_attention", "True became False"),
}

# A combination that is never emitted -> what mindformers makes of it without a word.
RESET = {
    "llama cpu lora data pretrain": ("runner_config", "gradient_accumulation_steps", 4, "4 became 1"),
    "llama gpu lora one pretrain": ("runner_config", "gradient_accumulation_steps", 4, "4 became 1"),
    "llama cpu full data pretrain": ("parallel_config", "data_parallel", 2, "2 became 1"),
    "llama ascend lora tensor pretrain": ("parallel_config", "micro_batch_num", 4, "4 became 1"),
    "llama ascend lora pipeline pretrain": ("parallel_config", "vocab_emb_dp", True, "True became False"),
    "llama ascend full pipeline pretrain": (
        "runner_wrapper",
        "type",
        "MFTrainOneStepCell",
        "'MFTrainOneStepCell' became 'MFPipelineWithLossScaleCell'",
    ),
}


@pytest.mark.slow
def test_what_mindformers_resets_is_seen(tmp_path: Path) -> None:
    files, expected = {}, []
    for name, (section, key, value, became) in RESET.items():
        content, _, devices = texts()[name]
        changed = deepcopy(content)
        changed[section][key] = value
        files[name] = changed, devices
        expected.append(f"DIFFERENT {name}.{section}.{key}: {became} (once prepared)")
    assert lines_of(tmp_path, files) == [*sorted(expected), "DONE"]


@pytest.mark.slow
def test_evaluation_does_not_run_in_another_precision_than_its_file_says(tmp_path: Path) -> None:
    name = next(name for name in texts() if "ascend" in name and name.endswith("evaluate") and b"bfloat16" in texts()[name][1])
    content, _, devices = texts()[name]
    files = {"emitted": (content, devices)}
    for (key, value), (changed, _) in FORCED.items():
        wrong = deepcopy(content)
        wrong["model"]["model_config"][key] = value
        files[changed] = wrong, devices
    seen = lines_of(tmp_path, files)
    assert not [line for line in seen if line.startswith("DIFFERENT emitted")]
    for changed, became in FORCED.values():
        assert f"DIFFERENT {changed}.model.model_config.{changed}: {became} (once checked)" in seen
