"""Rows of 8 and of 4,096 tokens: every trained token is in one row exactly once or counted as dropped, and no row is longer."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dialogue_samples import dialogues
from hypothesis import HealthCheck, given
from hypothesis import settings as example_settings
from hypothesis import strategies as st
from samples import ROOT, TOKENIZER, Experiment

from runtime import manifest
from runtime.contracts import format as format_contract
from runtime.contracts import pack, tokenizer
from runtime.data import encoding, mindrecord
from runtime.data.chat import IGNORED
from runtime.data.encoding import Vocabulary
from runtime.data.pack_dialogues import PackedDialogues
from runtime.data.rows import RowCutter, Stream, WholePacker, scored
from runtime.records import Record

EXTREMES = [8, 4096]
PAD = 0
FEW = example_settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def lengths(most: int, longest: int) -> st.SearchStrategy[list[int]]:
    """Lengths of texts: short ones, and those beside the ends of rows of `most` ids."""
    edges = [edge for whole in (most - 1, 2 * most - 2, 3 * most - 3) for edge in range(whole - 1, whole + 3) if 2 <= edge <= longest]
    return st.lists(st.integers(2, min(40, longest)) | st.sampled_from(edges), min_size=1, max_size=40)


def streams(sizes: Sequence[int], cuts: Sequence[int]) -> Iterator[Stream]:
    """Documents of ids that are all different, 1 and on, in streams that end at `cuts`."""
    numbers = np.arange(1, sum(sizes) + 1, dtype=np.int32)
    documents = [(part, np.ones(len(part), np.int32)) for part in np.split(numbers, list(accumulate(sizes))[:-1])]
    ends = sorted({0, *(cut % (len(sizes) + 1) for cut in cuts), len(sizes)})
    return (Stream.of(documents[start:end]) for start, end in pairwise(ends))


def trained(rows: Sequence[Any], length: int) -> list[int]:
    """The labels that count, of (ids, labels) with rows of `length` + 1 ids, which stand at their ids."""
    found = list[int]()
    for ids, labels in rows:
        assert ids.shape[1] == length + 1 and ((labels == ids) | (labels == IGNORED)).all()
        found += labels[:, 1:][scored(ids, labels, PAD)].tolist()
    return sorted(found)


@pytest.mark.parametrize("length", EXTREMES)
@FEW
@given(data=st.data(), pad=st.sampled_from([None, PAD]))
def test_joined_documents(length: int, data: st.DataObject, pad: int | None) -> None:
    sizes = data.draw(lengths(length + 1, 10**6))
    cutter = RowCutter(length, pad)
    blocks = [block for stream in streams(sizes, data.draw(st.lists(st.integers(0, 99)))) for block in cutter.add(stream)]
    found = trained([(block.ids, block.labels) for block in [*blocks, *cutter.finish()]], length)
    unscored = 1 if cutter.rows else 0  # the very first id is never predicted
    assert found == [*range(2, sum(sizes) + 1 - cutter.dropped_tokens)]
    assert cutter.tokens == sum(sizes) == unscored + cutter.scored_tokens + cutter.dropped_tokens
    assert cutter.dropped_tokens < length + 2 and (pad is None or cutter.dropped_tokens == 0)


@pytest.mark.parametrize("length", EXTREMES)
@FEW
@given(data=st.data())
def test_whole_documents(length: int, data: st.DataObject) -> None:
    sizes = data.draw(lengths(length + 1, 10**6))
    packer = WholePacker(length, PAD)
    blocks = [block for stream in streams(sizes, data.draw(st.lists(st.integers(0, 99)))) for block in packer.add(stream)]
    found = trained([(block.ids, block.labels) for block in [*blocks, *packer.finish()]], length)
    firsts = {1 + end for end in accumulate([0, *sizes[:-1]])}
    assert found == [id for id in range(1, sum(sizes) + 1) if id not in firsts]
    assert packer.scored_tokens == len(found) == packer.tokens - len(sizes)


@pytest.mark.parametrize("length", EXTREMES)
@FEW
@given(data=st.data(), several=st.booleans())
def test_dialogues(length: int, data: st.DataObject, several: bool, vocabulary: Vocabulary) -> None:
    sizes = data.draw(lengths(length + 1, length + 1))
    rows, start = list[dict[str, Any]](), 1
    for size in sizes:
        ids = list(range(start, start + size))
        from_here = data.draw(st.integers(1, size - 1))
        rows.append({"input_ids": ids, "labels": [IGNORED] * from_here + ids[from_here:]})
        start += size
    packed = PackedDialogues(length + 1, replace(vocabulary, size=start, pad=PAD), several)
    made = list(packed.packed(iter([dialogues(rows)]), Path("rows"), lambda _: None))
    found = trained([(block["input_ids"], block["labels"]) for block in made], length)
    assert found == [label for row in rows for label in row["labels"] if label != IGNORED]
    assert packed.counts == {"documents": len(sizes), "tokens": sum(sizes), "trained_tokens": len(found)}


@pytest.mark.parametrize("truncation", ["none", "middle"])
@pytest.mark.parametrize("length", EXTREMES)
def test_from_rows_of_instructions_to_packed_ones(new_experiment: Callable[..., Experiment], length: int, truncation: str) -> None:
    experiment = new_experiment()
    texts = [Record(str(number), f"a b c d {number}", "s") for number in range(300)]
    experiment.corpus(texts, texts[:9])
    experiment.run(tokenizer.CONTRACT, **{**TOKENIZER, "vocab_size": 300})
    (experiment.folder / "config/template.yaml").write_bytes((ROOT / "specs/template/plain.yaml").read_bytes())
    vocabulary = encoding.load(experiment.folder / "tokenizer")
    sizes = [(1 + number % 3, number % 4) for number in range(40)] + [(1 + 97 * number % 5000, 41 * number % 4500) for number in range(60)]
    given = [{"instruction": f"{number}" + "b" * asked, "output": "d" * said} for number, (asked, said) in enumerate(sizes)]
    experiment.rows("data/one.jsonl", given)
    sources = {"one": {"path": "data/one.jsonl", "format": "alpaca", "weight": 1.0}}
    settings = {"truncation": truncation, "train_on": "assistant", "validation": 0.2, "by": "row", "seq_length": length, "seed": 42}
    (counted,) = experiment.run(format_contract.CONTRACT, sources=sources, **settings)["sources"].values()
    assert counted["read"] == len(given) == counted["train"] + counted["validation"] + sum(counted["dropped"].values())
    between, answers = len(vocabulary.encode("\n\n")), Counter[tuple[int, ...]]()
    for row in given:
        asked, said = vocabulary.encode(row["instruction"]), [*vocabulary.encode(row["output"]), vocabulary.eos]
        room = length - between - len(said)  # for the question, behind bos
        if len(said) > 1 and room >= (len(asked) if truncation == "none" else min(len(asked), 16)):
            answers[tuple(said)] += 1
    assert sum(answers.values()) == counted["train"] + counted["validation"] > 4
    for together in ("one", "several"):
        experiment.run(pack.INSTRUCT, seq_length=length, shards=1, documents="separated", tail="drop", dialogues=together)
        assert Counter(stored(experiment, length, vocabulary.eos)) == answers


def stored(experiment: Experiment, length: int, eos: int) -> Iterator[tuple[int, ...]]:
    """The trained runs of ids of both splits, cut behind each eos."""
    folder = experiment.folder / "packed/instruct"
    for split in manifest.verify(folder).facts["splits"].values():
        for row in (row for file in split["files"] for row in mindrecord.read(folder, file)):
            assert len(row["input_ids"]) == length + 1
            labels = row["labels"][row["labels"] != IGNORED]
            yield from (tuple(run.tolist()) for run in np.split(labels, np.flatnonzero(labels == eos) + 1) if len(run))
