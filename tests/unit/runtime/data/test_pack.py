"""The pack stages, from records to files, in experiment folders."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from samples import TOKENIZER, Experiment

from runtime import manifest, records
from runtime.contracts import format as format_contract
from runtime.contracts import pack, tokenizer
from runtime.data import dialogue_parts, encoding, mindrecord
from runtime.data.chat import IGNORED
from runtime.data.rows import scored
from runtime.faults import InputFault, StageFault
from runtime.records import Record

SETTINGS = {"seq_length": 64, "shards": 1, "documents": "separated", "tail": "drop"}


@pytest.fixture
def ready(new_experiment: Callable[..., Experiment], documents: list[Record]) -> Callable[..., Experiment]:
    def make(name: str = "project") -> Experiment:
        experiment = new_experiment(name)
        experiment.corpus(documents[20:], documents[:20])
        experiment.run(tokenizer.CONTRACT, **TOKENIZER)
        return experiment

    return make


def formatted(experiment: Experiment, **changes: Any) -> None:
    experiment.rows("data/one.jsonl", [{"instruction": f"fox {i}?", "output": f"{i} dogs"} for i in range(40)])
    sources = {"one": {"path": "data/one.jsonl", "format": "alpaca", "weight": 1.0}}
    usual = {"truncation": "middle", "train_on": "assistant", "validation": 0.1, "by": "row", "seq_length": 64, "seed": 42}
    experiment.run(format_contract.CONTRACT, sources=sources, **{**usual, **changes})


def stored(experiment: Experiment, folder: str, split: str) -> list[dict[str, np.ndarray]]:
    files = manifest.verify(experiment.folder / folder).facts["splits"][split]["files"]
    return [row for file in files for row in mindrecord.read(experiment.folder / folder, file)]


def test_packed_text_reads_as_the_documents_and_the_counts_are_exact(ready: Callable[..., Experiment], documents: list[Record]) -> None:
    experiment = ready()
    metrics = experiment.run(pack.PRETRAIN, **SETTINGS)
    vocabulary = encoding.load(experiment.folder / "tokenizer")
    facts = manifest.verify(experiment.folder / "packed/pretrain").facts
    assert (facts["seq_length"], facts["row_length"], facts["columns"], facts["vocab_size"]) == (64, 65, ["input_ids"], 420)
    assert facts["tokenizer"] == vocabulary.identity and "attention crosses" in facts["layout"]
    for split, members in (("train", documents[20:]), ("validation", documents[:20])):
        rows, told = stored(experiment, "packed/pretrain", split), facts["splits"][split]
        stream = [int(rows[0]["input_ids"][0]), *(int(id) for row in rows for id in row["input_ids"][1:])]
        whole = "".join(record.text for record in members)
        assert whole.startswith(vocabulary.decode(stream).rstrip("\ufffd"))
        documents_begun = stream.count(vocabulary.bos)
        assert documents_begun - stream.count(vocabulary.eos) in (0, 1) and documents_begun > len(members) - 5
        assert vocabulary.pad not in stream
        assert (told["rows"], told["documents"], told["trained_tokens"]) == (len(rows), len(members), 64 * len(rows))
        assert told["tokens"] == len(stream) + told["dropped_tokens"]
        assert told["bytes"] == len(vocabulary.decode(stream).rstrip("\ufffd").encode()) <= len(whole.encode())
    assert metrics["unigram"]["tokens"] == facts["splits"]["validation"]["trained_tokens"]
    assert 0 < metrics["unigram"]["bits_per_byte"] < 8
    assert metrics["train_by_source"]["english"]["documents"] == 140


def test_packed_dialogues_have_labels_where_answers_stand(ready: Callable[..., Experiment]) -> None:
    experiment = ready()
    formatted(experiment)
    metrics = experiment.run(pack.INSTRUCT, **SETTINGS)
    given = list(dialogue_parts.rows(experiment.folder / "instruct/train"))
    found = stored(experiment, "packed/instruct", "train")
    assert len(found) == len(given) == metrics["splits"]["train"]["rows"]
    for before, after in zip(given, found, strict=True):
        used = len(before["input_ids"])
        assert after["input_ids"].tolist() == before["input_ids"] + [0] * (65 - used)
        assert after["labels"].tolist() == before["labels"] + [IGNORED] * (65 - used)
    trained = sum(label != IGNORED for row in given for label in row["labels"])
    assert metrics["splits"]["train"]["trained_tokens"] == trained
    assert manifest.read(experiment.folder / "packed/instruct").facts["columns"] == ["input_ids", "labels"]


def test_fewer_shards_leave_no_old_ones_and_another_folder_gives_the_same_bytes(ready: Callable[..., Experiment]) -> None:
    experiment = ready("first")
    experiment.run(pack.PRETRAIN, **{**SETTINGS, "shards": 4})
    experiment.run(pack.PRETRAIN, **{**SETTINGS, "shards": 2})
    two = ["mindrecord0", "mindrecord0.db", "mindrecord1", "mindrecord1.db"]
    expected = sorted(["manifest.json", "sample.jsonl", *(f"{split}/{split}.{name}" for split in ("train", "validation") for name in two)])
    assert sorted(experiment.tree("packed/pretrain")) == expected
    other = ready("second-and-longer")
    other.run(pack.PRETRAIN, **{**SETTINGS, "shards": 2})
    assert other.tree("packed/pretrain") == experiment.tree("packed/pretrain")


def test_a_split_that_does_not_fill_a_row_is_refused(ready: Callable[..., Experiment]) -> None:
    experiment = ready()
    with pytest.raises(StageFault, match=r"validation has \d+ tokens in 20 documents: not one row of 4097"):
        experiment.run(pack.PRETRAIN, **{**SETTINGS, "seq_length": 4096})
    assert not (experiment.folder / "packed").exists()


def test_rows_for_another_length_or_tokenizer_are_refused(ready: Callable[..., Experiment]) -> None:
    experiment = ready()
    formatted(experiment)
    with pytest.raises(InputFault, match="row_length is 65, not 33"):
        experiment.run(pack.INSTRUCT, **{**SETTINGS, "seq_length": 32})
    experiment.run(tokenizer.CONTRACT, **{**TOKENIZER, "vocab_size": 421})
    with pytest.raises(InputFault, match="tokenizer is"):
        experiment.run(pack.INSTRUCT, **SETTINGS)


def test_a_renamed_file_is_named(ready: Callable[..., Experiment]) -> None:
    experiment = ready()
    experiment.run(pack.PRETRAIN, **SETTINGS)
    folder = experiment.folder / "packed/pretrain"
    for end in ("", ".db"):
        (folder / f"train.mindrecord{end}").rename(folder / f"z.mindrecord{end}")
    with pytest.raises(InputFault, match=r"train.mindrecord is missing; train.mindrecord.db is missing; z.mindrecord is not"):
        manifest.verify(folder)


@pytest.mark.parametrize(("layout", "tail"), [("separated", "drop"), ("separated", "pad"), ("whole", "pad")])
def test_layouts_state_their_columns_and_score_what_they_say(ready: Callable[..., Experiment], layout: str, tail: str) -> None:
    experiment = ready()
    metrics = experiment.run(pack.PRETRAIN, **{**SETTINGS, "documents": layout, "tail": tail, "shards": 2})
    facts = manifest.verify(experiment.folder / "packed/pretrain").facts
    assert tuple(facts["columns"]) == pack.columns_of(layout, tail)
    for split in ("train", "validation"):
        rows, told = stored(experiment, "packed/pretrain", split), metrics["splits"][split]
        ids = np.stack([row["input_ids"] for row in rows])
        labels = np.stack([row.get("labels", row["input_ids"]) for row in rows])
        assert int(scored(ids, labels, 0).sum()) == told["trained_tokens"]
        assert int((ids == 0).sum()) == told.get("pad_tokens", 0)
        if layout == "whole":
            assert told["trained_tokens"] == told["tokens"] - told["documents"]
            assert told["bytes"] == sum(source["bytes"] for source in metrics["train_by_source"].values()) or split == "validation"
    lengths = metrics["lengths"]["train"]
    assert sum(lengths["at_most"].values()) == 280
    assert sum(source["share_of_tokens"] for source in metrics["train_by_source"].values()) == pytest.approx(1, abs=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("layout", [{}, {"documents": "whole", "tail": "pad"}])
def test_workers_shards_and_parts_change_no_row(
    ready: Callable[..., Experiment], monkeypatch: pytest.MonkeyPatch, documents: list[Record], layout: dict[str, str]
) -> None:
    monkeypatch.setattr(records, "PART", records.Limit(40, 10**9))
    experiment, settings = ready(), {**SETTINGS, **layout}
    assert len(records.parts(experiment.folder / "corpus/split/train")) == 7
    experiment.run(pack.PRETRAIN, **settings)
    alone, rows = experiment.tree("packed/pretrain"), stored(experiment, "packed/pretrain", "train")
    experiment.configure("../placement", {"workers": 2})
    experiment.run(pack.PRETRAIN, **settings)
    assert experiment.tree("packed/pretrain") == alone
    (experiment.folder / "placement.yaml").unlink()
    experiment.run(pack.PRETRAIN, **{**settings, "shards": 3})
    assert sorted(map(tolist, stored(experiment, "packed/pretrain", "train"))) == sorted(map(tolist, rows))
    monkeypatch.undo()
    whole = ready("one-part")
    whole.run(pack.PRETRAIN, **settings)
    assert [*map(tolist, stored(whole, "packed/pretrain", "train"))] == [*map(tolist, rows)]


def tolist(row: dict[str, np.ndarray]) -> list[int]:
    return row["input_ids"].tolist()


def test_twenty_rows_and_more_are_shown_with_what_is_trained(ready: Callable[..., Experiment], documents: list[Record]) -> None:
    experiment = ready()
    experiment.run(pack.PRETRAIN, **{**SETTINGS, "documents": "whole", "tail": "pad"})
    vocabulary = encoding.load(experiment.folder / "tokenizer")
    rows = [json.loads(line) for line in (experiment.folder / "packed/pretrain/sample.jsonl").read_text("utf-8").splitlines()]
    train = [row for row in rows if row["id"].startswith("train")]
    assert 20 <= len(train) < 40 and {row["source"] for row in train} == {"english", "chinese"}
    found = stored(experiment, "packed/pretrain", "train")
    for row in train:
        ids = found[int(row["id"].split()[-1])]["input_ids"].tolist()
        first, *others = row["segments"]
        assert first == {"text": "<s>", "trained": False, "special": True}
        assert "".join(one["text"] for one in row["segments"] if not one["special"]) == vocabulary.decode(ids)
        assert [one["text"] for one in others if one["trained"] and one["special"]] == ["</s>"] * ids.count(vocabulary.eos)
        pad = ids.count(vocabulary.pad)
        assert others[-1] == {"text": f"<pad> x {pad}", "trained": False, "special": True} or pad < 2


def test_a_document_longer_than_a_row_is_counted_as_such(ready: Callable[..., Experiment], documents: list[Record]) -> None:
    experiment = ready()
    long = Record("long", " ".join(record.text for record in documents), "english")
    experiment.corpus([long, *documents[20:]], documents[:20])
    metrics = experiment.run(pack.PRETRAIN, **SETTINGS)
    told = metrics["lengths"]["train"]["longer_than_a_row"]
    ids = len(encoding.load(experiment.folder / "tokenizer").encode(long.text)) + 2
    assert told["documents"] == 1 and told["tokens"] == ids
    assert told["share_of_tokens"] == round(ids / metrics["splits"]["train"]["tokens"], 6)
