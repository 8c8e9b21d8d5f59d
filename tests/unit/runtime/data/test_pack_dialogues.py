"""Dialogues that share rows: which go together, what is trained of them, and that no row is lost, cut or seen by the loss of another."""

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dialogue_samples import dialogues, filled
from hypothesis import given
from hypothesis import strategies as st
from samples import TOKENIZER, Experiment

from runtime import manifest
from runtime.contracts import format as format_contract
from runtime.contracts import pack, tokenizer
from runtime.data import dialogue_bins, dialogue_parts, encoding, mindrecord
from runtime.data.chat import IGNORED, Message, Template, ids_of, labels_of, render
from runtime.data.dialogue_bins import together, windows
from runtime.data.encoding import Vocabulary
from runtime.data.pack_dialogues import Shared
from runtime.data.rows import scored
from runtime.evaluation import questions
from runtime.evaluation.cases import Case
from runtime.faults import StageFault
from runtime.records import Record

SETTINGS = {"seq_length": 64, "shards": 1, "documents": "separated", "tail": "drop", "dialogues": "several"}


@given(st.lists(st.integers(1, 65), max_size=200))
def test_every_dialogue_is_in_one_row_that_holds_it(lengths: list[int]) -> None:
    bins = together(lengths, 65)
    assert sorted(index for members in bins for index in members) == list(range(len(lengths)))
    assert all(sum(lengths[index] for index in members) <= 65 for members in bins)
    assert bins == sorted(bins) and all(members == sorted(members) for members in bins)
    loads = sorted(sum(lengths[index] for index in members) for members in bins)
    assert len(loads) < 2 or loads[0] + loads[1] > 65, "two rows could have been one"


def test_rows_fill_far_better_together() -> None:
    lengths = np.random.default_rng(4).integers(5, 40, 2000).tolist()
    alone, shared = (sum(lengths) / (65 * rows) for rows in (len(lengths), len(together(lengths, 65))))
    assert alone < 0.4 and shared > 0.99


def test_windows_are_bounded_by_rows_and_ids_whatever_the_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = dialogues([{"input_ids": [number] * 10, "labels": [1] * 10} for number in range(25)])
    parts = [whole.part(0, 3), whole.part(3, 4), whole.part(4, 25)]
    assert [len(window) for window in windows(parts, 8)] == [len(window) for window in windows([whole], 8)] == [8, 8, 8, 1]
    monkeypatch.setattr(dialogue_bins, "WINDOW_IDS", 35)
    assert [len(window) for window in windows(parts)] == [len(window) for window in windows([whole])] == [4] * 6 + [1]
    assert [id for window in windows(parts) for id in window.ids.tolist()] == whole.ids.tolist()
    assert [id for window in windows(parts) for id in window.row_ids()] == whole.row_ids()


def test_parts_come_back_as_they_were_written(tmp_path: Path) -> None:
    rows = [{"input_ids": [7, 8], "labels": [7, IGNORED]}, {"source": "t", "input_ids": [2**31 - 1], "labels": [IGNORED]}]
    part = replace(dialogues(rows), copy=np.asarray([0, 3], np.int32))
    for number in (0, 100_000, 2):
        dialogue_parts.write(tmp_path / "rows" / dialogue_parts.file_name(number), part.part(int(number == 2), 2))
    found = list(dialogue_parts.rows(tmp_path / "rows"))
    assert [(row["source"], row["input_ids"], row["labels"]) for row in found[:2]] == [
        ("s", [7, 8], [7, IGNORED]),
        ("t", [2**31 - 1], [IGNORED]),
    ]
    assert [row["id"] for row in found] == ["0" * 32, *["0" * 31 + "1#3"] * 2, "0" * 32, "0" * 31 + "1#3"]


def test_the_first_id_of_each_dialogue_has_no_label() -> None:
    one, other = {"input_ids": [7, 8], "labels": [7, 8]}, {"source": "t", "input_ids": [5, 6, 9], "labels": [5, IGNORED, 9]}
    ids, labels = filled([one, other, one, one], 8, 0, [[0, 1, 2], [3]])
    assert ids.tolist() == [[7, 8, 5, 6, 9, 7, 8, 0], [7, 8, 0, 0, 0, 0, 0, 0]]
    assert labels[0].tolist() == [IGNORED, 8, IGNORED, IGNORED, 9, IGNORED, 8, IGNORED]
    assert labels[1].tolist() == [7, 8, *[IGNORED] * 6]
    shared = Shared.of(dialogues([one, other, one, one]), [[0, 1, 2], [3]])
    assert (shared.source(0), shared.source(1), shared.id(0).count("+")) == ("s+t", "s", 2)


def test_padding_is_masked_by_position_so_that_an_end_equal_to_pad_keeps_its_label() -> None:
    ids, labels = filled([{"input_ids": [1, 4, 5, 6, 2], "labels": [IGNORED, IGNORED, 5, 6, 2]}], 8, pad=2)
    assert ids.tolist() == [[1, 4, 5, 6, 2, 2, 2, 2]]
    assert labels.tolist() == [[-100, -100, 5, 6, 2, -100, -100, -100]]
    assert scored(ids, labels, pad=2).tolist() == [[False, True, True, True, False, False, False]]


@pytest.mark.parametrize(("ids", "labels"), [(list(range(9)), [1] * 9), ([1, 2, 3], [IGNORED] * 3), ([1, 2], [1, IGNORED]), ([], [])])
def test_a_row_that_does_not_fit_or_trains_nothing_is_refused_by_number(ids: list[int], labels: list[int]) -> None:
    with pytest.raises(StageFault) as refused:
        filled([{"input_ids": [1, 2], "labels": [1, 2]}, {"input_ids": ids, "labels": labels}], 8, pad=0)
    assert refused.value.where == "row 1"


@pytest.fixture
def formatted(new_experiment: Callable[..., Experiment], documents: list[Record]) -> Experiment:
    experiment = new_experiment()
    experiment.corpus(documents, documents[:9])
    experiment.run(tokenizer.CONTRACT, **TOKENIZER)
    experiment.rows("data/one.jsonl", [{"instruction": f"fox {i}?", "output": f"{i} dogs"} for i in range(90)])
    sources = {"one": {"path": "data/one.jsonl", "format": "alpaca", "weight": 1.0}}
    usual = {"truncation": "middle", "train_on": "assistant", "validation": 0.1, "by": "row", "seq_length": 64, "seed": 42}
    experiment.run(format_contract.CONTRACT, sources=sources, **usual)
    return experiment


def stored(experiment: Experiment, split: str) -> list[dict[str, np.ndarray]]:
    folder = experiment.folder / "packed/instruct"
    return [row for file in manifest.verify(folder).facts["splits"][split]["files"] for row in mindrecord.read(folder, file)]


def split_at_begin(row: dict[str, Any], begin: int, pad: int) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """The dialogues of a row as (ids, labels)."""
    starts = [*np.flatnonzero(row["input_ids"] == begin).tolist(), int((row["input_ids"] != pad).sum())]
    return [(tuple(row["input_ids"][a:b].tolist()), tuple(row["labels"][a:b].tolist())) for a, b in pairwise(starts)]


def test_rows_hold_whole_dialogues_of_training_and_single_ones_of_validation(formatted: Experiment) -> None:
    one = formatted.run(pack.INSTRUCT, **{**SETTINGS, "dialogues": "one"})
    several = formatted.run(pack.INSTRUCT, **SETTINGS)
    vocabulary = encoding.load(formatted.folder / "tokenizer")
    given = [(tuple(row["input_ids"]), tuple(row["labels"])) for row in dialogue_parts.rows(formatted.folder / "instruct/train")]
    rows = stored(formatted, "train")
    found = [dialogue for row in rows for dialogue in split_at_begin(row, vocabulary.bos, vocabulary.pad)]
    assert sorted(found) == sorted(given) and len(rows) <= len(given) / 2 + 1
    assert several["splits"]["train"]["documents"] == len(given) and several["splits"]["train"]["rows"] == len(rows)
    assert several["splits"]["validation"] == one["splits"]["validation"]
    for name in ("documents", "tokens", "trained_tokens"):
        assert several["splits"]["train"][name] == one["splits"]["train"][name]
    assert several["fill"]["train"] > 1.9 * one["fill"]["train"] and several["fill"]["validation"] == one["fill"]["validation"]
    facts = manifest.read(formatted.folder / "packed/instruct").facts
    assert facts["dialogues"] == "several" and "attention crosses" in facts["layout"]


def test_the_sample_shows_packed_rows_with_their_padding(formatted: Experiment) -> None:
    formatted.run(pack.INSTRUCT, **SETTINGS)
    found = [json.loads(line) for line in (formatted.folder / "packed/instruct/sample.jsonl").read_text("utf-8").splitlines()]
    assert len(found) >= 20 and any(row["id"].count("+") for row in found)
    shown = "".join(segment["text"] for row in found for segment in row["segments"] if segment["trained"])
    assert "dogs<|im_end|>" in shown and "fox" not in shown and "<pad>" not in shown


def test_ids_that_the_model_has_not_are_refused(formatted: Experiment) -> None:
    folder, made = formatted.folder / "instruct", manifest.read(formatted.folder / "instruct")
    (part,) = dialogue_parts.read(folder / "train")
    part.ids[40] = 9999
    dialogue_parts.write(folder / "train" / dialogue_parts.file_name(0), part)
    (folder / manifest.NAME).unlink()
    (folder / manifest.NAME).write_bytes(manifest.encode(manifest.describe(folder, "format", made.counts, made.facts)))
    with pytest.raises(StageFault, match="token id 9999 is outside the vocabulary"):
        formatted.run(pack.INSTRUCT, **SETTINGS)


def test_a_case_is_found_in_any_dialogue_of_a_row(template: Template, vocabulary: Vocabulary) -> None:
    made = []
    for asked in ("a", "seen", "b"):
        segments = render(template, vocabulary, [Message("user", asked), Message("assistant", "x")])
        made.append({"id": asked, "source": "s", "input_ids": ids_of(segments), "labels": labels_of(segments)})
    ids, labels = filled(made, 80, vocabulary.pad, [[0, 1, 2]])
    asked = [Case(id=name, group="g", instruction=name, reference="y", line=1) for name in ("new", " SEEN ")]
    core, training = questions.ask(asked, template, vocabulary, 64, "core.jsonl"), [(ids[0].tolist(), labels[0].tolist())]
    assert not questions.overlap(core, training, vocabulary)
    assert [found.case.id for found in questions.overlap(core, training, vocabulary, several=True)] == [" SEEN "]
