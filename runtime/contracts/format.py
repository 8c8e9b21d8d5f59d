"""format: instruction rows -> token ids and labels through one chat template."""

from runtime.contracts.base import Contract, parameters


@parameters
class InstructSource:
    """One file or folder of instruction rows; `format`: alpaca | messages | sharegpt.

    `path` is relative to the project root; where it is `made` by a stage, to the experiment.
    """

    path: str
    format: str
    weight: float
    made: bool = False


@parameters
class Format:
    """`sources`: equal weights take all rows once, others over- and undersample the training rows; 0 leaves a source out.

    `truncation`: middle (of the prompt) | none (longer rows are dropped); `train_on`: assistant.
    `validation`: share of rows in (0, 1); `by`: row.
    `seq_length`: a formatted row holds at most seq_length + 1 ids.
    """

    sources: dict[str, InstructSource]
    truncation: str
    train_on: str
    validation: float
    by: str
    seq_length: int
    seed: int


CONTRACT = Contract(
    name="format",
    program="runtime.data.format",
    parameters=Format,
    inputs=("tokenizer", "synthetic"),
    output="instruct",
    reads_files=("config/template.yaml",),
    environment=("python", "orjson", "zstandard", "sentencepiece", "xxhash"),
    tracked={"data.instruct.truncation": "truncation", "model.seq_length": "seq_length"},
)
