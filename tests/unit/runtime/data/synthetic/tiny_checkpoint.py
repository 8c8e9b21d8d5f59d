"""Weights of a model with two layers and random values, as the result folder of a training.

    python tiny_checkpoint.py FOLDER VOCABULARY

It needs MindSpore, so it runs in a process of its own.
"""

import sys
from pathlib import Path

import numpy as np

from runtime.model import context, description, weights

SEQ_LENGTH = 96


def config(vocabulary: int) -> dict[str, object]:
    """What the network is built from."""
    return {
        "seq_length": SEQ_LENGTH, "hidden_size": 32, "num_layers": 2, "num_heads": 2, "n_kv_heads": 2, "vocab_size": vocabulary,
        "intermediate_size": 48, "rms_norm_eps": 1.0e-6, "theta": 10000.0, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0,
        "ignore_token_id": -100, "compute_dtype": "float32", "layernorm_compute_type": "float32", "softmax_compute_type": "float32",
        "rotary_dtype": "float32", "param_init_type": "float32", "use_past": False, "use_flash_attention": False, "use_rope_slice": True,
        "fused_rms_norm": False, "offset": 0,
    }  # fmt: skip


def write(folder: Path, vocabulary: int) -> None:
    """Write `model.json` and `model.safetensors`."""
    from mindformers.models.llama import LlamaConfig, LlamaForCausalLM

    random = np.random.default_rng(5)
    network = LlamaForCausalLM(LlamaConfig(**{**config(vocabulary), "batch_size": 1}))
    values = {one.name: (random.standard_normal(one.shape) * 0.3).astype(np.float32) for one in network.get_parameters()}
    _end_soon(values)
    weights.save(folder / "model.safetensors", values)
    description.Description("LlamaForCausalLM", dict(config(vocabulary)), weights.digest(values)).write(folder)


def _end_soon(values: weights.Weights) -> None:
    """Make every sixth token the end of the answer or so: the first feature is the same for all tokens, and the end listens to it."""
    for name, value in values.items():
        if name.endswith(("wo.weight", "w2.weight")):
            np.multiply(value, 0.01, out=value)
        if "norm" in name:
            value[:] = 1.0
        if "embedding" in name:
            value[:, 0] = 2.0
    head = values["lm_head.weight"]
    head[:, 0], head[2, 0] = 0.0, 1.2


if __name__ == "__main__":
    context.prepare(Path(sys.argv[1]) / "work", 1)
    context.check_device("CPU")
    write(Path(sys.argv[1]), int(sys.argv[2]))
