"""What the files of specs/model say against what the published config.json of the same model gives."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from compiler import hf_network
from compiler.hf_config import read

GROUP = Path(__file__).parents[3] / "specs/model"


def config(kind: str, sizes: tuple[int, ...], **more: Any) -> dict[str, Any]:
    keys = ("hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads", "vocab_size")
    published = {"model_type": kind, "hidden_act": "silu", "attention_dropout": 0.0, "torch_dtype": "bfloat16", "use_cache": True}
    return {**published, **dict(zip(keys, sizes, strict=True)), **more}


def qwen(kind: str, sizes: tuple[int, ...], eps: float, tied: bool, longest: int, **more: Any) -> dict[str, Any]:
    windows = {"use_sliding_window": False, "sliding_window": longest, "max_window_layers": sizes[2]}
    return config(
        kind,
        sizes,
        rms_norm_eps=eps,
        rope_theta=1000000.0,
        tie_word_embeddings=tied,
        max_position_embeddings=longest,
        **windows,
        **more,
    )


def stretched(factor: float) -> dict[str, Any]:
    return {
        "rope_type": "llama3", "factor": factor, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192,
    }  # fmt: skip


LLAMA3 = {"rms_norm_eps": 1e-05, "rope_theta": 500000.0, "attention_bias": False, "mlp_bias": False, "pretraining_tp": 1}
PUBLISHED = {
    "llama2-70b": config(
        "llama", (8192, 28672, 80, 64, 8, 32000), rms_norm_eps=1e-05, max_position_embeddings=4096, tie_word_embeddings=False
    ),
    "llama3.1-8b": config(
        "llama", (4096, 14336, 32, 32, 8, 128256), max_position_embeddings=131072, rope_scaling=stretched(8.0), **LLAMA3
    ),
    "llama3.2-3b": config(
        "llama", (3072, 8192, 28, 24, 8, 128256), max_position_embeddings=131072, rope_scaling=stretched(32.0), head_dim=128,
        tie_word_embeddings=True, **LLAMA3,
    ),
    "qwen2.5-3b": qwen("qwen2", (2048, 11008, 36, 16, 2, 151936), 1e-06, True, 32768),
    "qwen2.5-7b": qwen("qwen2", (3584, 18944, 28, 28, 4, 152064), 1e-06, False, 131072),
    "qwen2.5-14b": qwen("qwen2", (5120, 13824, 48, 40, 8, 152064), 1e-05, False, 131072),
    "qwen2.5-32b": qwen("qwen2", (5120, 27648, 64, 40, 8, 152064), 1e-05, False, 131072),
    "qwen3-4b": qwen("qwen3", (2560, 9728, 36, 32, 8, 151936), 1e-06, True, 40960, head_dim=128, attention_bias=False, rope_scaling=None),
    "qwen3-32b": qwen("qwen3", (5120, 25600, 64, 64, 8, 151936), 1e-06, False, 40960, head_dim=128, attention_bias=False),
}  # fmt: skip


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_group_says_what_the_published_config_json_says(name: str, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(PUBLISHED[name], indent=2), "utf-8")
    published = read(tmp_path, ".")
    assert not hf_network.faults(published)
    group = yaml.safe_load((GROUP / f"{name}.yaml").read_text("utf-8"))
    width = group["hidden_size"] // group["num_heads"]
    for field, value, _ in hf_network.fields(published):
        written = group.get(field, width if field == "head_dim" and value is not None else None)
        assert written == value, field
