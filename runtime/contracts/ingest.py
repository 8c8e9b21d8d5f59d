"""ingest: raw folders and files of many formats and encodings -> canonical records."""

from runtime.contracts.base import Contract, parameters


@parameters
class Source:
    """One raw source. `path` is a folder or file relative to the project root; where it is `made` by a stage, to the experiment.

    `format`: text | html | markdown | jsonl | json; `text_field`: for the last two.
    """

    path: str
    format: str
    text_field: str | None
    language: str | None
    domain: str
    made: bool = False


@parameters
class Ingest:
    """`max_line_bytes`: longer lines make a file "oversized single line"; `fix_mojibake`: never | suspected."""

    sources: dict[str, Source]
    encodings: str
    max_line_bytes: int
    fix_mojibake: str


CONTRACT = Contract(
    name="ingest",
    program="runtime.data.ingest",
    parameters=Ingest,
    output="corpus/ingest",
    environment=("python", "orjson", "zstandard", "resiliparse", "ftfy"),
)
