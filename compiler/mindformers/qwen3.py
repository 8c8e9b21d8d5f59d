"""Qwen3, one of mindformers' Megatron-like graphs (`use_legacy: False`), whose keys are those of Hugging Face's config.json."""

from dataclasses import dataclass
from typing import Literal

from compiler.mindformers.adapters import Pet
from compiler.mindformers.block import Block
from compiler.mindformers.general import Dtype


@dataclass(frozen=True, kw_only=True)
class Qwen3Config(Block):
    """`architectures` names the network class; a head need not be hidden_size / num_attention_heads wide.

    The training graph shifts nothing: it takes ids and labels of `seq_length` each, label i being what follows id i.
    """

    model_type: Literal["qwen3"] = "qwen3"
    architectures: tuple[Literal["Qwen3ForCausalLM"]] = ("Qwen3ForCausalLM",)
    batch_size: int
    seq_length: int
    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    num_key_value_heads: int
    head_dim: int
    vocab_size: int
    max_position_embeddings: int
    rms_norm_eps: float
    rope_theta: float
    tie_word_embeddings: bool
    untie_embeddings_and_output_weights: bool
    hidden_act: Literal["swiglu"] = "swiglu"
    position_embedding_type: Literal["rope"] = "rope"
    qk_layernorm: Literal[True] = True
    attention_bias: Literal[False] = False
    add_bias_linear: Literal[False] = False
    attention_dropout: float = 0.0
    hidden_dropout: float = 0.0
    bos_token_id: int
    eos_token_id: int
    pad_token_id: int
    ignore_token_id: int = -100
    params_dtype: Dtype
    compute_dtype: Dtype
    layernorm_compute_dtype: Dtype
    softmax_compute_dtype: Dtype
    rotary_dtype: Dtype
    use_flash_attention: Literal[True] = True
    offset: int = 0
    pet_config: Pet | None = None


@dataclass(frozen=True, kw_only=True)
class Qwen3Model(Block):
    """The network; its class follows from `architectures`."""

    model_config: Qwen3Config
