"""pack-instruct: rows of instruction data, each filled to one length, in MindRecord files.

Memory: a part of the rows, or where several share one a window of them (dialogue_bins).
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from runtime.contracts.pack import SEVERAL, Pack
from runtime.data import dialogue_parts, encoding, masked_text, mindrecord
from runtime.data.chat import IGNORED
from runtime.data.dialogue_bins import WINDOW, together, windows
from runtime.data.dialogue_parts import Dialogues
from runtime.data.encoding import Vocabulary
from runtime.data.packed import JSON, SPLITS, state, without_files
from runtime.data.rows import INSTRUCT_LAYOUT, SEVERAL_LAYOUT, check_ids, scored
from runtime.data.tokenizers.backend import Ids
from runtime.faults import InputFault, StageFault
from runtime.stage import Stage

Numbers = NDArray[np.int64]
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

    def packed(self, parts: Iterator[Dialogues], folder: Path, advance: Any) -> Iterator[dict[str, np.ndarray]]:
        """The rows of a folder, some at a time: of each column (rows, `length`)."""
        for window in windows(parts, WINDOW if self.shared else BLOCK):
            groups = together(window.lengths.tolist(), self.length) if self.shared else [[number] for number in range(len(window))]
            for start in range(0, len(groups), BLOCK):
                yield self._block(Shared.of(window, groups[start : start + BLOCK]), folder)
            advance(len(window))

    def _block(self, rows: "Shared", folder: Path) -> dict[str, np.ndarray]:
        """Rows that are checked and counted together."""
        pad, dialogues = self.vocabulary.pad, rows.dialogues
        trained = rows.check(self.length, pad, lambda number: f"{folder} row {self.rows + number} ({rows.id(number)})")
        check_ids(dialogues.ids, self.vocabulary.size, f"{folder} rows {self.rows} to {self.rows + len(rows.first) - 1}")
        ids, labels = rows.filled(self.length, pad)
        self.counts.update(documents=len(dialogues), tokens=len(dialogues.ids), trained_tokens=trained)
        for number in range(min(masked_text.ROWS - len(self.sample), len(ids))):
            self.sample.append((rows.id(number), rows.source(number), ids[number].tolist(), labels[number].tolist()))
        self.rows += len(ids)
        return {"input_ids": ids, "labels": labels}


@dataclass(frozen=True)
class Shared:
    """Dialogues in the order in which they fill rows; first: the first dialogue of each row."""

    dialogues: Dialogues
    first: Numbers

    @classmethod
    def of(cls, window: Dialogues, groups: Sequence[Sequence[int]]) -> "Shared":
        """The dialogues of a window whose numbers are in `groups`. Where several share a row, the first id of each has no label, so that
        the loss does not cross from one to the next."""
        sizes = np.asarray([len(members) for members in groups])
        numbers = np.asarray([number for members in groups for number in members], np.int64)
        in_order = bool((np.diff(numbers) == 1).all())
        taken = window.part(int(numbers[0]), int(numbers[-1]) + 1) if in_order else window.take(numbers)
        trained = taken.trained.copy()
        trained[(np.cumsum(taken.lengths) - taken.lengths)[np.repeat(sizes > 1, sizes)]] = False
        return cls(replace(taken, trained=trained), np.cumsum(sizes) - sizes)

    @property
    def sizes(self) -> Numbers:
        """Ids of each row."""
        return np.add.reduceat(self.dialogues.lengths, self.first, dtype=np.int64)

    def check(self, length: int, pad: int, where: Callable[[int], str]) -> int:
        """How many labels count. `where`: of the row of a number.

        Raises StageFault for a row of more than `length` ids, and for one without such a label.
        """
        sizes = self.sizes
        if len(long := np.flatnonzero(sizes > length)):
            raise _wrong_row(f"{sizes[long[0]]} ids do not fit a row of {length}", where(int(long[0])))
        starts = np.cumsum(sizes) - sizes
        counts = np.concatenate([[False], scored(self.dialogues.ids, self.dialogues.labels, pad)])
        counts[starts[sizes > 0]] = False
        sums = np.concatenate([[0], np.cumsum(counts)])
        of_rows = sums[starts + sizes] - sums[starts]
        if len(untrained := np.flatnonzero(of_rows == 0)):
            raise _wrong_row("no trained token in the row", where(int(untrained[0])), "its loss would be 0 divided by 0")
        return int(of_rows.sum())

    def filled(self, length: int, pad: int) -> tuple[Ids, Ids]:
        """Ids filled with `pad` and labels filled with IGNORED, by position and not by id: (rows, length)."""
        sizes = self.sizes
        before = np.arange(len(sizes)) * length - (np.cumsum(sizes) - sizes)
        places = np.repeat(before, sizes) + np.arange(len(self.dialogues.ids))
        ids, labels = np.full((len(sizes), length), pad, np.int32), np.full((len(sizes), length), IGNORED, np.int32)
        ids.ravel()[places], labels.ravel()[places] = self.dialogues.ids, self.dialogues.labels
        return ids, labels

    def id(self, number: int) -> str:
        """The ids of the dialogues of a row."""
        return "+".join(self._row(number).row_ids())

    def source(self, number: int) -> str:
        """The sources of the dialogues of a row, each once."""
        row = self._row(number)
        return "+".join(dict.fromkeys(row.names[row.source].tolist()))

    def _row(self, number: int) -> Dialogues:
        ends = [*self.first.tolist(), len(self.dialogues)]
        return self.dialogues.part(ends[number], ends[number + 1])


def _wrong_row(message: str, where: str, reason: str = "") -> StageFault:
    return StageFault(message, where, reason, fix="delete the folder instruct and run `dvc repro`")


def pack_dialogues(stage: Stage[Pack], folder: Path, split: str, part: PackedDialogues) -> JSON:
    """Pack one split of dialogues and return its facts."""
    count = stage.manifest("instruct").counts[split]
    with stage.bar(count, "rows", f"{stage.contract.name} {split}") as bar:
        written = mindrecord.write(
            stage.out,
            split,
            part.packed(dialogue_parts.read(folder), folder, bar.advance),
            columns=("input_ids", "labels"),
            shards=stage.parameters.shards,
            estimated_bytes=count * part.length * 8,
        )
    return {"files": list(written.files), "rows": written.rows, **part.counts}
