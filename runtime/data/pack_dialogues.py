"""pack-instruct: rows of instruction data, each filled to one length, in MindRecord files."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from runtime import records
from runtime.contracts.pack import Pack
from runtime.data import encoding, mindrecord
from runtime.data.encoding import Vocabulary
from runtime.data.packed import JSON, SPLITS, state, without_files
from runtime.data.rows import INSTRUCT_LAYOUT, check_ids, pad_row, scored
from runtime.faults import InputFault
from runtime.stage import Stage


def run(stage: Stage[Pack]) -> None:
    """Pack both splits and state what was packed."""
    parameters, vocabulary = stage.parameters, encoding.load(stage.input("tokenizer"))
    folder = stage.input("instruct")
    check_origin(stage, vocabulary)
    splits = {split: pack_dialogues(stage, folder / split, split, vocabulary) for split in SPLITS}
    state(stage, vocabulary, ("input_ids", "labels"), INSTRUCT_LAYOUT, splits)
    stage.metrics(
        {
            "splits": without_files(splits),
            "fill": {split: round(facts["tokens"] / (facts["rows"] * (parameters.seq_length + 1)), 6) for split, facts in splits.items()},
        }
    )


def check_origin(stage: Stage[Pack], vocabulary: Vocabulary) -> None:
    """Raise InputFault where the rows were made with another tokenizer or for another length."""
    facts = stage.manifest("instruct").facts
    wanted = {"tokenizer": vocabulary.identity, "row_length": stage.parameters.seq_length + 1}
    if wrong := [f"{name} is {facts.get(name)}, not {value}" for name, value in wanted.items() if facts.get(name) != value]:
        raise InputFault("; ".join(wrong), where="instruct/manifest.json", reason="the ids would mean other text", fix="run `dvc repro`")


def pack_dialogues(stage: Stage[Pack], folder: Path, split: str, vocabulary: Vocabulary) -> JSON:
    """Pack one split of dialogues and return its facts."""
    length, count = stage.parameters.seq_length + 1, Counter[str]()

    def rows() -> Iterator[dict[str, np.ndarray]]:
        for index, row in enumerate(records.read_rows(folder)):
            where = f"{folder} row {index} ({row['id']})"
            padded = pad_row(row["input_ids"], row["labels"], length, vocabulary.pad, where)
            check_ids(padded["input_ids"], vocabulary.size, where)
            count.update(
                tokens=len(row["input_ids"]), trained_tokens=int(scored(padded["input_ids"], padded["labels"], vocabulary.pad).sum())
            )
            bar.advance()
            yield padded

    with stage.bar(stage.manifest("instruct").counts[split], "rows", f"{stage.contract.name} {split}") as bar:
        estimate = stage.manifest("instruct").counts[split] * length * 8
        written = mindrecord.write(
            stage.out, split, rows(), columns=("input_ids", "labels"), shards=stage.parameters.shards, estimated_bytes=estimate
        )
    return {
        "files": list(written.files),
        "rows": written.rows,
        "documents": written.rows,
        "tokens": count["tokens"],
        "trained_tokens": count["trained_tokens"],
    }
