"""LoRA."""

from dataclasses import dataclass
from typing import Literal

from compiler.mindformers.block import Block
from compiler.mindformers.general import Dtype


@dataclass(frozen=True, kw_only=True)
class Pet(Block):
    """LoRA: B starts zero, so the first loss is that of the base.

    `lora_a_init` and `lora_b_init` are left out: the legacy Llama reads neither, and always starts A uniform (He) and B at zero.

    `target_modules` is a regular expression that mindformers matches from the start of a cell's own name (`wq`), not its path.
    """

    pet_type: Literal["lora"] = "lora"
    lora_rank: int
    lora_alpha: float
    lora_dropout: float
    param_init_type: Dtype
    compute_dtype: Dtype
    target_modules: str
