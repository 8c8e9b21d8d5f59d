"""filter: languages and topics the task asks for."""

import re
from dataclasses import field

from runtime.contracts.base import Contract, parameters

# What `re.compile` raises: malformed; a repeat beyond 2**32; groups nested too deeply.
NO_EXPRESSION = (re.error, OverflowError, RecursionError)


@parameters
class Topic:
    """A document is on the topic with `min_hits` hits of keywords (`any`) and regular expressions (`patterns`) and no keyword of `none`."""

    any: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    none: tuple[str, ...] = ()
    min_hits: int = 1


@parameters
class Classifier:
    """`rows`: JSON Lines with text and label, relative to the project root; a document is kept that has one of the labels `keep` with a
    probability of `threshold` or more, by its first `characters`."""

    rows: str
    keep: tuple[str, ...]
    threshold: float = 0.5
    characters: int = 2000


@parameters
class Filter:
    """`deny`/`allow`: regular expressions; a document must match some of `allow` (when given) and none of `deny`.

    It must be on some of `keep_topics` (when given) and on none of `drop_topics`.
    """

    languages: tuple[str, ...]
    deny: tuple[str, ...]
    allow: tuple[str, ...]
    topics: dict[str, Topic] = field(default_factory=dict[str, Topic])
    keep_topics: tuple[str, ...] = ()
    drop_topics: tuple[str, ...] = ()
    classifier: Classifier | None = None


CONTRACT = Contract(
    name="filter",
    program="runtime.data.filter",
    parameters=Filter,
    inputs=("corpus/dedup",),
    output="corpus/filter",
    environment=("python", "orjson", "zstandard", "scikit-learn"),
)
