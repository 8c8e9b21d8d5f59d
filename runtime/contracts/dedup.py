"""dedup: evaluation texts, exact documents, near documents (MinHash LSH) and repeated lines or sentences, across sources."""

from runtime.contracts.base import Contract, parameters


@parameters
class Lines:
    """Units of at least `min_length` characters that were seen before are removed when `exact`.

    `unit`: line | sentence. `min_documents`: units that fewer documents have stay, also where one has them twice.
    """

    exact: bool
    min_length: int
    unit: str = "line"
    min_documents: int = 1


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
class Decontamination:
    """`ngram`: tokens of a passage; `files`: evaluation texts, `cases`: core cases, both relative to the project root.

    `action`: drop | cut, what happens to a document with a passage of them.
    """

    ngram: int
    files: tuple[str, ...]
    cases: str | None
    action: str


@parameters
class Dedup:
    """`keep`: longest | first | priority, of a cluster of duplicates; `priority`: sources, the most wanted first."""

    lines: Lines
    documents: Documents
    keep: str
    priority: tuple[str, ...] = ()
    decontaminate: Decontamination | None = None


CONTRACT = Contract(
    name="dedup",
    program="runtime.data.dedup",
    parameters=Dedup,
    inputs=("corpus/clean",),
    output="corpus/dedup",
    environment=("python", "orjson", "zstandard", "numpy", "xxhash"),
    tracked={"data.pretrain.dedup.documents.near.threshold": "documents.near.threshold"},
)
