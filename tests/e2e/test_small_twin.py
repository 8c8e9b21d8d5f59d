"""`smoke=true`: real sizes of two families, shrunk, through every stage."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from runtime.contracts.registry import CONTRACTS
from tests.e2e.conftest import Copy, commit, make_copy

pytestmark = pytest.mark.slow
ALL = {contract.name for contract in CONTRACTS}


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    """A copy in which the twin of the demo with Qwen2.5 0.5B has run."""
    copy = make_copy(tmp_path_factory.mktemp("twin") / "project")
    outcome = json.loads(copy.mindspec("run", "demo", "model=qwen2.5-0.5b", "smoke=true", "--json").stdout)
    assert outcome["stages"] == dict.fromkeys(ALL, "ran")
    return copy


def weights(copy: Copy, folder: str) -> dict[str, np.ndarray]:
    return load_file(copy.root / "experiments/demo--smoke" / folder / "model.safetensors")


def test_the_real_experiment_is_left_alone(twin: Copy) -> None:
    changed = twin.run("git", "status", "--porcelain").stdout.split("\n")
    assert {line[3:] for line in changed if line} == {"experiments/demo--smoke/"}


def test_biases_learn_and_survive_the_merge(twin: Copy) -> None:
    base, merged = weights(twin, "base"), weights(twin, "merged")
    biases = {name for name in base if name.endswith(".bias")}
    assert biases == {f"model.layers.{layer}.attention.{cell}.bias" for layer in range(2) for cell in ("wq", "wk", "wv")}
    assert all(np.any(base[name]) and np.array_equal(base[name], merged[name]) for name in biases)
    assert merged.keys() == base.keys()


def test_one_table_embeds_and_scores(twin: Copy) -> None:
    names = weights(twin, "base")
    assert "model.tok_embeddings.embedding_weight" in names
    assert not any("lm_head" in name for name in names)


def test_the_padded_rows_of_the_table_stay(twin: Copy) -> None:
    """Qwen2.5 has more rows than its tokenizer has pieces; its twin, too, in every stage."""
    folder = twin.root / "experiments/demo--smoke"
    assert weights(twin, "merged")["model.tok_embeddings.embedding_weight"].shape == (3064, 112)
    assert json.loads((folder / "tokenizer/manifest.json").read_text("utf-8"))["counts"]["pieces"] == 3000


def test_a_stretched_llama_takes_the_same_way(twin: Copy, tmp_path: Path) -> None:
    """Of Llama 3.2, with the text, tokens and rows of the other twin restored, in a copy since it takes the other's place."""
    twin = Copy(shutil.copytree(twin.root, tmp_path / "project", symlinks=True))
    commit(twin, "qwen2")
    done = json.loads(twin.mindspec("run", "demo", "model=llama3.2-1b", "smoke=true", "--json").stdout)
    assert {stage for stage, verdict in done["stages"].items() if verdict == "ran"} == {
        "pretrain", "finetune", "merge", "export", "evaluate", "report",
    }  # fmt: skip
    described = json.loads((twin.root / "experiments/demo--smoke/merged/model.json").read_text("utf-8"))
    assert described["config"]["extend_method"] == "LLAMA3"
    assert Path(twin.root / "experiments/demo--smoke/mindir/model.mindir").exists()
