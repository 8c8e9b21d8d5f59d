"""Lines and sentences that repeat: what counts as one, and what is left of a text without some."""

from pathlib import Path

import pytest
from deduplicating import Deduplicated, of_texts, settings
from hypothesis import given
from hypothesis import strategies as st

from runtime.contracts.dedup import Lines
from runtime.data.deduplication.units import keyed, repeated_places, sentences, without

BANNER = "this banner stands on every page of the site"


def of(folder: Path, texts: list[str], **limits: object) -> list[str]:
    lines = Lines(exact=True, **{"min_length": 5, **limits})  # pyright: ignore[reportArgumentType]
    return Deduplicated(folder, of_texts(texts), settings(near=None, lines=lines)).texts


def test_repeated_lines_go_from_the_second_time_on(tmp_path: Path) -> None:
    texts = ["a long line\nb\n  a long line\nb", "b\na long line\nanother line"]
    assert of(tmp_path, texts) == ["a long line\nb\nb", "b\nanother line"]


def test_a_line_within_one_document_repeats_too(tmp_path: Path) -> None:
    assert of(tmp_path / "one", ["verse one\nrefrain\nverse two\nrefrain"]) == ["verse one\nrefrain\nverse two"]
    assert of(tmp_path / "two", ["verse one\nrefrain\nverse two\nrefrain"], min_documents=2) == ["verse one\nrefrain\nverse two\nrefrain"]


@pytest.mark.parametrize(("least", "removed"), [(1, 2), (2, 2), (3, 2), (4, 0)])
def test_only_what_enough_documents_have_is_removed(tmp_path: Path, least: int, removed: int) -> None:
    texts = [f"{BANNER}\npage number {number} of three" for number in range(3)]
    kept = of(tmp_path, texts, min_documents=least)
    assert sum(BANNER in text for text in kept) == 3 - removed


def test_lines_of_a_dropped_document_do_not_count(tmp_path: Path) -> None:
    text = "the first line of it\nthe second line of it"
    assert of(tmp_path, [text, text, "the second line of it\nand one more of another"]) == [text, "and one more of another"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("你好。世界！真的吗？", ["你好。", "世界！", "真的吗？"]),
        ("他说：“走吧。”我们就走了。", ["他说：“走吧。”", "我们就走了。"]),
        ("真的吗？！好……吧", ["真的吗？！", "好……吧"]),
        ("One. Two! Three? four", ["One. ", "Two! ", "Three? four"]),
        ('He said "Go." Then we went.', ['He said "Go." ', "Then we went."]),
        ("Version 3.5 of e.g. this. It works", ["Version 3.5 of e.g. this. ", "It works"]),
        ("混排 text。Next 句。", ["混排 text。", "Next 句。"]),
        ("no end", ["no end"]),
        ("", []),
    ],
)
def test_sentences_end_where_they_do_in_each_language(line: str, expected: list[str]) -> None:
    assert sentences(line) == expected


@given(st.text("aB. !?。！？”\"')…\t文", max_size=40))
def test_sentences_together_are_the_line(line: str) -> None:
    assert "".join(sentences(line)) == line


@given(st.text("aB. 。\n文", max_size=60), st.sampled_from(["line", "sentence"]))
def test_a_text_without_nothing_is_as_it_was(text: str, unit: str) -> None:
    assert without(text, unit, []) == without(without(text, unit, []), unit, [])
    assert [line for line in without(text, unit, []).split("\n") if line] == [line for line in text.split("\n") if line]


def test_repeated_sentences_go_and_the_rest_of_the_line_stays(tmp_path: Path) -> None:
    texts = [
        "请先登录后再查看全文。今天天气很好。\n第二段。",
        "昨天下了雨。请先登录后再查看全文。\n\n请先登录后再查看全文。\n第三段。",
        "Please log in to read on. The rain in Spain stays.\nend",
        "It was dry. Please log in to read on.\nPlease log in to read on. Fine.",
    ]
    assert of(tmp_path, texts, unit="sentence") == [texts[0], "昨天下了雨。\n\n第三段。", texts[2], "It was dry.\nFine."]


def test_white_space_around_a_unit_does_not_count() -> None:
    limits = Lines(exact=True, min_length=3, unit="sentence")
    keys = [key for _, key in keyed("  One thing. One thing.\n\tOne thing. ", limits)]
    assert len(set(keys)) == 1 and len(keys) == 3


def test_the_first_of_a_repeated_unit_can_stay() -> None:
    limits = Lines(exact=True, min_length=1)
    numbers = dict(keyed("a\nb", limits))
    assert repeated_places("a\nb\na\nb", limits, {numbers[0]: True, numbers[1]: False}) == [1, 2, 3]
