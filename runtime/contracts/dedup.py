"""dedup: exact lines, exact documents, near documents (MinHash LSH), across sources."""

from runtime.contracts.base import Contract, parameters


@parameters
class Lines:
    """Lines of at least `min_length` characters that were seen before are removed when `exact`."""

    exact: bool
    min_length: int


@parameters
class Near:
    """`threshold`: Jaccard similarity in [0, 1] of `ngram` shingles; `permutations`: length of a signature."""

    threshold: float
    permutations: int
    ngram: int


@parameters
class Documents:
    """`near` is None to look for exact copies only."""

    exact: bool
    near: Near | None


@parameters
class Dedup:
    """`keep`: longest | first, of a cluster of duplicates."""

    lines: Lines
    documents: Documents
    keep: str


CONTRACT = Contract(
    name="dedup",
    program="runtime.data.dedup",
    parameters=Dedup,
    inputs=("corpus/clean",),
    output="corpus/dedup",
    environment=("python", "orjson", "zstandard", "daft", "numpy", "xxhash"),
    tracked={"data.pretrain.dedup.documents.near.threshold": "documents.near.threshold"},
)
