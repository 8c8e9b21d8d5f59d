"""split: training and validation documents without leakage."""

from typing import Literal

from runtime.contracts.base import Contract, parameters


@parameters
class Overlap:
    """`ngram`: tokens of a run that is looked for on both sides; `limit`: share of validation runs in [0, 1] that training may hold."""

    ngram: int = 13
    limit: float = 0.1
    above: Literal["warn", "refuse"] = "warn"


@parameters
class Split:
    """`validation`: share of groups in (0, 1); `by`: what a group is.

    `long_bytes`: UTF-8 bytes from which a document is long; None tells none apart.
    """

    validation: float
    by: Literal["document", "file"]
    seed: int
    long_bytes: int | None = None
    overlap: Overlap = Overlap()


CONTRACT = Contract(
    name="split",
    program="runtime.data.split",
    parameters=Split,
    inputs=("corpus/mix",),
    output="corpus/split",
    environment=("python", "orjson", "zstandard", "xxhash"),
    tracked={"data.pretrain.split.validation": "validation"},
)
