"""Quality rules beyond the basic ones: limits, lines, repetition, web pages, code. Measures against an obvious reference."""

import gc
import random
import re
import weakref
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.contracts.rules import RULE_SETS
from runtime.data import quality, repetition
from runtime.data.measures import Texts, ellipsis_count

WORDS = re.findall(
    r"\w+",
    "river stone market winter letter garden silver window candle harbour music paper bridge shadow copper meadow engine forest island "
    "thunder cotton mirror ladder valley pepper saddle button anchor basket violin the be to of and that have with",
)
HAN = "天地玄黃宇宙洪荒日月盈昃辰宿列張寒來暑往秋收冬藏閏餘成歲律呂調陽雲騰致雨露結為霜金生麗水玉出崑岡劍號巨闕珠稱夜光果珍李柰菜重芥薑"


def prose(seed: int, sentences: int = 12) -> str:
    """English-looking text without repetition."""
    chance = random.Random(seed)
    return " ".join(f"The {' '.join(chance.choices(WORDS, k=9))} and that." for _ in range(sentences))


def chinese(seed: int, characters: int = 400) -> str:
    """Chinese-looking text without repetition, in sentences and paragraphs."""
    chance = random.Random(seed)
    clauses = ["".join(chance.choices(HAN, k=12)) for _ in range(characters // 12)]
    return "\n".join("，".join(clauses[place : place + 3]) + "。" for place in range(0, len(clauses), 3))


@pytest.mark.parametrize("name", RULE_SETS)
def test_every_rule_of_a_set_has_a_measure(name: str) -> None:
    rules = RULE_SETS[name]
    measured = quality.Measured(Texts(["a few words", ""]))
    for rule, bound in rules.documents.items():
        assert len(measured[bound.measure or rule]) == 2
    assert set(rules.lines) <= set(quality.LINE_MEASURES)


@pytest.mark.parametrize(
    ("limits", "reason"),
    [({}, "too_few_words"), ({"too_few_words": 10}, None), ({"too_few_words": None}, None), ({"stop_words": 6}, "too_few_words")],
)
def test_a_limit_replaces_that_of_a_rule_and_null_switches_it_off(limits: dict[str, float | None], reason: str | None) -> None:
    text = "The library of the city has more than a million books, and readers have to be patient with it."
    assert quality.reasons([text], "gopher", limits) == [reason]


def test_every_rule_of_every_set_can_be_switched_off() -> None:
    worst = ["", "#" * 400, "lorem ipsum { do not edit\n- a...\n" * 30, "哈" * 5000, "<x>" * 2000 + "\n"]
    for name, rules in RULE_SETS.items():
        assert quality.reasons(worst, name, dict.fromkeys(rules.names)) == [None] * len(worst)
        assert quality.without_lines(worst, name, dict.fromkeys(rules.names))[0] == worst


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (prose(1), None),
        ("\n\n".join([prose(2, 3)] * 8 + [prose(3, 3), prose(4, 3)]), "repeated_lines"),
        ("\n\n".join(f"{prose(n, 2)}\n{prose(n + 100, 2)}" for n in [5] * 5 + list(range(20, 27))), "repeated_paragraphs"),
        (" ".join(f"{' '.join(random.Random(n).choices(WORDS, k=5))} subscribe now" for n in range(30)), "top_2_words"),
        (prose(6, 12) + " " + prose(6, 4), "duplicate_5_words"),
    ],
)
def test_repetition_in_english(text: str, reason: str | None) -> None:
    limits = {"repeated_lines": 1, "repeated_line_characters": 1} if reason == "repeated_paragraphs" else {}
    assert quality.reasons([text], "gopher", limits) == [reason]


def counted_words(text: str, n: int) -> tuple[float, float]:
    """Share of the most frequent repeated n-gram and of words in n-grams that were there before, one word at a time."""
    words, seen, covered = text.split(), set(), set()
    grams = [tuple(words[place : place + n]) for place in range(len(words) - n + 1)]
    for place, gram in enumerate(grams):
        covered |= set(range(place, place + n)) if gram in seen else set()
        seen.add(gram)
    often = [len("".join(gram)) * count for gram, count in Counter(grams).items() if count > 1]
    total = max(len("".join(words)), 1)
    return max(often, default=0) / total, sum(len(words[place]) for place in covered) / total


@given(st.lists(st.lists(st.sampled_from(["a", "bb", "ccc", "d"]), max_size=60).map(" ".join), min_size=1, max_size=4))
def test_shares_of_repeated_words_are_those_of_a_count_by_hand(texts: list[str]) -> None:
    found = repetition.shares(repetition.of_words(Texts(texts)), (2, 3, 4), (5, 6, 7))
    for index, text in enumerate(texts):
        assert [found[n][index] for n in (2, 3, 4)] == pytest.approx([counted_words(text, n)[0] for n in (2, 3, 4)])
        assert [found[n][index] for n in (5, 6, 7)] == pytest.approx([counted_words(text, n)[1] for n in (5, 6, 7)])


@given(st.lists(st.text(alphabet="ab .…\n\u3000é中", max_size=80), min_size=1, max_size=4))
def test_words_lines_and_dots_are_those_of_regular_expressions(texts: list[str]) -> None:
    batch = Texts(texts)
    assert batch.words.count.tolist() == [len(re.findall(r"\S+", text)) for text in texts]
    assert batch.lines.count.tolist() == [len(re.findall(r"[^\n]*\S[^\n]*", text)) for text in texts]
    assert batch.paragraphs.count.tolist() == [len(re.findall(r"(?:[^\n]*\S[^\n]*(?:\n|\Z))+", text)) for text in texts]
    assert ellipsis_count(batch).tolist() == [len(re.findall(r"…|\.\.\.", text)) for text in texts]


def test_a_verdict_depends_on_no_other_text_of_the_batch() -> None:
    texts = [prose(n, 3 + n % 20) + (" " + prose(n, 3)) * (n % 3) for n in range(60)]
    together = quality.reasons(texts, "gopher")
    assert together == [quality.reasons([text], "gopher")[0] for text in texts]
    assert len(set(together)) > 1


def test_equal_spans_have_equal_hashes_wherever_they_stand() -> None:
    words = Texts([prose(7), f"x {prose(7)}"]).words
    half = len(words.hashes) // 2
    assert np.array_equal(words.hashes[:half], words.hashes[half + 1 :])
    assert len(np.unique(words.hashes)) == len(set(prose(7).split())) + 1


@pytest.mark.parametrize(
    ("text", "rest", "rule"),
    [
        ("A whole sentence with its end.\nClick here to go on now\nAnother one that ends well.", 2, "line_end"),
        ("A whole sentence with its end.\nToo short.\nAnother one that ends well.", 2, "line_words"),
        ("A whole sentence with its end.\nPlease switch on JavaScript in your browser.", 1, "line_javascript"),
        ("A whole sentence with its end.\nBy using it you accept the Privacy Policy.", 1, "line_policy"),
        ("Whole sentences are good, and the first one stays.\n\n\nEven after blank lines there are more.", 2, None),
    ],
)
def test_lines_that_c4_takes_out(text: str, rest: int, rule: str | None) -> None:
    (kept,), taken = quality.without_lines([text], "c4")
    assert len([line for line in kept.split("\n") if line]) == rest
    assert {name: count for name, count in taken.items() if count} == ({rule: 1} if rule else {})


def test_combined_rules_keep_lines_without_terminal_punctuation() -> None:
    text = "A heading of the page that has no end\nA whole sentence with its end."
    assert quality.without_lines([text], "gopher_c4") == ([text], {"line_words": 0, "line_javascript": 0, "line_policy": 0})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (prose(8), None),
        (f"{prose(8)} Lorem ipsum dolor sit amet.", "lorem_ipsum"),
        (f"{prose(8)} function f() {{ }}", "curly_brackets"),
        ("One sentence that is whole. And a second one.", "too_few_sentences"),
    ],
)
def test_documents_that_c4_drops(text: str, reason: str | None) -> None:
    assert quality.reasons([text], "c4") == [reason]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (chinese(1), None),
        (chinese(1, 100), "too_few_characters"),
        (f"{chinese(1, 60)}\n{prose(9, 20)}", "han_share"),
        ("\n".join("".join(random.Random(n).choices(HAN, k=8)) for n in range(40)), "mean_line_length"),
        ("\n".join("".join(random.Random(n).choices(HAN, k=6 if n % 5 else 80)) + "。" for n in range(40)), "short_lines"),
        ("\n".join(f"{chinese(n, 24)}\n首页 | 新闻 | 体育 | 财经 | 娱乐 | 科技 {n}" for n in range(12)), "menu_lines"),
        ("".join(random.Random(3).choices(HAN, k=400)), "punctuation_share"),
        (f"{chinese(4)}{'啊' * 80}。", "character_run"),
        ("\n".join([chinese(5, 24)] * 9 + [chinese(6, 24), chinese(7, 24)]), "repeated_lines"),
        ("，".join(f"{''.join(random.Random(n).choices(HAN, k=6))}点击购买" for n in range(60)), "top_3_characters"),
        ("\n".join([chinese(8, 150), chinese(9, 60), chinese(8, 150)]), "repeated_lines"),
        (f"{chinese(8, 240)}{chinese(8, 240).replace(chr(10), '')}{chinese(8, 240).replace('，', '、')}", "duplicate_13_characters"),
    ],
)
def test_rules_for_chinese_pages(text: str, reason: str | None) -> None:
    assert quality.reasons([text], "chinese_web") == [reason]


PROGRAM = "def area(width, height):\n    if width < 0:\n        raise ValueError(width)\n\n    return width * height\n"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (PROGRAM, None),
        ("x = " + "1 + " * 400 + "1", "code_line_mean"),
        (PROGRAM * 20 + "x = " + "1 + " * 400 + "1", "code_line_longest"),
        ("{}();" * 15 + "\n" + PROGRAM[:20], "alphanumeric_share"),
        ("# Code generated by protoc. DO NOT EDIT.\n" + PROGRAM, "generated"),
    ],
)
def test_rules_for_code(text: str, reason: str | None) -> None:
    assert quality.reasons([text], "code") == [reason]


def test_a_long_text_is_judged_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "\n".join([f"{prose(n, 3)}\nnot a sentence" for n in range(30)])
    whole = quality.without_lines([text, prose(1)], "c4")
    monkeypatch.setattr(quality, "_LONGEST", 500)
    assert quality.without_lines([text, prose(1)], "c4") == whole
    assert quality.reasons([f"{chinese(1, 800)}{'#' * 9_000}"], "chinese_web") == [None]


@pytest.mark.parametrize("name", RULE_SETS)
def test_a_batch_is_freed_when_it_is_judged(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What held itself would wait for the collector of cycles, which counts objects and not the bytes of arrays."""
    made: list[weakref.ref[Texts]] = []

    def noted(texts: list[str]) -> Texts:
        batch = Texts(texts)
        made.append(weakref.ref(batch))
        return batch

    monkeypatch.setattr(quality, "Texts", noted)
    gc.disable()
    try:
        quality.reasons([prose(1), chinese(1)], name)
        quality.without_lines([prose(1), chinese(1)], name)
        assert [batch() for batch in made] == [None] * len(made)
    finally:
        gc.enable()
