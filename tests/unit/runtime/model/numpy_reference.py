"""The merge and the forward pass once more, in NumPy alone: nothing of the project, no MindSpore, no safetensors library.

    python numpy_reference.py EXPERIMENT_FOLDER

prints as JSON how far the merged weights are from W + (alpha / rank) B A, and how many tensors were changed.
"""

import json
import struct
import sys
from pathlib import Path
from typing import Any

import numpy as np

Tensors = dict[str, np.ndarray]


def read_safetensors(path: Path) -> Tensors:
    """The format: eight bytes length, a JSON header, then the data at the offsets the header gives."""
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    body = memoryview(data)[8 + length :]
    tensors = {}
    for name, entry in json.loads(data[8 : 8 + length]).items():
        if name != "__metadata__":
            assert entry["dtype"] == "F32", entry
            start, end = entry["data_offsets"]
            tensors[name] = np.frombuffer(body[start:end], "<f4").reshape(entry["shape"])
    return tensors


def check_merge(folder: Path) -> dict[str, Any]:
    """Compare `merged/` with `base/` and `adapter/`, in double precision."""
    base, merged = (read_safetensors(folder / name / "model.safetensors") for name in ("base", "merged"))
    adapter = read_safetensors(folder / "adapter" / "adapter.safetensors")
    settings = json.loads((folder / "adapter" / "adapter.json").read_text())
    assert base.keys() == merged.keys()
    used: set[str] = set()
    worst, changed = 0.0, 0
    for name, weight in base.items():
        a, b = (name.removesuffix(".weight") + f".mindpet_delta_lora_{half}" for half in "ab")
        expected = weight.astype(np.float64)
        if a in adapter:
            expected = expected + settings["alpha"] / settings["rank"] * (adapter[b].astype(np.float64) @ adapter[a].astype(np.float64))
            used |= {a, b}
            changed += 1
        elif weight.tobytes() != merged[name].tobytes():
            raise AssertionError(f"{name} has no adapter, yet it changed")
        worst = max(worst, float(np.abs(expected - merged[name]).max()))
    assert used == adapter.keys()
    return {"largest_error": worst, "changed": changed}


def logits(weights: Tensors, config: dict[str, Any], ids: np.ndarray) -> np.ndarray:
    """A Llama forward pass in double precision: ids (batch, length) -> logits (batch, length, vocabulary)."""
    w = {name: array.astype(np.float64) for name, array in weights.items()}
    heads, eps = config["num_heads"], config["rms_norm_eps"]
    cos, sin = rotation(ids.shape[1], config["hidden_size"] // heads, config["theta"])
    hidden = w["model.tok_embeddings.embedding_weight"][ids]
    for layer in range(config["num_layers"]):
        p = f"model.layers.{layer}."
        x = rms_norm(hidden, w[p + "attention_norm.weight"], eps)
        q, k, v = (split_heads(x @ w[f"{p}attention.w{part}.weight"].T, heads) for part in "qkv")
        hidden = hidden + join_heads(attend(rotate(q, cos, sin), rotate(k, cos, sin), v)) @ w[p + "attention.wo.weight"].T
        x = rms_norm(hidden, w[p + "ffn_norm.weight"], eps)
        gate = x @ w[p + "feed_forward.w1.weight"].T
        hidden = hidden + (gate / (1 + np.exp(-gate)) * (x @ w[p + "feed_forward.w3.weight"].T)) @ w[p + "feed_forward.w2.weight"].T
    return rms_norm(hidden, w["model.norm_out.weight"], eps) @ w["lm_head.weight"].T


def rms_norm(x: np.ndarray, weight: np.ndarray, eps: float) -> np.ndarray:
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * weight


def rotation(length: int, size: int, theta: float) -> tuple[np.ndarray, np.ndarray]:
    angles = np.outer(np.arange(length), theta ** (-np.arange(0, size, 2) / size))
    return np.cos(np.concatenate([angles, angles], -1)), np.sin(np.concatenate([angles, angles], -1))


def rotate(x: np.ndarray, cos: np.ndarray, sin: np.ndarray) -> np.ndarray:
    low, high = np.split(x, 2, -1)
    return x * cos + np.concatenate([-high, low], -1) * sin


def split_heads(x: np.ndarray, heads: int) -> np.ndarray:
    return x.reshape(*x.shape[:2], heads, -1).transpose(0, 2, 1, 3)


def join_heads(x: np.ndarray) -> np.ndarray:
    return x.transpose(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], -1)


def attend(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    scores = q @ k.transpose(0, 1, 3, 2) / np.sqrt(q.shape[-1])
    scores = np.where(np.tri(scores.shape[-1], dtype=bool), scores, -np.inf)
    scores = np.exp(scores - scores.max(-1, keepdims=True))
    return scores / scores.sum(-1, keepdims=True) @ v


if __name__ == "__main__":
    print(json.dumps(check_merge(Path(sys.argv[1]))))
