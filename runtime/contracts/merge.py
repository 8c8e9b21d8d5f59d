"""merge: base + alpha / rank * B @ A, in float32."""

from runtime.contracts.base import Contract, parameters


@parameters
class Merge:
    """What the adapter must have been trained with; a difference is refused."""

    rank: int
    alpha: float
    dtype: str


CONTRACT = Contract(
    name="merge",
    program="runtime.model.merge",
    parameters=Merge,
    inputs=("base", "adapter"),
    output="merged",
    environment=("python", "numpy", "safetensors"),
    tracked={"finetune.lora.rank": "rank", "finetune.lora.alpha": "alpha"},
)
