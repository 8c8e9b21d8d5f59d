"""pack: token rows of one length in MindRecord files, for pre-training and for instruction data."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from runtime import records
from runtime.contracts import pack
from runtime.contracts.pack import Pack
from runtime.data import encoding, mindrecord, pack_dialogues
from runtime.data.encoding import Vocabulary
from runtime.data.mindrecord import Written
from runtime.data.packed import JSON, SPLITS, state, without_files
from runtime.data.rows import PRETRAIN_LAYOUT, RowCutter, Unigram, check_ids, document_ids, tokens_by_source
from runtime.faults import StageFault
from runtime.stage import Stage


def run(stage: Stage[Pack]) -> None:
    """Pack documents or dialogues, whichever the contract says."""
    if stage.contract.name == pack.PRETRAIN.name:
        _pack_corpus(stage)
    else:
        pack_dialogues.run(stage)


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
    stage.metrics({"splits": without_files(splits), "train_by_source": _by_source(packed["train"].sources), "unigram": unigram})


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
