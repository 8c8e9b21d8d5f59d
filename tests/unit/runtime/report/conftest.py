"""A small experiment folder with numbers made up for these tests, and the report stage run in it for real."""

import shutil
from pathlib import Path

import pytest
import yaml

from runtime import manifest
from runtime.contracts.installed import installed_version
from runtime.contracts.registry import BEFORE_REPORT, BY_NAME
from runtime.contracts.registry import REPORT as CONTRACT

FIXTURE = Path(__file__).parent / "fixture"
FILES = {
    "tokenizer": ("tokenizer.model", "tokenizer.vocab"),
    "pretrain": ("model.safetensors", "model.json"),
    "finetune": ("adapter.safetensors",),
    "merge": ("model.safetensors", "model.json"),
    "export": ("model.mindir",),
    "evaluate": (),
}


def result_folder(experiment: Path, stage: str) -> Path:
    """A result folder with small files and a true manifest."""
    folder = experiment / BY_NAME[stage].output
    folder.mkdir(parents=True, exist_ok=True)
    for name in FILES.get(stage, ("part-00000.jsonl.zst",)):
        (folder / name).write_bytes(f"{stage} {name}\n".encode() * 500)
    sign(folder, stage)
    return folder


def sign(folder: Path, stage: str, facts: dict[str, object] | None = None) -> None:
    """Write the manifest of a folder as it is now."""
    (folder / manifest.NAME).write_bytes(manifest.encode(manifest.describe(folder, stage, {}, facts or {})))


@pytest.fixture
def experiment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder, as the current one; versions of what writes the report are the installed ones."""
    folder = tmp_path / "experiments" / "demo"
    shutil.copytree(FIXTURE, folder)
    for stage in (one.name for one in BEFORE_REPORT if not one.optional):
        result_folder(folder, stage)
    path = folder / "config" / "environment.yaml"
    versions = yaml.safe_load(path.read_text("utf-8")) | {name: installed_version(name) for name in CONTRACT.environment}
    path.write_text(yaml.safe_dump(versions, sort_keys=False), "utf-8")
    monkeypatch.chdir(folder)
    return folder
