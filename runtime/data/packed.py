"""What the stages that pack state about their rows."""

from typing import Any

from runtime.contracts.pack import Pack
from runtime.data.encoding import Vocabulary
from runtime.stage import Stage

SPLITS = ("train", "validation")
JSON = dict[str, Any]


def state(stage: Stage[Pack], vocabulary: Vocabulary, columns: tuple[str, ...], layout: str, splits: JSON) -> None:
    """Put into the manifest what training and evaluation must know about the rows."""
    length = stage.parameters.seq_length
    stage.counts = {f"{split}_rows": facts["rows"] for split, facts in splits.items()}
    stage.facts = {
        "seq_length": length,
        "row_length": length + 1,
        "columns": list(columns),
        "layout": layout,
        "vocab_size": vocabulary.size,
        "pad_id": vocabulary.pad,
        "bos_id": vocabulary.bos,
        "eos_id": vocabulary.eos,
        "tokenizer": vocabulary.identity,
        "splits": splits,
    }


def without_files(splits: JSON) -> JSON:
    """The facts of each split that belong into the metrics."""
    return {split: {name: value for name, value in facts.items() if name != "files"} for split, facts in splits.items()}
