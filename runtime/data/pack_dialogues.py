"""pack-instruct: rows of instruction data, each filled to one length, in MindRecord files.

Memory: one row, or where several share one a window of them (dialogue_bins).
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from runtime import records
from runtime.contracts.pack import SEVERAL, Pack
from runtime.data import encoding, masked_text, mindrecord
from runtime.data.chat import IGNORED
from runtime.data.dialogue_bins import together, windows
from runtime.data.encoding import Vocabulary
from runtime.data.packed import JSON, SPLITS, state, without_files
from runtime.data.rows import INSTRUCT_LAYOUT, SEVERAL_LAYOUT, check_ids, pad_row, scored
from runtime.faults import InputFault
from runtime.stage import Stage

Row = Mapping[str, Any]


def run(stage: Stage[Pack]) -> None:
    """Pack both splits and state what was packed."""
    parameters, vocabulary = stage.parameters, encoding.load(stage.input("tokenizer"))
    folder = stage.input("instruct")
    check_origin(stage, vocabulary)
    packed = {split: PackedDialogues(parameters.seq_length + 1, vocabulary, shares(parameters, split)) for split in SPLITS}
    splits = {split: pack_dialogues(stage, folder / split, split, part) for split, part in packed.items()}
    state(stage, vocabulary, ("input_ids", "labels"), SEVERAL_LAYOUT if parameters.dialogues == SEVERAL else INSTRUCT_LAYOUT, splits)
    stage.facts["dialogues"] = parameters.dialogues
    masked_text.write(stage.out / masked_text.FILE, (row for part in packed.values() for row in part.sample), vocabulary)
    stage.metrics({"splits": without_files(splits), "fill": {split: part.fill for split, part in packed.items()}})


def shares(parameters: Pack, split: str) -> bool:
    """Whether dialogues of a split share rows: those of validation never do, so that scores do not depend on how training is packed."""
    return parameters.dialogues == SEVERAL and split == "train"


def check_origin(stage: Stage[Pack], vocabulary: Vocabulary) -> None:
    """Raise InputFault where the rows were made with another tokenizer or for another length."""
    facts = stage.manifest("instruct").facts
    wanted = {"tokenizer": vocabulary.identity, "row_length": stage.parameters.seq_length + 1}
    if wrong := [f"{name} is {facts.get(name)}, not {value}" for name, value in wanted.items() if facts.get(name) != value]:
        raise InputFault("; ".join(wrong), where="instruct/manifest.json", reason="the ids would mean other text", fix="run `dvc repro`")


@dataclass
class PackedDialogues:
    """One split of the dialogues on its way into rows of `length` ids; `shared`: several dialogues may share a row."""

    length: int
    vocabulary: Vocabulary
    shared: bool
    rows: int = 0
    counts: Counter[str] = field(default_factory=Counter[str])
    sample: list[masked_text.Sampled] = field(default_factory=list[masked_text.Sampled])
    _of_source: Counter[str] = field(default_factory=Counter[str])

    @property
    def fill(self) -> float:
        """Share of the ids of all rows that are no padding."""
        return round(self.counts["tokens"] / max(self.rows * self.length, 1), 6)

    def packed(self, rows: Iterator[Row], folder: Path, advance: Any) -> Iterator[dict[str, np.ndarray]]:
        """The rows of a folder as columns of `length` ids."""
        groups = (group for window in windows(rows) for group in self._groups(window)) if self.shared else ([row] for row in rows)
        for group in groups:
            where = f"{folder} row {self.rows} ({group[0]['id']})"
            joined = join(group)
            padded = pad_row(joined["input_ids"], joined["labels"], self.length, self.vocabulary.pad, where)
            check_ids(padded["input_ids"], self.vocabulary.size, where)
            trained = int(scored(padded["input_ids"], padded["labels"], self.vocabulary.pad).sum())
            self.counts.update(documents=len(group), tokens=len(joined["input_ids"]), trained_tokens=trained)
            self._look_at(joined, padded)
            self.rows += 1
            advance(len(group))
            yield padded

    def _groups(self, window: Sequence[Row]) -> Iterator[list[Row]]:
        for members in together([len(row["input_ids"]) for row in window], self.length):
            yield [window[index] for index in members]

    def _look_at(self, row: Row, padded: Mapping[str, np.ndarray]) -> None:
        """Keep the first rows of each source to look at."""
        if self._of_source[row["source"]] < masked_text.ROWS and len(self.sample) < 2 * masked_text.ROWS:
            self._of_source[row["source"]] += 1
            self.sample.append((row["id"], row["source"], padded["input_ids"].tolist(), padded["labels"].tolist()))


def join(rows: Sequence[Row]) -> Row:
    """Dialogues one behind the other; the first id of each has no label, so that the loss does not cross from one to the next."""
    if len(rows) == 1:
        return rows[0]
    labels = [label for row in rows for label in (IGNORED, *row["labels"][1:])]
    sources = "+".join(dict.fromkeys(row["source"] for row in rows))
    ids = [id for row in rows for id in row["input_ids"]]
    return {"id": "+".join(row["id"] for row in rows), "source": sources, "input_ids": ids, "labels": labels}


def pack_dialogues(stage: Stage[Pack], folder: Path, split: str, part: PackedDialogues) -> JSON:
    """Pack one split of dialogues and return its facts."""
    count = stage.manifest("instruct").counts[split]
    with stage.bar(count, "rows", f"{stage.contract.name} {split}") as bar:
        written = mindrecord.write(
            stage.out,
            split,
            part.packed(records.read_rows(folder), folder, bar.advance),
            columns=("input_ids", "labels"),
            shards=stage.parameters.shards,
            estimated_bytes=count * part.length * 8,
        )
    return {"files": list(written.files), "rows": written.rows, **part.counts}
