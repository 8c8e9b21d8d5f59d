"""split: training and validation documents without leakage."""

from runtime.contracts.base import Contract, parameters


@parameters
class Split:
    """`validation`: share of documents in (0, 1); `by`: document."""

    validation: float
    by: str
    seed: int


CONTRACT = Contract(
    name="split",
    program="runtime.data.split",
    parameters=Split,
    inputs=("corpus/mix",),
    output="corpus/split",
    environment=("python", "orjson", "zstandard", "xxhash"),
    tracked={"data.pretrain.split.validation": "validation"},
)
