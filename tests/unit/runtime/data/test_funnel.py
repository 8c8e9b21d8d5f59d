"""Counts, examples and samples are those of one pass, however the documents were divided among tasks."""

import json
from collections.abc import Callable
from functools import reduce
from itertools import pairwise
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from runtime.data.funnel import EXAMPLES_PER_REASON, SAMPLE_PER_SOURCE, Funnel
from runtime.data.spread import Spread
from runtime.records import Record

Step = Callable[[Funnel], Any]

RECORDS = st.builds(
    Record,
    id=st.integers(0, 80).map(str),
    text=st.text(max_size=3),
    source=st.sampled_from("abc"),
    language=st.sampled_from(["en", "zh", None]),
    meta=st.integers(0, 3).map(lambda line: {"line": line}),
)


def passed(record: Record, fate: int) -> Step:
    """Enter a document; keep it, keep it twice, or drop it for one of two reasons."""

    def step(funnel: Funnel) -> None:
        funnel.enter(record)
        if fate > 1:
            funnel.drop(record, f"reason {fate}")
            return
        funnel.keep(record)
        if fate:
            funnel.repeat(record)

    return step


STEPS = st.lists(st.builds(passed, RECORDS, st.integers(0, 3)), max_size=150)


def counted(steps: list[Step]) -> Funnel:
    funnel = Funnel()
    for step in steps:
        step(funnel)
    return funnel


def told(funnel: Funnel) -> tuple[Any, ...]:
    """All that a funnel says; in JSON, so that the order of keys counts too."""
    return json.dumps(funnel.as_dict()), list(funnel.examples()), list(funnel.sample())


def merged(first: Funnel, second: Funnel) -> Funnel:
    first.add(second)
    return first


@given(STEPS, st.lists(st.integers(0, 150), max_size=6), st.booleans())
def test_parts_merged_in_any_grouping_are_one_pass(steps: list[Step], cuts: list[int], from_behind: bool) -> None:
    bounds = [0, *sorted(cuts), len(steps)]
    parts = [counted(steps[start:end]) for start, end in pairwise(bounds)]
    whole = reduce(lambda behind, part: merged(part, behind), reversed(parts), Funnel()) if from_behind else reduce(merged, parts, Funnel())
    assert told(whole) == told(counted(steps))


def corpus(documents: int) -> Funnel:
    funnel = Funnel()
    for number in range(documents):
        record = Record(f"id-{number}", f"text {number}", "a", "en")
        funnel.enter(record)
        funnel.drop(record, "short") if number % 2 else funnel.keep(record)
    return funnel


def test_examples_and_sample_are_spread_over_the_corpus_and_bounded() -> None:
    funnel = corpus(4_000)
    for rows, most in ((list(funnel.examples()), EXAMPLES_PER_REASON), (list(funnel.sample()), SAMPLE_PER_SOURCE)):
        numbers = [int(row["id"].removeprefix("id-")) for row in rows]
        assert len(set(numbers)) == most
        quarters = {number // 1_000 for number in numbers}
        assert quarters == {0, 1, 2, 3}


def test_a_large_source_does_not_hide_the_dropped_documents_of_a_small_one() -> None:
    funnel = Funnel()
    for number in range(3_000):
        source = "small" if number % 1_000 == 0 else "large"
        funnel.drop(Record(f"{source}-{number}", "text", source, "en"), "short" if number % 3 else "long")
    shown = [(row["reason"], row["source"]) for row in funnel.examples()]
    assert shown == [("long", "large")] * 10 + [("long", "small")] + [("short", "large")] * 10 + [("short", "small")] * 2


def test_a_document_that_is_repeated_is_one_entry_and_copies_in_other_places_are_several() -> None:
    funnel = Funnel()
    record = Record("same", "text", "a", "en", {"path": "one"})
    for one in (record, record, Record("same", "text", "a", "en", {"path": "two"})):
        funnel.enter(one)
        funnel.keep(one)
    assert len(list(funnel.sample())) == 2


def test_a_document_that_stays_is_in_the_sample_of_every_step() -> None:
    first, second = Funnel(), Funnel()
    for number in range(500):
        record = Record(f"id-{number}", "a text", "a", "en")
        first.keep(record)
        second.keep(record.with_text("text"))
    assert [row["id"] for row in first.sample()] == [row["id"] for row in second.sample()]


def test_files_that_a_person_reads(tmp_path: Path) -> None:
    funnel = corpus(3)
    funnel.write_examples(tmp_path / "dropped.jsonl")
    dropped, kept = (
        [json.loads(line) for line in (tmp_path / name).read_text().splitlines()] for name in ("dropped.jsonl", "sample.jsonl")
    )
    assert dropped == [{"id": "id-1", "source": "a", "reason": "short", "text": "text 1"}]
    assert sorted(row["text"] for row in kept) == ["text 0", "text 2"] and set(kept[0]) == {"id", "source", "language", "text"}


def test_languages_tell_what_is_left_of_them() -> None:
    funnel = Funnel()
    record = Record("1", "汉字", "a", "zh")
    funnel.enter(record)
    funnel.keep(record)
    assert funnel.as_dict()["languages"]["zh"] == {
        "documents_in": 1,
        "documents_out": 1,
        "characters_out": 2,
        "bytes_out": 6,
        "dropped": {},
    }


@given(st.lists(st.text(max_size=2), max_size=60), st.integers(1, 5))
def test_a_spread_holds_the_first_of_each_key_and_no_more_than_its_size(keys: list[str], size: int) -> None:
    spread = Spread(size)
    for number, key in enumerate(keys):
        spread.offer(key, lambda key=key, number=number: {"key": key, "number": number})
    held = list(spread)
    assert len(held) == min(size, len(set(keys)))
    assert all(entry["number"] == keys.index(entry["key"]) for entry in held)
