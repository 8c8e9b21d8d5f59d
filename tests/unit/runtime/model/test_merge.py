"""The merge stage as a program, in an experiment folder."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from runtime import manifest
from runtime.contracts.merge import CONTRACT
from runtime.faults import InputFault, StageFault
from runtime.model import adapter, description, export, lora, weights
from runtime.stage import execute

CELL = "model.layers.0.attention.wq"


def install(folder: Path, stage: str) -> None:
    (folder / manifest.NAME).write_bytes(manifest.encode(manifest.describe(folder, stage, {}, {})))


def make_base(folder: Path, values: dict[str, np.ndarray], adapter_sha256: str | None = None) -> str:
    folder.mkdir(exist_ok=True)
    hash_ = weights.digest(values)
    weights.save(folder / "model.safetensors", values)
    description.Description("LlamaForCausalLM", {"hidden_size": 4}, hash_, adapter_sha256 and "b", adapter_sha256).write(folder)
    install(folder, "pretrain")
    return hash_


@pytest.fixture
def experiment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, environment: Callable[[Path], None]) -> Path:
    folder = tmp_path / "experiments" / "demo"
    (folder / "config").mkdir(parents=True)
    monkeypatch.chdir(folder)
    environment(folder)
    generator = np.random.default_rng(1)
    base = {f"{CELL}.weight": generator.standard_normal((4, 4)).astype(np.float32), "model.norm_out.weight": np.ones(4, np.float32)}
    hash_ = make_base(folder / "base", base)
    tensors = {
        CELL + lora.A: generator.standard_normal((2, 4)).astype(np.float32),
        CELL + lora.B: generator.standard_normal((4, 2)).astype(np.float32),
    }
    (folder / "adapter").mkdir()
    weights.save(folder / "adapter" / "adapter.safetensors", tensors)
    adapter.Adapter(2, 8, "wq$", {"wq$": [CELL]}, hash_, weights.digest(tensors)).write(folder / "adapter")
    install(folder / "adapter", "finetune")
    settings(folder, 2, 8)
    return folder


def settings(folder: Path, rank: int, alpha: float) -> None:
    (folder / "config" / "merge.yaml").write_text(f"rank: {rank}\nalpha: {alpha}\ndtype: float32\n")
    (folder / "params.json").write_text(json.dumps({"finetune": {"lora": {"rank": rank, "alpha": alpha}}}))


def test_merged_model_names_its_parts(experiment: Path) -> None:
    execute(CONTRACT)
    merged, base, made = (
        description.read(experiment / "merged"),
        description.read(experiment / "base"),
        adapter.read(experiment / "adapter"),
    )
    assert (merged.base_sha256, merged.adapter_sha256) == (base.weights_sha256, made.weights_sha256)
    assert merged.merged
    assert merged.weights_sha256 == weights.digest(weights.load(experiment / "merged" / "model.safetensors"))
    metrics = json.loads((experiment / "metrics" / "merge.json").read_text())
    assert (metrics["scale"], metrics["changed_tensors"]) == (4.0, 1)


def test_merging_the_merged_model_is_refused(experiment: Path) -> None:
    execute(CONTRACT)
    once = weights.load(experiment / "merged" / "model.safetensors")
    make_base(experiment / "base", once, adapter.read(experiment / "adapter").weights_sha256)
    with pytest.raises(StageFault, match="already merged"):
        execute(CONTRACT)


def test_another_base_of_the_same_shapes_is_refused_with_both_hashes(experiment: Path) -> None:
    trained_on = description.read(experiment / "base").weights_sha256
    other = {name: array + 1 for name, array in weights.load(experiment / "base" / "model.safetensors").items()}
    hash_ = make_base(experiment / "base", other)
    with pytest.raises(StageFault) as fault:
        execute(CONTRACT)
    assert trained_on in str(fault.value) and hash_ in str(fault.value)
    assert not (experiment / "merged").exists()


@pytest.mark.parametrize(("rank", "alpha"), [(2, 2), (4, 8)])
def test_another_scale_than_the_trained_one_is_refused(experiment: Path, rank: int, alpha: float) -> None:
    settings(experiment, rank, alpha)
    with pytest.raises(StageFault, match=f"rank {rank} and alpha {alpha}"):
        execute(CONTRACT)


def test_two_runs_write_the_same_bytes(experiment: Path) -> None:
    execute(CONTRACT)
    first = (experiment / "merged" / "manifest.json").read_bytes()
    execute(CONTRACT)
    assert (experiment / "merged" / "manifest.json").read_bytes() == first


def test_weights_without_an_adapter_are_not_exported() -> None:
    with pytest.raises(InputFault, match="hold no adapter"):
        export.check_merged(description.Description("LlamaForCausalLM", {}, "h"))
    export.check_merged(description.Description("LlamaForCausalLM", {}, "h", "b", "a"))
