"""filter: languages and topics the task asks for."""

from runtime.contracts.base import Contract, parameters


@parameters
class Filter:
    """`deny`/`allow`: regular expressions; a document must match some of `allow` (when given) and none of `deny`."""

    languages: tuple[str, ...]
    deny: tuple[str, ...]
    allow: tuple[str, ...]


CONTRACT = Contract(
    name="filter",
    program="runtime.data.filter",
    parameters=Filter,
    inputs=("corpus/dedup",),
    output="corpus/filter",
    environment=("python", "orjson", "zstandard"),
)
