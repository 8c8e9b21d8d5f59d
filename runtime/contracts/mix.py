"""mix: sources by weight or by amounts of their own, in UTF-8 bytes or estimated tokens, seeded."""

from dataclasses import field
from typing import Literal

from runtime.contracts.base import Contract, parameters


@parameters
class MixSource:
    """`weight`: share of the budget relative to the other sources; `synthetic`: made by a model.

    At most one of `epochs` (times the whole source), `bytes` and `tokens` is an amount of its own, in the place of the weight.
    """

    weight: float
    synthetic: bool
    epochs: float | None = None
    bytes: int | None = None
    tokens: int | None = None

    @property
    def own(self) -> bool:
        """Whether the source has an amount of its own."""
        return (self.epochs, self.bytes, self.tokens) != (None, None, None)


@parameters
class Mix:
    """One of `budget_bytes` (UTF-8 bytes of text in all) and `budget_tokens` (estimated) is given.

    `epochs_max`: how often a document may appear; `synthetic_max`: share in [0, 1]. `exhausted`: what a source that has too little
    does to the mix. `temperature`: weights are multiplied by the size of the source to the power of 1 / temperature.
    `bytes_per_token`: of languages that `bytes_per_token_of` does not name.
    """

    sources: dict[str, MixSource]
    budget_bytes: int | None = None
    budget_tokens: int | None = None
    epochs_max: int
    synthetic_max: float
    exhausted: Literal["shrink", "rebalance", "refuse"] = "shrink"
    temperature: float | None = None
    bytes_per_token: float = 4.0
    bytes_per_token_of: dict[str, float] = field(default_factory=dict[str, float])
    seed: int

    @property
    def unit(self) -> Literal["bytes", "tokens"]:
        """What the budget and all shares are counted in."""
        return "bytes" if self.budget_tokens is None else "tokens"

    @property
    def budget(self) -> int:
        """Units of text in all."""
        return (self.budget_bytes if self.budget_tokens is None else self.budget_tokens) or 0


CONTRACT = Contract(
    name="mix",
    program="runtime.data.mix",
    parameters=Mix,
    inputs=("corpus/filter",),
    output="corpus/mix",
    environment=("python", "orjson", "zstandard", "xxhash"),
    tracked={"data.pretrain.mix.budget_bytes": "budget_bytes"},
)
