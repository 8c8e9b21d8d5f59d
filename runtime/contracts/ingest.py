"""ingest: raw folders and files of many formats and encodings -> canonical records."""

from runtime.contracts.base import Contract, parameters

# Format -> the extensions of its files; each but those of Parquet also with .gz or .zst behind it.
SUFFIXES = {
    "text": (".txt", ".text"),
    "html": (".html", ".htm", ".xhtml"),
    "markdown": (".md", ".markdown"),
    "jsonl": (".jsonl", ".ndjson"),
    "json": (".json",),
    "csv": (".csv", ".tsv"),
    "parquet": (".parquet",),
}
ROW_ENDINGS = (".jsonl", ".json", ".jsonl.gz", ".json.gz", ".jsonl.zst", ".json.zst")  # of the files with instruction rows, and of seeds
OF_FILES = ("text", "html", "markdown")  # formats of which a document is a file
COMPRESSED = (".gz", ".zst")


def endings_of(format: str) -> tuple[str, ...]:
    """The endings of the files that are read in a folder of a format, in lower case."""
    plain = SUFFIXES[format]
    return plain if format == "parquet" else (*plain, *(ending + packed for ending in plain for packed in COMPRESSED))


@parameters
class Source:
    """One raw source. `path`: a file, a folder or a pattern (`patterns`), relative to the project root; to the experiment where
    a stage has `made` it.

    `format`: a key of SUFFIXES; `text_field`: for formats with rows; `delimiter`: of csv, where the extension does not tell it.
    """

    path: str
    format: str
    text_field: str | None
    language: str | None
    domain: str
    made: bool = False
    delimiter: str | None = None


@parameters
class Ingest:
    """`max_line_bytes`: of UTF-8; what holds a longer line is dropped, or the line is split (`long_lines`: drop | split).

    `fix_mojibake`: never | suspected. `max_document_bytes`: longer texts become several documents. `bad_rows`: quarantine |
    refuse; `bad_rows_max`: the share of a source's rows above which it is refused all the same.
    """

    sources: dict[str, Source]
    encodings: str
    max_line_bytes: int
    fix_mojibake: str
    long_lines: str = "drop"
    max_document_bytes: int = 20_000_000
    bad_rows: str = "quarantine"
    bad_rows_max: float = 0.01


CONTRACT = Contract(
    name="ingest",
    program="runtime.data.ingest",
    parameters=Ingest,
    inputs=("synthetic",),
    output="corpus/ingest",
    environment=("python", "orjson", "zstandard", "resiliparse", "ftfy"),
)
