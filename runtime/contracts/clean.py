"""clean: main text of HTML, special characters, language tag, personal data, quality rules, perplexity."""

from dataclasses import field

from runtime.contracts.base import Contract, parameters


@parameters
class Perplexity:
    """Documents are dropped above the `percentile` of their language's perplexities, or above `limit`; None switches either off."""

    percentile: float | None
    limit: float | None


@parameters
class Clean:
    """`html`: main_content | none; `normalization`: none | cjk | nfkc; `rules`: language, or `code`, -> name of a set of rules.

    `limits`: language, or `code`, -> rule -> limit that replaces the set's; None switches the rule off.
    `boilerplate`: whether lines of navigation and legal notices are taken out.
    `pii`: kind of personal data -> the text that is put in its place; kinds that are not named stay as they are.
    """

    html: str
    normalization: str
    rules: dict[str, str]
    limits: dict[str, dict[str, float | None]] = field(default_factory=dict[str, dict[str, float | None]])
    boilerplate: bool = False
    pii: dict[str, str] = field(default_factory=dict[str, str])
    perplexity: Perplexity | None = None


CONTRACT = Contract(
    name="clean",
    program="runtime.data.clean",
    parameters=Clean,
    inputs=("corpus/ingest", "sieve"),
    output="corpus/clean",
    environment=("python", "orjson", "zstandard", "resiliparse", "pycld2", "numpy"),
)
