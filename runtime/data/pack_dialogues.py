"""pack-instruct: rows of instruction data, each filled to one length, in MindRecord files.

Memory: one row, or where several share one a window of them (dialogue_bins).
"""

from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from runtime import records
from runtime.contracts.pack import SEVERAL, Pack
from runtime.data import encoding, masked_text, mindrecord
from runtime.data.chat import IGNORED
from runtime.data.dialogue_bins import WINDOW, together, windows
from runtime.data.encoding import Vocabulary
from runtime.data.packed import JSON, SPLITS, state, without_files
from runtime.data.rows import INSTRUCT_LAYOUT, SEVERAL_LAYOUT, check_ids, pad_rows, scored
from runtime.faults import InputFault
from runtime.stage import Stage

Row = Mapping[str, Any]
BLOCK = 256  # rows that are checked together


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

    @property
    def fill(self) -> float:
        """Share of the ids of all rows that are no padding."""
        return round(self.counts["tokens"] / max(self.rows * self.length, 1), 6)

    def packed(self, rows: Iterator[Row], folder: Path, advance: Any) -> Iterator[dict[str, np.ndarray]]:
        """The rows of a folder as columns of `length` ids."""
        for window in windows(rows, WINDOW if self.shared else BLOCK):
            groups = self._groups(window) if self.shared else [[row] for row in window]
            for start in range(0, len(groups), BLOCK):
                yield from self._block(groups[start : start + BLOCK], folder)
            advance(len(window))

    def _block(self, groups: Sequence[Sequence[Row]], folder: Path) -> Iterator[dict[str, np.ndarray]]:
        """Rows that are checked and counted together."""
        joined = [join(group) for group in groups]
        told = [f"{folder} row {self.rows + number} ({row['id']})" for number, row in enumerate(joined)]
        pairs = [(row["input_ids"], row["labels"]) for row in joined]
        ids, labels = pad_rows(pairs, self.length, self.vocabulary.pad, told.__getitem__)
        check_ids(ids, self.vocabulary.size, f"{folder} rows {self.rows} to {self.rows + len(ids) - 1}")
        trained = int(scored(ids, labels, self.vocabulary.pad).sum())
        self.counts.update(documents=sum(map(len, groups)), tokens=sum(len(pair[0]) for pair in pairs), trained_tokens=trained)
        for row, *padded in zip(joined[: masked_text.ROWS - len(self.sample)], ids, labels, strict=False):
            self.sample.append((row["id"], row["source"], *(values.tolist() for values in padded)))
        self.rows += len(groups)
        return ({"input_ids": one, "labels": other} for one, other in zip(ids, labels, strict=True))

    def _groups(self, window: Sequence[Row]) -> list[list[Row]]:
        groups = together([len(row["input_ids"]) for row in window], self.length)
        return [[window[index] for index in members] for members in groups]


def join(rows: Sequence[Row]) -> Row:
    """Dialogues one behind the other; the first id of each has no label, so that the loss does not cross from one to the next."""
    if len(rows) == 1:
        return rows[0]
    labels = array("i", chain.from_iterable((IGNORED, *row["labels"][1:]) for row in rows))
    sources = "+".join(dict.fromkeys(row["source"] for row in rows))
    ids = array("i", chain.from_iterable(row["input_ids"] for row in rows))
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
