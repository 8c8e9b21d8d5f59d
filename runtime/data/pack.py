"""pack: token rows of one length in MindRecord files, for pre-training and for instruction data."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from runtime import records
from runtime.contracts import pack
from runtime.contracts.pack import Pack
from runtime.data import encoding, mindrecord
from runtime.data.encoding import Vocabulary
from runtime.data.mindrecord import Written
from runtime.data.rows import (
    INSTRUCT_LAYOUT,
    PRETRAIN_LAYOUT,
    RowCutter,
    Unigram,
    check_ids,
    document_ids,
    pad_row,
    scored,
    tokens_by_source,
)
from runtime.faults import InputFault, StageFault
from runtime.stage import Stage

SPLITS = ("train", "validation")
JSON = dict[str, Any]


def run(stage: Stage[Pack]) -> None:
    """Pack documents or dialogues, whichever the contract says."""
    if stage.contract.name == pack.PRETRAIN.name:
        _pack_corpus(stage)
    else:
        _pack_dialogues(stage)


@dataclass
class PackedCorpus:
    """One split of the corpus on its way into rows."""

    cutter: RowCutter
    labels: Unigram
    sources: list[tuple[str, int, int]] = field(default_factory=list)

    def rows(self, folder: Path, vocabulary: Vocabulary, advance: Any) -> Iterator[dict[str, np.ndarray]]:
        """The rows of a folder of records."""
        for record in records.read(folder):
            ids, sizes = document_ids(vocabulary, record.text)
            self.sources.append((record.source, len(ids), sum(sizes)))
            for row in self.cutter.add(ids, sizes):
                self.labels.add(check_ids(row, vocabulary.size, f"{folder} {record.id}"))
                yield {"input_ids": row}
            advance()


def _pack_corpus(stage: Stage[Pack]) -> None:
    parameters, corpus, vocabulary = stage.parameters, stage.input("corpus/split"), encoding.load(stage.input("tokenizer"))
    packed = {split: PackedCorpus(RowCutter(parameters.seq_length), Unigram.of_size(vocabulary.size)) for split in SPLITS}
    written: dict[str, Written] = {}
    for split, part in packed.items():
        documents, size = extent(corpus / split)
        with stage.bar(documents, "documents", f"{stage.contract.name} {split}") as bar:
            rows = at_least_one(part.rows(corpus / split, vocabulary, bar.advance), split, part.cutter)
            written[split] = mindrecord.write(
                stage.out, split, rows, columns=("input_ids",), shards=parameters.shards, estimated_bytes=4 * (size + 2 * documents)
            )
    splits = {split: _corpus_facts(part.cutter, written[split]) for split, part in packed.items()}
    state(stage, vocabulary, ("input_ids",), PRETRAIN_LAYOUT, splits)
    unigram = packed["train"].labels.score(packed["validation"].labels, packed["validation"].cutter.scored_bytes)
    stage.metrics({"splits": _without_files(splits), "train_by_source": _by_source(packed["train"].sources), "unigram": unigram})


def extent(folder: Path) -> tuple[int, int]:
    """(documents, UTF-8 bytes of text) of a folder of records."""
    sizes = [record.size for record in records.read(folder)]
    return len(sizes), sum(sizes)


def at_least_one(rows: Iterable[dict[str, np.ndarray]], split: str, cutter: RowCutter) -> Iterator[dict[str, np.ndarray]]:
    """The same rows. Raises StageFault where there is none."""
    yield from rows
    if not cutter.rows:
        raise StageFault(
            f"{split} has {cutter.tokens} tokens in {cutter.documents} documents: not one row of {cutter.seq_length + 1}",
            where=f"corpus/split/{split}",
            reason="nothing could be trained or scored",
            fix="give more text, a larger data.pretrain.split.validation, or a smaller model.seq_length",
        )


def _corpus_facts(cutter: RowCutter, written: Written) -> JSON:
    return {
        "files": list(written.files),
        "rows": written.rows,
        "documents": cutter.documents,
        "tokens": cutter.tokens,
        "trained_tokens": cutter.scored_tokens,
        "dropped_tokens": cutter.dropped_tokens,
        "bytes": cutter.scored_bytes,
    }


def _by_source(sources: list[tuple[str, int, int]]) -> JSON:
    return {name: {**sums, "bytes_per_token": round(sums["bytes"] / sums["tokens"], 6)} for name, sums in tokens_by_source(sources).items()}


def _pack_dialogues(stage: Stage[Pack]) -> None:
    parameters, vocabulary = stage.parameters, encoding.load(stage.input("tokenizer"))
    folder = stage.input("instruct")
    check_origin(stage, vocabulary)
    splits = {split: pack_dialogues(stage, folder / split, split, vocabulary) for split in SPLITS}
    state(stage, vocabulary, ("input_ids", "labels"), INSTRUCT_LAYOUT, splits)
    stage.metrics(
        {
            "splits": _without_files(splits),
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


def _without_files(splits: JSON) -> JSON:
    return {split: {name: value for name, value in facts.items() if name != "files"} for split, facts in splits.items()}
