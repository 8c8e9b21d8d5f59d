"""format: instruction rows -> token ids and labels through one chat template."""

from collections.abc import Mapping
from dataclasses import field

from runtime.contracts.base import Contract, parameters

FIELDS: Mapping[str, tuple[str, ...]] = {
    "alpaca": ("instruction", "input", "output", "system", "history", "tools"),
    "messages": ("messages", "role", "content", "tool_calls", "weight", "text", "tools", "system"),
    "sharegpt": ("conversations", "from", "value", "system", "tools"),
}  # of a row and its turns, that a source may name otherwise


@parameters
class InstructSource:
    """One file or folder of instruction rows; `format`: alpaca | messages | sharegpt.

    `path` is relative to the project root; where it is `made` by a stage, to the experiment.
    `synthetic`: a model wrote it, as it did what is made.
    `fields`: name of a field in the format -> its name in the rows; `roles`: tag in the rows -> role, or function_call.
    """

    path: str
    format: str
    weight: float | None = None
    made: bool = False
    fields: Mapping[str, str] = field(default_factory=dict[str, str])
    roles: Mapping[str, str] = field(default_factory=dict[str, str])
    synthetic: bool = False


@parameters
class Decontaminate:
    """Rows that hold text of the cases are dropped. `cases`: a file relative to the project root; `ngram`: tokens of a passage."""

    cases: str
    ngram: int


@parameters
class Format:
    """`sources`: without weights all rows are taken once, with weights training rows are repeated and left out; 0 leaves a source out.

    `truncation`: middle (of the prompt) | oldest (turns, then middle) | none (longer rows are dropped).
    `train_on`: assistant (all answers) | last (the last answer of a row).
    `validation`: share of rows in (0, 1); `by`: row.
    `seq_length`: a formatted row holds at most seq_length + 1 ids.
    `bad_rows`: refuse | quarantine. `long_from`: rows of so many ids and more are counted apart; 0: half of seq_length.
    `synthetic_max`: largest share of training rows from sources that models wrote; more are left out.
    """

    sources: dict[str, InstructSource]
    truncation: str
    train_on: str
    validation: float
    by: str
    seq_length: int
    seed: int
    bad_rows: str = "refuse"
    decontaminate: Decontaminate | None = None
    long_from: int = 0
    synthetic_max: float = 0.75


CONTRACT = Contract(
    name="format",
    program="runtime.data.format",
    parameters=Format,
    inputs=("tokenizer", "synthetic"),
    output="instruct",
    reads_files=("config/template.yaml",),
    environment=("python", "orjson", "zstandard", "sentencepiece", "tokenizers", "tiktoken", "xxhash", "numpy"),
    tracked={"data.instruct.truncation": "truncation", "model.seq_length": "seq_length"},
)
