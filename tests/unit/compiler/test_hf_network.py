"""What a config.json leaves out against the configuration classes of transformers, and Llama 3's frequencies against mindformers'."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from compiler import hf_network
from compiler.families import FAMILIES
from compiler.hf_config import read

pytestmark = pytest.mark.slow
SMALL = {
    "hidden_size": 96,
    "intermediate_size": 256,
    "num_hidden_layers": 3,
    "num_attention_heads": 6,
    "vocab_size": 4032,
}
KEYS = {
    "hidden_size": "hidden_size",
    "intermediate_size": "intermediate_size",
    "num_layers": "num_hidden_layers",
    "num_heads": "num_attention_heads",
    "num_kv_heads": "num_key_value_heads",
    "vocab_size": "vocab_size",
    "tie_embeddings": "tie_word_embeddings",
    "rope_theta": "rope_theta",
    "norm_eps": "rms_norm_eps",
}
TRANSFORMERS = """
import json, sys
from transformers import AutoConfig, CONFIG_MAPPING
answers = {}
for family, values in json.load(open(sys.argv[1])).items():
    config = CONFIG_MAPPING[family](**values)
    answers[family] = {"whole": json.loads(config.to_json_string(use_diff=False)), "head_dim": getattr(config, "head_dim", None)}
json.dump(answers, open(sys.argv[2], "w"))
"""
MINDFORMERS = """
import json, sys
import numpy as np
from mindspore import dtype
from mindformers.modules.layers import FreqsMgr
settings = json.load(open(sys.argv[1]))
manager = FreqsMgr(rotary_dtype=dtype.float32, **settings)
np.save(sys.argv[2], manager.freqs_cos.asnumpy())
"""


def run(folder: Path, program: str, asked: Any, answer: str) -> Path:
    """Run a program on its question as JSON; returns the file of the answer."""
    (folder / "program.py").write_text(program, "utf-8")
    (folder / "asked.json").write_text(json.dumps(asked), "utf-8")
    command = [sys.executable, "program.py", "asked.json", answer]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr[-2000:]
    return folder / answer


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """Family -> what transformers makes of a small config.json: the whole of it, and the width of a head."""
    asked = {family: SMALL if family == "llama" else {**SMALL, "num_key_value_heads": 3} for family in FAMILIES}
    return json.loads(run(tmp_path_factory.mktemp("transformers"), TRANSFORMERS, asked, "answers.json").read_text("utf-8"))


def ours(folder: Path, values: dict[str, Any]) -> dict[str, Any]:
    (folder / "config.json").write_text(json.dumps(values), "utf-8")
    config = read(folder.parent, folder.name)
    assert not hf_network.faults(config)
    return {field: value for field, value, _ in hf_network.fields(config)}


@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_left_out_is_what_transformers_takes(family: str, theirs: dict[str, dict[str, Any]], tmp_path: Path) -> None:
    given = {"model_type": family, **SMALL, **({} if family == "llama" else {"num_key_value_heads": 3})}
    found, whole = ours(tmp_path, given), theirs[family]["whole"]
    assert {field: found[field] for field in KEYS} == {field: whole[key] for field, key in KEYS.items()}
    head_dim = theirs[family]["head_dim"]
    assert head_dim is None or (found["head_dim"] or 96 // 6) == head_dim


@pytest.mark.parametrize("family", FAMILIES)
def test_a_file_that_transformers_wrote_is_accepted_and_says_the_same(
    family: str, theirs: dict[str, dict[str, Any]], tmp_path: Path
) -> None:
    whole = theirs[family]["whole"]
    found = ours(tmp_path, whole)
    assert {field: found[field] for field in KEYS} == {field: whole[key] for field, key in KEYS.items()}


def test_stretched_frequencies_are_those_of_llama_3(tmp_path: Path) -> None:
    """Short waves stay, long ones are stretched by the factor, those between go over smoothly (Llama 3.1's scaling)."""
    head_dim, theta, original, rows = 16, 500000.0, 128, 129
    factors = {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": original}
    settings = {"head_dim": head_dim, "seq_length": 64, "max_position_embedding": rows, "theta": theta}
    made = np.load(run(tmp_path, MINDFORMERS, {**settings, "extend_method": "LLAMA3", "scaling_factor": factors}, "cosines.npy"))
    plain = theta ** -(np.arange(0, head_dim, 2) / head_dim)
    turns = original * plain / (2 * np.pi)  # of each wave over the original length
    share = np.clip((turns - 1.0) / (4.0 - 1.0), 0, 1)
    stretched = share * plain + (1 - share) * plain / 8.0
    expected = np.cos(np.outer(np.arange(rows), stretched))
    np.testing.assert_allclose(made, np.concatenate([expected, expected], axis=1), atol=2e-5)
    assert 0 < share.sum() < share.size and np.any((share > 0) & (share < 1))
