"""An experiment in a folder of its own, whose data stages are run one by one, without DVC and without training."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.e2e.conftest import CHECKOUT

NAME = "same"
STAGES = ("ingest", "sieve", "clean", "dedup", "filter", "mix", "split", "tokenizer", "pack-pretrain", "format", "pack-instruct")
LINKED = ("runtime", "requirements.lock", ".python-version", ".git")
SPEC = f"""# @package _global_
defaults: [override /data: same, _self_]
name: {NAME}
model: {{hidden_size: 64, intermediate_size: 176, num_layers: 2, num_heads: 2, num_kv_heads: 2, seq_length: 96}}
"""


def demo_data() -> dict[str, Any]:
    """The section `data` of the demo."""
    return yaml.safe_load((CHECKOUT / "specs/data/handbook-poems.yaml").read_text("utf-8"))


def compiled(root: Path, data: dict[str, Any], overrides: Sequence[str]) -> Path:
    """The experiment's folder, compiled from within a folder of the project; `data` may name files below `root`."""
    root.mkdir(parents=True, exist_ok=True)
    shutil.copytree(CHECKOUT / "specs", root / "specs")
    shutil.copytree(CHECKOUT / "data/evaluation", root / "data/evaluation")
    for name in LINKED:
        (root / name).symlink_to(CHECKOUT / name)
    (root / "params.yaml").write_text(f"experiments: [{NAME}]\n")
    (root / "specs/data/same.yaml").write_text(yaml.safe_dump(data, sort_keys=False, allow_unicode=True))
    (root / f"specs/experiment/{NAME}.yaml").write_text(SPEC)
    run([sys.executable, "-m", "compiler", "compile", NAME, *overrides], root / "specs")
    return root / "experiments" / NAME


def wanted(folder: Path) -> list[str]:
    """The data stages that the experiment has."""
    return [stage for stage in STAGES if (folder / f"config/{stage}.yaml").exists()]


def run(command: Sequence[str], folder: Path, hash_seed: int = 0) -> str:
    """What a command writes to its standard output; on a bad exit code the test fails with its words."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    own = {"PYTHONPATH": str(CHECKOUT), "PYTHONHASHSEED": str(hash_seed), "LANG": "C.UTF-8"}
    environment = {"PATH": path, "HOME": os.environ.get("HOME", "/"), **own}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.fail(f"{command[-1]} ended with {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
    return done.stdout
