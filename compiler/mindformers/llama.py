"""The legacy Llama, which is also Qwen2 and Qwen2.5 (with biases)."""

from dataclasses import dataclass
from typing import Literal

from compiler.mindformers.adapters import Pet
from compiler.mindformers.block import Block
from compiler.mindformers.general import Dtype


@dataclass(frozen=True, kw_only=True)
class RopeScaling(Block):
    """`scaling_factor` of `extend_method: LLAMA3`; the table of positions must be longer than the original length."""

    factor: float
    low_freq_factor: float
    high_freq_factor: float
    original_max_position_embeddings: int


@dataclass(frozen=True, kw_only=True)
class ModelConfig(Block):
    """The legacy Llama. What is None stays at mindformers' default and is not written.

    `parallel_optimizer`: whether optimizer sharding divides the table of embeddings too. From `is_dynamic` on, keys are of
    prediction alone. `checkpoint_name_or_path` is left out: it takes no safetensors.
    """

    type: Literal["LlamaConfig"] = "LlamaConfig"
    batch_size: int
    seq_length: int
    hidden_size: int
    num_layers: int
    num_heads: int
    n_kv_heads: int
    vocab_size: int
    intermediate_size: int
    rms_norm_eps: float
    theta: float
    bos_token_id: int
    eos_token_id: int
    pad_token_id: int
    ignore_token_id: int = -100
    compute_dtype: Dtype
    layernorm_compute_type: Dtype
    softmax_compute_type: Dtype
    rotary_dtype: Dtype
    param_init_type: Dtype
    use_past: bool = False
    use_flash_attention: bool
    use_rope_slice: bool
    fused_rms_norm: bool
    offset: int = 0
    qkv_has_bias: bool | None = None
    tie_word_embeddings: bool | None = None
    extend_method: Literal["LLAMA3"] | None = None
    scaling_factor: RopeScaling | None = None
    max_position_embedding: int | None = None
    parallel_optimizer: bool | None = None
    pet_config: Pet | None = None
    is_dynamic: bool | None = None
    block_size: int | None = None
    num_blocks: int | None = None
    max_decode_length: int | None = None
    repetition_penalty: float | None = None
    top_k: int | None = None
    top_p: float | None = None
    do_sample: bool | None = None


@dataclass(frozen=True, kw_only=True)
class Arch(Block):
    """The network class."""

    type: Literal["LlamaForCausalLM"] = "LlamaForCausalLM"


@dataclass(frozen=True, kw_only=True)
class Model(Block):
    """The network and its sizes."""

    model_config: ModelConfig
    arch: Arch = Arch()
