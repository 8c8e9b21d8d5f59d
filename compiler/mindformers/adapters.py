"""LoRA."""

from dataclasses import dataclass
from typing import Literal

from compiler.mindformers.block import Block
from compiler.mindformers.general import Dtype


@dataclass(frozen=True, kw_only=True)
class Pet(Block):
    """LoRA: B starts zero, so the first loss is that of the base.

    The legacy Llama reads neither `lora_a_init` nor `lora_b_init`: its A is always uniform (He), its B zero. The Megatron-like
    graphs read both.

    `target_modules` is a regular expression that mindformers matches from the start of a cell's own name (`wq`), not its path.
    """

    pet_type: Literal["lora"] = "lora"
    lora_rank: int
    lora_alpha: float
    lora_dropout: float
    lora_a_init: Literal["normal"] = "normal"
    lora_b_init: Literal["zero"] = "zero"
    param_init_type: Dtype
    compute_dtype: Dtype
    target_modules: str
