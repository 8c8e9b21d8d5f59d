"""pack: token rows of one length in MindRecord files, for pre-training and for instruction data.

The corpus is encoded part by part by the workers; rows are cut and written in order by this process, so that neither workers nor
shards change a row. Memory: the parts at work, and a counter for each id of the vocabulary.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import zstandard

from runtime import records
from runtime.contracts import pack
from runtime.contracts.counting import counted
from runtime.contracts.pack import PAD, WHOLE, Pack, columns_of
from runtime.data import encoded, mindrecord, pack_dialogues, row_samples
from runtime.data.encoded import Encoded
from runtime.data.encoding import Vocabulary
from runtime.data.mindrecord import Written
from runtime.data.packed import JSON, SPLITS, state, without_files
from runtime.data.row_samples import RowSamples
from runtime.data.rows import PADDED_LAYOUT, PRETRAIN_LAYOUT, WHOLE_LAYOUT, Block, RowCutter, Unigram, WholePacker, check_ids
from runtime.faults import StageFault
from runtime.stage import Stage


def run(stage: Stage[Pack]) -> None:
    """Pack documents or dialogues, whichever the contract says."""
    if stage.contract.name == pack.PRETRAIN.name:
        _pack_corpus(stage)
    else:
        pack_dialogues.run(stage)


@dataclass
class Lengths:
    """How long documents are, in ids. counts[n]: documents of more than 2**(n - 1) and at most 2**n ids."""

    window: int
    counts: Counter[int] = field(default_factory=Counter[int])
    tokens: int = 0
    longer: int = 0
    longer_tokens: int = 0

    def add(self, lengths: np.ndarray) -> None:
        """Count documents."""
        self.counts.update(np.ceil(np.log2(lengths)).astype(int).tolist())
        beyond = lengths[lengths > self.window]
        self.tokens += int(lengths.sum())
        self.longer += len(beyond)
        self.longer_tokens += int(beyond.sum())

    def as_metrics(self) -> JSON:
        """Documents by the power of two that bounds their ids, and those that no row holds."""
        share = round(self.longer_tokens / max(self.tokens, 1), 6)
        beyond = {"documents": self.longer, "tokens": self.longer_tokens, "share_of_tokens": share}
        return {"at_most": {str(2**power): self.counts[power] for power in sorted(self.counts)}, "longer_than_a_row": beyond}


@dataclass
class PackedCorpus:
    """One split of the corpus on its way into rows."""

    cutter: RowCutter | WholePacker
    labels: Unigram
    lengths: Lengths
    samples: RowSamples = field(default_factory=RowSamples)
    sums: dict[str, Counter[str]] = field(default_factory=dict[str, Counter[str]])

    @classmethod
    def of(cls, parameters: Pack, vocabulary: Vocabulary) -> "PackedCorpus":
        """Nothing yet."""
        pad, length = vocabulary.pad, parameters.seq_length
        whole = parameters.documents == WHOLE
        cutter = WholePacker(length, pad) if whole else RowCutter(length, pad if parameters.tail == PAD else None)
        return cls(cutter, Unigram.of_size(vocabulary.size), Lengths(length + 1))

    def blocks(self, parts: Iterator[Encoded], vocabulary: Vocabulary, advance: Any) -> Iterator[Block]:
        """The rows of encoded parts, counted."""
        for part in parts:
            for name, documents, tokens, size in zip(part.names, part.documents, part.tokens, part.bytes, strict=True):
                self.sums.setdefault(name, Counter()).update(documents=documents, tokens=tokens, bytes=size)
            numbers = {name: number for number, name in enumerate(self.sums)}
            stream = part.stream([numbers[name] for name in part.names])
            self.lengths.add(stream.lengths)
            check_ids(stream.ids, vocabulary.size, str(part.path))
            yield from map(self._seen, self.cutter.add(stream))
            advance(sum(part.documents))
        yield from map(self._seen, self.cutter.finish())

    def _seen(self, block: Block) -> Block:
        names = [*self.sums]
        self.labels.add(block.labels)
        self.samples.offer(block.ids, block.labels, [names[source] for source in block.sources])
        return block

    def facts(self, written: Written) -> JSON:
        """What the manifest and the metrics say of the rows."""
        cutter = self.cutter
        padded = {"pad_tokens": cutter.pad_tokens} if cutter.pad is not None else {}
        return {
            "files": list(written.files),
            "rows": written.rows,
            "documents": cutter.documents,
            "tokens": cutter.tokens,
            "trained_tokens": cutter.scored_tokens,
            "dropped_tokens": cutter.dropped_tokens,
            **padded,
            "bytes": cutter.scored_bytes,
        }

    def by_source(self) -> JSON:
        """Documents, tokens, bytes and share of the tokens of each source, in order of name."""
        total = max(self.cutter.tokens, 1)
        return {
            name: {
                **sums,
                "bytes_per_token": round(sums["bytes"] / sums["tokens"], 6),
                "share_of_tokens": round(sums["tokens"] / total, 6),
            }
            for name, sums in sorted(self.sums.items())
        }


def _pack_corpus(stage: Stage[Pack]) -> None:
    parameters, corpus, folder = stage.parameters, stage.input("corpus/split"), stage.input("tokenizer")
    vocabulary = encoded.vocabulary(folder, stage.manifest("tokenizer").facts["identity"])
    columns = columns_of(parameters.documents, parameters.tail)
    packed = {split: PackedCorpus.of(parameters, vocabulary) for split in SPLITS}
    written = {split: _write(stage, split, corpus / split, part, vocabulary) for split, part in packed.items()}
    splits = {split: part.facts(written[split]) for split, part in packed.items()}
    state(stage, vocabulary, columns, layout_of(parameters), splits)
    row_samples.write(stage.out, (row for split, part in packed.items() for row in part.samples.rows(split, vocabulary)))
    stage.metrics(
        {
            "splits": without_files(splits),
            "train_by_source": packed["train"].by_source(),
            "lengths": {split: part.lengths.as_metrics() for split, part in packed.items()},
            "unigram": packed["train"].labels.score(packed["validation"].labels, packed["validation"].cutter.scored_bytes),
        }
    )


def _write(stage: Stage[Pack], split: str, folder: Path, part: PackedCorpus, vocabulary: Vocabulary) -> Written:
    parameters, (documents, size) = stage.parameters, extent(folder)
    columns = columns_of(parameters.documents, parameters.tail)
    with stage.bar(documents, "documents", f"{stage.contract.name} {split}") as bar:
        parts = encoded.each_part(records.parts(folder), stage.scratch / split, Path("tokenizer"), vocabulary.identity, stage.placement)
        return mindrecord.write(
            stage.out,
            split,
            at_least_one(part.blocks(parts, vocabulary, bar.advance), split, part),
            columns=columns,
            shards=parameters.shards,
            estimated_bytes=4 * len(columns) * (size + 2 * documents),
        )


def layout_of(parameters: Pack) -> str:
    """What the manifest says about the rows, in words."""
    padded = PADDED_LAYOUT if parameters.tail == PAD else PRETRAIN_LAYOUT
    return WHOLE_LAYOUT if parameters.documents == WHOLE else padded


def extent(folder: Path) -> tuple[int, int]:
    """(documents, bytes of their JSON: no less than their text has) of a folder of records, without reading the JSON."""
    documents = size = 0
    for path in records.parts(folder):
        with path.open("rb") as file, zstandard.ZstdDecompressor().stream_reader(file) as stream:
            while block := stream.read(1 << 20):
                documents, size = documents + block.count(b"\n"), size + len(block)
    return documents, size


def at_least_one(blocks: Iterator[Block], split: str, part: PackedCorpus) -> Iterator[dict[str, np.ndarray]]:
    """The columns of the blocks. Raises StageFault where they have no row."""
    for block in blocks:
        yield {"input_ids": block.ids, "labels": block.labels}
    cutter = part.cutter
    if not cutter.rows:
        raise StageFault(
            f"{split} has {counted(cutter.tokens, 'token')} in {counted(cutter.documents, 'document')}: "
            f"not one row of {cutter.seq_length + 1}",
            where=f"corpus/split/{split}",
            reason="nothing could be trained or scored",
            fix="give more text, a larger data.pretrain.split.validation, or a smaller model.seq_length",
        )
