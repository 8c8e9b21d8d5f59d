"""Duplicates: every true one, no false one, in any script; checked against brute force."""

import itertools
import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from corpora import Project, lines_of, source

from runtime.contracts.dedup import Dedup, Documents, Lines, Near
from runtime.data.dedup import EXACT, LINES, NEAR, Deduplication, without_repeated_lines
from runtime.data.funnel import Funnel
from runtime.data.minhash import RECALL, bands, clusters, signatures, spaced_out
from runtime.data.shingles import jaccard, shingles, tokens
from runtime.faults import StageFault
from runtime.records import Record

NEAR_SETTINGS = Near(threshold=0.8, permutations=128, ngram=5)
HAN = [chr(code) for code in range(0x4E00, 0x4E00 + 3000)]


def paragraph(seed: int, length: int = 200) -> str:
    return "".join(random.Random(seed).choices(HAN, k=length))


def edited(text: str, changes: int, seed: int) -> str:
    """The text with `changes` characters replaced."""
    characters, dice = list(text), random.Random(seed)
    for place in dice.sample(range(len(characters)), changes):
        characters[place] = dice.choice(HAN)
    return "".join(characters)


def deduplicated(
    texts: list[str], near: Near | None = NEAR_SETTINGS, keep: str = "longest", lines: bool = False, exact: bool = True
) -> tuple[list[str], Counter[str]]:
    parameters = Dedup(lines=Lines(exact=lines, min_length=20), documents=Documents(exact=exact, near=near), keep=keep)
    funnel = Funnel()
    kept = Deduplication(parameters, funnel).survivors([Record(str(index), text, "s") for index, text in enumerate(texts)])
    return [record.text for record in kept], funnel.total.dropped


def test_short_texts_that_differ_all_survive() -> None:
    assert deduplicated(["猫", "狗", "猫", "cat", "dog"]) == (["猫", "狗", "cat", "dog"], {EXACT: 1})
    assert deduplicated(["猫", "狗", "猫", "cat", "dog"], exact=False) == (["猫", "狗", "cat", "dog"], {NEAR: 1})


def test_texts_without_any_word_are_never_near_each_other() -> None:
    assert deduplicated(["……", "！！！", "——"]) == (["……", "！！！", "——"], {})


def test_unrelated_chinese_paragraphs_stay_and_the_copy_goes() -> None:
    assert deduplicated([paragraph(1), paragraph(2), paragraph(1)]) == ([paragraph(1), paragraph(2)], {EXACT: 1})


@pytest.mark.parametrize("script", ["\u0e01\u0e32\u0e23", "\u1000\u102d\u102f", "\u3042\u3044\u3046"])
def test_other_scripts_without_blanks_are_not_one_word(script: str) -> None:
    assert len(tokens(script * 10)) == 30


def test_copies_that_differ_in_white_space_are_exact() -> None:
    assert deduplicated(["a  b\nc d", "a b c d"], keep="first") == (["a  b\nc d"], {EXACT: 1})


@pytest.mark.parametrize(("keep", "kept"), [("first", 0), ("longest", 1)])
def test_which_of_a_cluster_stays(keep: str, kept: int) -> None:
    texts = [paragraph(1), paragraph(1) + "加上几个字", edited(paragraph(1), 2, 9)]
    assert deduplicated(texts, keep=keep) == ([texts[kept]], {NEAR: 2})


def test_an_unknown_choice_is_refused() -> None:
    with pytest.raises(StageFault, match="shortest"):
        deduplicated(["a", "a"], keep="shortest")


def test_near_duplicates_are_those_of_brute_force() -> None:
    texts = [edited(paragraph(seed), changes, seed) for seed in range(60) for changes in (0, 2, 5, 12)]
    sets = [shingles(tokens(text), NEAR_SETTINGS.ngram) for text in texts]
    alike = {(i, j) for i, j in itertools.combinations(range(len(texts)), 2) if jaccard(sets[i], sets[j]) >= NEAR_SETTINGS.threshold}
    found = clusters(texts, NEAR_SETTINGS)
    assert all(len({index // 4 for index in group}) == 1 for group in found)  # nothing unrelated was merged
    linked = {pair for group in found for pair in itertools.combinations(group, 2)}
    assert len(alike & linked) >= RECALL * len(alike) > 0
    assert all(any((min(i, k), max(i, k)) in alike for k in group if k != i) for group in found for i in group)


def test_near_duplicates_of_english() -> None:
    words = [f"word{n}" for n in range(400)]
    base = [random.Random(seed).choices(words, k=150) for seed in range(20)]
    changed = [["other" if place == 70 else word for place, word in enumerate(text)] for text in base]
    assert clusters([" ".join(text) for text in base + changed], NEAR_SETTINGS) == [[index, index + 20] for index in range(20)]


def test_signatures_estimate_the_jaccard_similarity() -> None:
    near = Near(threshold=0.8, permutations=1024, ngram=5)
    pairs = [(paragraph(seed, 400), edited(paragraph(seed, 400), 4 * seed, seed)) for seed in range(1, 9)]
    for left, right in pairs:
        signed = signatures([spaced_out(left), spaced_out(right)], near)
        true = jaccard(shingles(tokens(left), 5), shingles(tokens(right), 5))
        assert np.mean(signed[0] == signed[1]) == pytest.approx(true, abs=4 * np.sqrt(true * (1 - true) / 1024))


@pytest.mark.parametrize(("threshold", "permutations"), [(0.5, 64), (0.8, 128), (0.95, 256), (1.0, 16), (0.1, 16)])
def test_bands_fit_and_find_what_they_promise(threshold: float, permutations: int) -> None:
    count, rows = bands(threshold, permutations)
    assert count * rows <= permutations
    assert rows == 1 or 1 - (1 - threshold**rows) ** count >= RECALL


def test_a_large_bucket_of_templates_is_handled() -> None:
    form = "本通知由系统自动发送，请勿直接回复，如有疑问请联系管理员，编号为"
    texts = [form + edited(paragraph(7, 20), 2, seed) for seed in range(300)]
    assert [len(group) for group in clusters(texts, Near(threshold=0.4, permutations=128, ngram=3))] == [300]


def test_repeated_lines_go_from_the_second_time_on() -> None:
    limits, seen = Lines(exact=True, min_length=5), set[bytes]()
    assert without_repeated_lines("a long line\nb\n  a long line\nb", limits, seen) == ("a long line\nb\nb", 1)
    assert without_repeated_lines("b\na long line\nanother line", limits, seen) == ("b\nanother line", 1)


def test_a_document_of_repeated_lines_goes_as_a_whole() -> None:
    lines = [f"this is line number {n} of a page that others quote" for n in range(20)]
    texts = [
        "\n".join(lines),
        "\n".join([*lines[:15], "short"]),
        "\n".join([*lines[3:6], *(f"{line} and more, which is new" for line in lines)]),
    ]
    kept, dropped = deduplicated(texts, near=None, lines=True)
    assert dropped == {LINES: 1}
    assert kept == [texts[0], "\n".join(f"{line} and more, which is new" for line in lines)]


def test_clusters_are_counted_across_sources_and_a_source_that_shrinks_much_is_warned_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = Project(tmp_path, {name: source(f"data/{name}.jsonl", "jsonl", "text", "zh") for name in ("one", "two")})
    monkeypatch.chdir(project.folder)
    project.put("data/one.jsonl", lines_of(*({"text": paragraph(seed)} for seed in range(4))))
    project.put("data/two.jsonl", lines_of(*({"text": edited(paragraph(seed), seed, 1)} for seed in range(3)), {"text": paragraph(9)}))
    project.run("ingest", "clean", "dedup")
    metrics = project.metrics("dedup")
    assert metrics["dropped"] == {EXACT: 1, NEAR: 2}
    assert metrics["sources"]["one"]["dropped"] == {}
    assert metrics["sources"]["two"]["documents_out"] == 1
    assert metrics["clusters_by_source"] == {name: {EXACT: 1, NEAR: 2} for name in ("one", "two")}
    assert metrics["warnings"] == ["75% of the documents of two are duplicates"]
