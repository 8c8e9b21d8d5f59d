"""mix: sources by weight, in UTF-8 bytes, seeded."""

from runtime.contracts.base import Contract, parameters


@parameters
class MixSource:
    """`weight`: share of the budget relative to the other sources; `synthetic`: made by a model."""

    weight: float
    synthetic: bool


@parameters
class Mix:
    """`budget_bytes`: UTF-8 bytes of text in all; `epochs_max`: how often a document may appear; `synthetic_max`: share in [0, 1]."""

    sources: dict[str, MixSource]
    budget_bytes: int
    epochs_max: int
    synthetic_max: float
    seed: int


CONTRACT = Contract(
    name="mix",
    program="runtime.data.mix",
    parameters=Mix,
    inputs=("corpus/filter",),
    output="corpus/mix",
    environment=("python", "orjson", "zstandard", "xxhash"),
    tracked={"data.pretrain.mix.budget_bytes": "budget_bytes"},
)
