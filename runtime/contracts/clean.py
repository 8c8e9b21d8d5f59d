"""clean: main text of HTML, special characters, language tag, quality rules."""

from runtime.contracts.base import Contract, parameters


@parameters
class Clean:
    """`html`: main_content | none; `normalization`: none | cjk | nfkc; `rules`: language -> rule set (gopher, chinese_basic)."""

    html: str
    normalization: str
    rules: dict[str, str]


CONTRACT = Contract(
    name="clean",
    program="runtime.data.clean",
    parameters=Clean,
    inputs=("corpus/ingest",),
    output="corpus/clean",
    environment=("python", "orjson", "zstandard", "resiliparse", "pycld2", "polars"),
)
