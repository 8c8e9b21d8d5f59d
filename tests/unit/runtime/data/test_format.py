"""Formatting: what is cut, dropped, repeated and held out, and that all of it is counted."""

import json
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from samples import TOKENIZER, Experiment

from runtime import records
from runtime.contracts import format as contract
from runtime.contracts import tokenizer as tokenizer_contract
from runtime.contracts.format import Format, InstructSource
from runtime.data import dialogue_parts, dialogue_rows, encode_rows, encoding, row_files, row_index, row_weights
from runtime.data.chat import IGNORED, Call, Message, Renderer, Segment, Template
from runtime.data.dialogue_rows import KEPT, Encoder, Row, Unusable, keys_of, without_middle
from runtime.data.encoding import Vocabulary
from runtime.data.row_index import INDEX, split_rows, weigh
from runtime.faults import StageFault
from runtime.records import Record

SETTINGS = contract.Format(sources={}, truncation="middle", train_on="assistant", validation=0.1, by="row", seq_length=64, seed=42)


def dialogue(asked: str, answer: str) -> list[Message]:
    return [Message("user", asked), Message("assistant", answer)]


def encode_dialogue(messages: list[Message], template: Template, vocabulary: Vocabulary, settings: contract.Format) -> Row:
    return Encoder(Renderer(template, vocabulary), settings).encode(messages, "rows.jsonl:1")


def entries(rows: list[tuple[int, int, int]]) -> row_index.Entries:
    """Rows of (key, prompt, source)."""
    return np.array([((0, key), (0, prompt), 0, 0, 2, 1, 2, source, 0) for key, prompt, source in rows], INDEX)


def keys(found: row_index.Entries) -> list[int]:
    return [int(key) for key in found["key"][:, 1]]


def test_middle_truncation_keeps_the_head_of_the_prompt_and_the_whole_answer(template: Template, vocabulary: Vocabulary) -> None:
    asked = "first " + "fox " * 100 + "last"
    made = encode_dialogue(dialogue(asked, "three lazy dogs"), template, vocabulary, SETTINGS)
    end = vocabulary.special["<|im_end|>"]
    assert len(made.input_ids) == 65 and made.truncated
    assert [label for label in made.labels if label != IGNORED] == [*vocabulary.encode("three lazy dogs"), end]
    shown = vocabulary.show(made.input_ids)
    assert (
        shown.startswith("<s><|im_start|>user\nfirst fox") and "last<|im_end|>\n<|im_start|>assistant\nthree lazy dogs<|im_end|>" in shown
    )


def test_rows_without_room_are_dropped_with_a_reason(template: Template, vocabulary: Vocabulary) -> None:
    with pytest.raises(Unusable, match="too_long"):
        encode_dialogue(dialogue("fox " * 100, "dogs"), template, vocabulary, replace(SETTINGS, truncation="none"))
    with pytest.raises(Unusable, match="answer_too_long"):
        encode_dialogue(dialogue("fox", "dogs " * 100), template, vocabulary, SETTINGS)
    for nothing in ("", " \n", "\u3000\u00a0", "\u200b", "\ufeff\n\u200d"):
        with pytest.raises(Unusable, match="empty_answer"):
            encode_dialogue(dialogue("fox", nothing), template, vocabulary, SETTINGS)


def test_a_row_that_just_fits_is_not_cut(template: Template, vocabulary: Vocabulary) -> None:
    free = encode_dialogue(dialogue("fox " * 30, "dogs"), template, vocabulary, replace(SETTINGS, seq_length=1000))
    exact = replace(SETTINGS, seq_length=len(free.input_ids) - 1)
    assert encode_dialogue(dialogue("fox " * 30, "dogs"), template, vocabulary, exact) == free
    assert encode_dialogue(dialogue("fox " * 30, "dogs"), template, vocabulary, replace(exact, seq_length=exact.seq_length - 1)).truncated


def turns(*texts: str) -> list[Message]:
    return [Message(("user", "assistant")[number % 2], text) for number, text in enumerate(texts)]


def test_only_the_last_answer_is_trained_where_that_is_asked(template: Template, vocabulary: Vocabulary) -> None:
    messages = turns("fox", "one", "and", "two dogs")
    whole, last = (encode_dialogue(messages, template, vocabulary, replace(SETTINGS, train_on=train)) for train in ("assistant", "last"))
    assert whole.input_ids == last.input_ids and whole.labels != last.labels
    assert [label for label in last.labels if label != IGNORED] == [*vocabulary.encode("two dogs"), vocabulary.special["<|im_end|>"]]


def test_the_oldest_turns_go_before_anything_is_cut(template: Template, vocabulary: Vocabulary) -> None:
    settings = replace(SETTINGS, truncation="oldest")
    messages = [Message("system", "be kind"), *turns("a fox " * 9, "one", "more foxes " * 4, "two", "and", "three")]
    made = encode_dialogue(messages, template, vocabulary, settings)
    whole = encode_dialogue(messages, template, vocabulary, replace(settings, seq_length=500))
    assert made.truncated and made.length == len(whole.input_ids) > 65
    shown = vocabulary.show(made.input_ids)
    assert shown.startswith("<s><|im_start|>system\nbe kind<|im_end|>\n<|im_start|>user\n")
    assert "one" not in shown and "three<|im_end|>" in shown and len(made.input_ids) <= 65
    rest = [messages[0], *messages[3:]] if "two" in shown else [messages[0], *messages[5:]]
    assert made.input_ids == encode_dialogue(rest, template, vocabulary, replace(settings, seq_length=500)).input_ids


def test_what_is_left_of_the_oldest_turns_is_cut_in_the_middle(template: Template, vocabulary: Vocabulary) -> None:
    made = encode_dialogue(turns("a", "b", "fox " * 90, "dogs"), template, vocabulary, replace(SETTINGS, truncation="oldest"))
    asked = [Message("user", "fox " * 90), Message("assistant", "dogs")]
    assert made.input_ids == encode_dialogue(asked, template, vocabulary, SETTINGS).input_ids
    with pytest.raises(Unusable, match="answer_too_long"):
        encode_dialogue(turns("a", "b", "fox", "dogs " * 90), template, vocabulary, replace(SETTINGS, truncation="oldest"))


def test_as_few_of_the_oldest_exchanges_go_as_let_the_rest_fit(template: Template, vocabulary: Vocabulary) -> None:
    messages = [Message("system", "be kind"), *turns(*(f"fox {number} " * (1 + number % 3) for number in range(40)))]
    free = replace(SETTINGS, truncation="oldest", seq_length=100_000)
    rows = [encode_dialogue([messages[0], *messages[1 + 2 * gone :]], template, vocabulary, free).input_ids for gone in range(20)]
    for limit in (len(rows[19]), 65, 200, len(rows[7]), len(rows[1]), len(rows[0]) - 1):
        made = encode_dialogue(messages, template, vocabulary, replace(free, seq_length=limit - 1))
        assert made.input_ids == next(row for row in rows if len(row) <= limit)


@pytest.mark.parametrize("truncation", ["oldest", "middle"])
def test_a_dialogue_of_thousands_of_turns_is_rendered_a_few_times(
    template: Template, vocabulary: Vocabulary, monkeypatch: pytest.MonkeyPatch, truncation: str
) -> None:
    counted, render, size = [0, 0], Renderer.render, dialogue_rows._size

    def counting(self: Renderer, *args: Any, **options: Any) -> list[Segment]:
        counted[0] += 1
        return render(self, *args, **options)

    def counting_size(segments: Any) -> int:
        counted[1] += 1
        return size(segments)

    monkeypatch.setattr(Renderer, "render", counting)
    monkeypatch.setattr(dialogue_rows, "_size", counting_size)
    with suppress(Unusable):
        encode_dialogue(turns(*["fox"] * 2000), template, vocabulary, replace(SETTINGS, truncation=truncation))
    assert max(counted) < 30


def test_a_row_without_a_trained_token_is_dropped(template: Template, vocabulary: Vocabulary) -> None:
    messages = [Message("user", "fox"), Message("assistant", "dogs", context=True)]
    with pytest.raises(Unusable, match="no_trained_token"):
        encode_dialogue(messages, template, vocabulary, SETTINGS)


def test_an_empty_answer_inside_a_dialogue_is_read_and_not_trained(template: Template, vocabulary: Vocabulary) -> None:
    end = vocabulary.special["<|im_end|>"]
    made = encode_dialogue(turns("fox", " \n", "and", "two"), template, vocabulary, SETTINGS)
    assert [label for label in made.labels if label != IGNORED] == [*vocabulary.encode("two"), end]
    assert made.input_ids.count(end) == 4
    called = [Message("user", "x"), Message("assistant", "", calls=(Call("f", {}),)), Message("user", "y"), Message("assistant", "z")]
    assert [message.is_empty for message in called] == [False] * 4 and Message("assistant", "").is_empty


def test_of_a_question_that_is_cut_a_head_and_a_tail_stay_or_the_row_goes(template: Template, vocabulary: Vocabulary) -> None:
    asked, answer = "fox jumps " * 60, "dogs "
    around = len(encode_dialogue(dialogue("?", "."), template, vocabulary, SETTINGS).input_ids) - 2
    for count in range(20, 60):
        said = answer * count
        room = 65 - around - len(vocabulary.encode(said))
        if room >= KEPT:
            ids = encode_dialogue(dialogue(asked, said), template, vocabulary, SETTINGS).input_ids
            whole, head = vocabulary.encode(asked), vocabulary.encode("user\n")
            assert ids[2 + len(head) :][: KEPT // 2] == whole[: KEPT // 2]
        else:
            with pytest.raises(Unusable, match="question_too_long" if room >= 0 else "answer_too_long"):
                encode_dialogue(dialogue(asked, said), template, vocabulary, SETTINGS)


@pytest.mark.parametrize("kept", range(1, 14))
def test_a_cut_leaves_whole_characters(vocabulary: Vocabulary, kept: int) -> None:
    ids = vocabulary.array("\U0001f98a☃é☃\U0001f98a")
    assert len(ids) > 14
    cut = without_middle(ids, kept, vocabulary)
    assert len(cut) <= kept
    assert "\ufffd" not in vocabulary.decode(cut.tolist())


def test_copies_are_found_whatever_their_case_width_and_blanks() -> None:
    assert keys_of(dialogue("What  is ＡＩ?", "It is.")) == keys_of(dialogue("what is AI?\n", "it  is."))
    one, other = keys_of(dialogue("Q", "A")), keys_of(dialogue("Q", "B"))
    assert one[0] != other[0] and one[1] == other[1]


def test_no_prompt_is_on_both_sides_and_the_share_is_kept() -> None:
    rows = entries([(prompt * 10 + copy, prompt, 0) for prompt in range(50) for copy in range(1 + prompt % 3)])
    held_out = split_rows(rows, 0.1, 42)
    assert not {*rows["prompt"][held_out][:, 1]} & {*rows["prompt"][~held_out][:, 1]}
    assert 0.1 * len(rows) - 1 <= held_out.sum() <= 0.1 * len(rows) + 3
    assert (split_rows(rows, 0.1, 43) != held_out).any() and (split_rows(rows, 0.1, 42) == held_out).all()
    order = np.random.default_rng(1).permutation(len(rows))
    assert keys(rows[order][split_rows(rows[order], 0.1, 42)]) == [key for key in keys(rows[order]) if key in keys(rows[held_out])]


@pytest.mark.parametrize("rows", [[], [(1, 1, 0)], [(1, 1, 0), (2, 1, 0)]])
def test_rows_that_cannot_fill_both_sides_are_refused(rows: list[tuple[int, int, int]]) -> None:
    with pytest.raises(StageFault, match="cannot be split"):
        split_rows(entries(rows), 0.5, 42)


def test_weights_over_and_undersample() -> None:
    rows = entries([(i, i, 0) for i in range(90)] + [(100 + i, i, 1) for i in range(10)])
    made = weigh(rows, [1.0, 3.0], 1)
    assert np.bincount(rows["source"][made["row"]]).tolist() == [25, 75]
    assert len({(int(choice["row"]), int(choice["copy"])) for choice in made}) == 100
    assert {*np.bincount(made["row"], minlength=100)[90:].tolist()} == {7, 8}


def weighted(*weights: float | None) -> Format:
    sources = {str(number): InstructSource(path="x", format="alpaca", weight=weight) for number, weight in enumerate(weights)}
    return Format(**settings(sources=sources))


@pytest.mark.parametrize(
    ("weights", "taken"),
    [
        ((None, None), [90, 10]),
        ((2.0, 2.0), [50, 50]),
        ((1.001, 1.0), [50, 50]),
        ((1.0, 3.0), [25, 75]),
        ((None, 3.0), [25, 75]),
        ((0.0, None), [0, 10]),
        ((0.0, 5.0), [0, 10]),
    ],
)
def test_without_weights_every_row_is_taken_once_and_with_them_the_sources_stand_in_their_ratio(
    weights: tuple[float | None, ...], taken: list[int]
) -> None:
    rows, parameters = entries([(i, i, 0) for i in range(90)] + [(100 + i, i, 1) for i in range(10)]), weighted(*weights)
    read = rows[np.array([weight != 0 for weight in weights])[rows["source"]]]
    choices = row_weights.chosen(read, parameters)
    assert np.bincount(read["source"][choices["row"]], minlength=2).tolist() == taken


def test_the_stage_says_what_weights_leave_out_and_repeat(ready: Experiment, capfd: pytest.CaptureFixture[str]) -> None:
    ready.rows("data/one.jsonl", [{"instruction": f"fox {i}?", "output": f"{i} dogs"} for i in range(40)])
    ready.rows("data/two.jsonl", [{"instruction": f"dog {i}?", "output": f"{i} foxes"} for i in range(10)])
    usual = settings()["sources"]
    plain = ready.run(contract.CONTRACT, **settings())
    assert plain["warnings"] == []
    metrics = ready.run(contract.CONTRACT, **settings(sources={name: {**one, "weight": 1.0} for name, one in usual.items()}))
    (warning,) = metrics["warnings"]
    assert f"warning: {warning}" in capfd.readouterr().err
    for name, found in metrics["sources"].items():
        assert found["train"] == found["train_before_weights"] - found["weights_left_out"] + found["weights_repeats"], name
        assert found["train_before_weights"] == plain["sources"][name]["train"]
    one, two = metrics["sources"]["one"], metrics["sources"]["two"]
    assert f"{one['weights_left_out']} of {one['train_before_weights']} training rows of one left out" in warning
    assert f"{two['train_before_weights']} training rows of two became {two['train']} by repeats" in warning


def test_a_source_of_weight_zero_is_in_neither_split(ready: Experiment) -> None:
    for name in ("one", "two"):
        ready.rows(f"data/{name}.jsonl", [{"instruction": f"{name} {i}?", "output": f"{i} dogs"} for i in range(20)])
    given = settings()["sources"]
    metrics = ready.run(contract.CONTRACT, **settings(sources={**given, "two": {**given["two"], "weight": 0.0}}))
    assert (metrics["sources"]["two"]["train"], metrics["sources"]["two"]["validation"]) == (0, 0)
    assert sum(found["rows"] for found in metrics["splits"].values()) == 20 and metrics["warnings"] == []


def test_repeated_rows_get_ids_of_their_own() -> None:
    rows = entries([(1, 1, 0), (2, 2, 1)])
    made = weigh(rows, [1.0, 3.0], 1)
    assert sorted(id[-3:] for id in row_index.ids_of(rows, made)) == ["002", "2#1"]


def test_a_key_that_came_before_is_a_duplicate_whatever_its_place() -> None:
    rows = entries([(5, 1, 0), (3, 1, 0), (5, 2, 1), (3, 1, 1), (4, 1, 0), (5, 1, 0)])
    assert row_index.repeated(rows["key"]).tolist() == [False, False, True, True, False, True]


def test_rows_are_cut_into_parts_by_count_and_by_size() -> None:
    sizes = np.array([5, 5, 30, 1, 1, 1, 1])
    assert [len(sizes[part]) for part in row_index.parts(sizes, 3, 100)] == [3, 3, 1]
    assert [len(sizes[part]) for part in row_index.parts(sizes, 99, 10)] == [2, 1, 4]
    assert list(row_index.parts(sizes[:0], 3, 9)) == []


@pytest.fixture
def ready(new_experiment: Callable[..., Experiment], documents: list[Record]) -> Experiment:
    experiment = new_experiment()
    experiment.corpus(documents, documents[:9])
    experiment.run(tokenizer_contract.CONTRACT, **TOKENIZER)
    return experiment


def settings(**changes: Any) -> dict[str, Any]:
    sources = {name: {"path": f"data/{name}.jsonl", "format": "alpaca"} for name in ("one", "two")}
    usual = {"truncation": "middle", "train_on": "assistant", "validation": 0.1, "by": "row", "seq_length": 64, "seed": 42}
    return {"sources": sources, **usual, **changes}


def test_the_stage_counts_every_row_and_repeats_itself(ready: Experiment) -> None:
    ready.rows("data/one.jsonl", [{"instruction": f"fox {i}?", "output": f"{i} dogs"} for i in range(40)])
    others = [{"instruction": f"狗 {i}?", "input": "x", "output": "是"} for i in range(20)]
    odd = [
        {"instruction": "empty", "output": ""},
        {"instruction": "FOX  3?", "output": "3 dogs"},
        {"instruction": "long " * 90, "output": "yes"},
    ]
    ready.rows("data/two.jsonl", others + odd)
    metrics = ready.run(contract.CONTRACT, **settings())
    two = metrics["sources"]["two"]
    assert (two["read"], two["duplicates"], two["dropped"], two["truncated"]) == (23, 1, {"empty_answer": 1}, 1)
    for name, found in metrics["sources"].items():
        kept = found["read"] - found["duplicates"] - sum(found["dropped"].values())
        assert found["train"] + found["validation"] == kept, name
    rows = {split: list(dialogue_parts.rows(ready.folder / "instruct" / split)) for split in ("train", "validation")}
    assert {split: len(found) for split, found in rows.items()} == {split: found["rows"] for split, found in metrics["splits"].items()}
    assert all(sorted(found) == ["id", "input_ids", "labels", "source"] for found in rows["train"])
    assert metrics["splits"]["train"]["trained_tokens"] == sum(label != IGNORED for found in rows["train"] for label in found["labels"])
    sample = (ready.folder / "instruct/sample.txt").read_text("utf-8")
    assert "# two\n<s><|im_start|>user\n狗 0?\nx<|im_end|>\n<|im_start|>assistant\n⟦是<|im_end|>⟧\n" in sample
    before = ready.tree("instruct")
    ready.run(contract.CONTRACT, **settings())
    assert ready.tree("instruct") == before


def test_a_row_without_an_answer_is_refused_at_its_line(ready: Experiment) -> None:
    ready.rows("data/one.jsonl", [{"instruction": "fox", "output": "dogs"}, {"instruction": "写诗"}])
    ready.rows("data/two.jsonl", [{"instruction": "x", "output": "y"}])
    with pytest.raises(StageFault, match=r"data/one.jsonl:2: no 'output'"):
        ready.run(contract.CONTRACT, **settings())
    assert not (ready.folder / "instruct").exists()


def test_weights_that_select_nothing_are_refused(ready: Experiment) -> None:
    with pytest.raises(StageFault, match="select nothing"):
        ready.run(contract.CONTRACT, **settings(sources={"one": {"path": "data/one.jsonl", "format": "alpaca", "weight": 0.0}}))


@pytest.mark.parametrize("lost", [[], [{"instruction": "fox 3?", "output": "3 dogs"}], [{"instruction": "x", "output": " "}]])
def test_a_weighted_source_without_a_usable_row_is_refused_with_what_became_of_its_rows(ready: Experiment, lost: list[Any]) -> None:
    ready.rows("data/one.jsonl", [{"instruction": f"fox {i}?", "output": f"{i} dogs"} for i in range(9)])
    ready.rows("data/two.jsonl", lost)
    with pytest.raises(StageFault, match=rf"the source two has no usable row; {len(lost)} rows? read") as refused:
        ready.run(contract.CONTRACT, **settings())
    assert refused.value.reason in ("its files have no rows", "duplicates: 1", "empty_answer: 1")


def many(experiment: Experiment) -> dict[str, Any]:
    """Rows of three files, among them copies, bad ones, long ones and a conversation."""
    experiment.rows("data/one/a.jsonl", [{"instruction": f"fox {i % 190}?", "output": f"{i % 190} dogs"} for i in range(200)])
    broken = [{"instruction": "x"}, {"instruction": "long " * 90, "output": "yes"}, {"instruction": "e", "output": ""}]
    experiment.rows("data/one/b.jsonl", [*broken, *({"instruction": f"狗 {i}?", "output": "是" * (i % 9)} for i in range(90))])
    said = [{"from": tag, "value": f"{tag} {i}"} for i in range(3) for tag in ("human", "gpt")]
    experiment.rows("data/two.jsonl", [{"conversations": said[: 2 + i % 5 // 2 * 2], "system": str(i)} for i in range(50)] + [{"a": 1}])
    one, two = {"path": "data/one", "format": "alpaca", "weight": 1.0}, {"path": "data/two.jsonl", "format": "sharegpt", "weight": 2.0}
    return settings(sources={"one": one, "two": two}, bad_rows="quarantine")


@pytest.mark.parametrize("workers", [2, 4])
def test_workers_change_no_byte(ready: Experiment, monkeypatch: pytest.MonkeyPatch, workers: int) -> None:
    monkeypatch.setattr(row_files, "PIECE", 2000)
    monkeypatch.setattr(records, "PART", records.Limit(50, 16_000_000))
    metrics = ready.run(contract.CONTRACT, **many(ready))
    before = ready.tree("instruct")
    assert len([name for name in before if name.startswith("train/part")]) > 4
    (ready.folder / "placement.yaml").write_text(f"workers: {workers}\n", "utf-8")
    assert ready.run(contract.CONTRACT, **many(ready)) == metrics and ready.tree("instruct") == before


def test_pieces_of_files_change_no_row(ready: Experiment, monkeypatch: pytest.MonkeyPatch) -> None:
    ready.run(contract.CONTRACT, **many(ready))
    whole = ready.tree("instruct")
    monkeypatch.setattr(row_files, "PIECE", 700)
    ready.run(contract.CONTRACT, **many(ready))
    assert ready.tree("instruct") == whole


@pytest.mark.parametrize(("rows", "size"), [(1, 1 << 20), (7, 1 << 20), (256, 300)])
def test_rows_that_are_encoded_together_are_the_same_rows(ready: Experiment, monkeypatch: pytest.MonkeyPatch, rows: int, size: int) -> None:
    metrics, asked = ready.run(contract.CONTRACT, **many(ready)), many(ready)
    before, calls, together = ready.tree("instruct"), list[int](), Vocabulary.arrays

    def counting(self: Vocabulary, texts: Any) -> dict[str, Any]:
        calls.append(len(texts := list(texts)))
        return together(self, texts)

    monkeypatch.setattr(Vocabulary, "arrays", counting)
    monkeypatch.setattr(encode_rows, "TOGETHER", records.Limit(rows, size))
    assert ready.run(contract.CONTRACT, **asked) == metrics and ready.tree("instruct") == before
    assert len(calls) > 40 and max(calls) < 60


def test_the_first_of_bad_rows_is_told_whatever_is_wrong_with_it(ready: Experiment) -> None:
    said = [{"from": "human", "value": "a"}, {"from": "human", "value": "b"}, {"from": "gpt", "value": "c"}]
    ready.rows("data/two.jsonl", [{"conversations": said[1:]}, {"conversations": said}, {"a": 1}])
    with pytest.raises(StageFault, match="user after user") as refused:
        ready.run(contract.CONTRACT, **settings(sources={"two": {"path": "data/two.jsonl", "format": "sharegpt", "weight": 1.0}}))
    assert refused.value.where == "data/two.jsonl:2"


def test_bad_rows_are_listed_and_counted_where_that_is_asked(ready: Experiment) -> None:
    metrics = ready.run(contract.CONTRACT, **many(ready))
    assert metrics["sources"]["one"]["dropped"] == {"bad_row": 1, "empty_answer": 11}
    assert metrics["sources"]["two"]["dropped"]["bad_row"] == 1
    found = [json.loads(line) for line in (ready.folder / "instruct/quarantine.jsonl").read_text("utf-8").splitlines()]
    assert [(row["source"], row["file"], row["line"]) for row in found] == [("one", "data/one/b.jsonl", 1), ("two", "data/two.jsonl", 51)]
    assert found[0]["reason"].startswith("no 'output'") and json.loads(found[1]["text"]) == {"a": 1}
    dropped = [json.loads(line) for line in (ready.folder / "instruct/dropped.jsonl").read_text("utf-8").splitlines()]
    assert [row["reason"] for row in dropped].count("empty_answer") == 10 and all(row["text"] for row in dropped)
    assert all(sum(row["source"] == name for row in dropped) > 0 for name in ("one", "two"))


def test_a_source_of_bad_rows_alone_is_refused_with_the_first(ready: Experiment) -> None:
    asked = many(ready)
    ready.rows("data/two.jsonl", [{"a": 1}, {"b": 2}])
    with pytest.raises(StageFault, match="no usable row; 2 rows read") as refused:
        ready.run(contract.CONTRACT, **asked)
    assert "bad_row: 2; the first bad row, data/two.jsonl:1: no list 'conversations'" in refused.value.reason


def test_the_sample_shows_rows_of_every_source_with_their_masks(ready: Experiment) -> None:
    ready.run(contract.CONTRACT, **many(ready))
    vocabulary = encoding.load(ready.folder / "tokenizer")
    rows = {row["id"]: row for split in ("train", "validation") for row in dialogue_parts.rows(ready.folder / "instruct" / split)}
    found = [json.loads(line) for line in (ready.folder / "instruct/sample.jsonl").read_text("utf-8").splitlines()]
    assert len(found) >= 20 and [row["id"] for row in found] == sorted(row["id"] for row in found)
    assert {row["source"] for row in found} == {"one", "two"}
    for row in (row for row in found if row["id"] in rows):
        ids, labels = rows[row["id"]]["input_ids"], rows[row["id"]]["labels"]
        assert "".join(segment["text"] for segment in row["segments"]) == vocabulary.show(ids)
        trained = vocabulary.show([label for label in labels if label != IGNORED])
        assert "".join(segment["text"] for segment in row["segments"] if segment["trained"]) == trained
        marks = "".join(segment["text"] for segment in row["segments"] if segment["special"])
        assert re.fullmatch(r"<s>(<\|im_start\|><\|im_end\|>)+", marks)


def test_lengths_are_counted_before_anything_is_cut_and_long_rows_apart(ready: Experiment) -> None:
    metrics = ready.run(contract.CONTRACT, **{**many(ready), "long_from": 40, "validation": 0.3})
    assert sum(metrics["lengths"]["up_to"].values()) == sum(
        found["read"] - found["duplicates"] - sum(found["dropped"].values()) for found in metrics["sources"].values()
    )
    assert metrics["lengths"]["longer_than_row"] == sum(found["truncated"] for found in metrics["sources"].values()) > 0
    for split in ("train", "validation"):
        rows = [row for row in dialogue_parts.rows(ready.folder / "instruct" / split) if len(row["input_ids"]) >= 40]
        trained = sum(label != IGNORED for row in rows for label in row["labels"])
        tokens = sum(len(row["input_ids"]) for row in rows)
        assert metrics["long"][split] == {"rows": len(rows), "tokens": tokens, "trained_tokens": trained} and rows


def test_rows_with_text_of_the_cases_are_dropped(ready: Experiment) -> None:
    question = "How many lazy dogs does the quick brown fox of this town jump over?"
    reference = "It jumps over seven dogs, one after the other, and then it goes home again."
    cases = [
        {"id": "a", "group": "g", "instruction": question, "reference": reference},
        {"id": "b", "group": "g", "instruction": "fox 3?", "reference": "3 dogs"},
    ]
    ready.rows("data/core.jsonl", cases)
    given = {**many(ready), "seq_length": 256}
    leaks = [
        {"instruction": f"Tell me: {question.upper()}", "output": "seven"},
        {"instruction": "Q", "output": f"So: {reference}"},
        {"instruction": "What is left?", "output": "3 dogs"},
    ]
    ready.rows("data/one/c.jsonl", leaks)
    clean = ready.run(contract.CONTRACT, **given)
    found = ready.run(contract.CONTRACT, **{**given, "decontaminate": {"cases": "data/core.jsonl", "ngram": 13}})
    assert found["sources"]["one"]["dropped"] == {**clean["sources"]["one"]["dropped"], "contaminated": 3}
    dropped = [json.loads(line) for line in (ready.folder / "instruct/dropped.jsonl").read_text("utf-8").splitlines()]
    assert sum(row["reason"] == "contaminated" for row in dropped) == 3
