"""The model families: what distinguishes their networks, and how mindformers names their layers."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

# Hugging Face name of a linear layer of a decoder -> name of the cell in mindformers' legacy Llama.
CELLS: Mapping[str, str] = MappingProxyType(
    {"q_proj": "wq", "k_proj": "wk", "v_proj": "wv", "o_proj": "wo", "gate_proj": "w1", "down_proj": "w2", "up_proj": "w3"}
)


@dataclass(frozen=True)
class Family:
    """One architecture.

    backend: `legacy` is mindformers' LlamaForCausalLM, `mcore` its Megatron-like graphs; qkv_bias: query, key and value
    projections have a bias; qk_norm: each head's query and key are normalised; own_head_dim: heads need not share the
    width out among themselves; scaled_rope: `model.rope_scaling` can be expressed.
    """

    title: str
    backend: Literal["legacy", "mcore"] = "legacy"
    qkv_bias: bool = False
    qk_norm: bool = False
    own_head_dim: bool = False
    scaled_rope: bool = True


# By the `model_type` of Hugging Face's config.json, which is also `model.family` of a spec.
FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        "llama": Family("Llama 2/3"),
        "qwen2": Family("Qwen2/2.5", qkv_bias=True),
        "qwen3": Family("Qwen3", backend="mcore", qk_norm=True, own_head_dim=True, scaled_rope=False),
    }
)
UNKNOWN = Family("unknown")  # of a spec whose config.json could not be read


def layer(target: str) -> str:
    """The cell of a LoRA target given by its Hugging Face name; any other name is taken for a cell's own."""
    return CELLS.get(target, target)
