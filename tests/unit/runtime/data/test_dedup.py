"""Duplicates: every true one, no false one, in any script; checked against brute force."""

import itertools
import json
import random
from collections import Counter
from pathlib import Path

import pytest
from corpora import Project, lines_of, source
from deduplicating import NEAR_SETTINGS, Deduplicated, alike, edited, of_texts, paragraph, settings

from runtime import records
from runtime.contracts.dedup import Lines, Near
from runtime.contracts.rules import CODE
from runtime.data.deduplication import partitions
from runtime.data.deduplication.apply import REASONS
from runtime.data.deduplication.clusters import EXACT as OF_EXACT
from runtime.data.deduplication.clusters import NEAR as OF_NEAR
from runtime.data.deduplication.clusters import TORSO
from runtime.data.minhash import RECALL
from runtime.data.shingles import tokens
from runtime.faults import StageFault
from runtime.records import Limit, Record

EXACT, NEAR, LINES = REASONS[OF_EXACT], REASONS[OF_NEAR], REASONS[TORSO]
ON = Lines(exact=True, min_length=20)


def of(folder: Path, texts: list[str], **given: object) -> tuple[list[str], Counter[str]]:
    """The texts that stay, and why the others do not."""
    done = Deduplicated(folder, of_texts(texts), settings(**given))  # pyright: ignore[reportArgumentType]
    return done.texts, done.funnel.total.dropped


def near_clusters(folder: Path, texts: list[str], near: Near = NEAR_SETTINGS) -> dict[str, int]:
    """Clusters of near duplicates by the range of their size."""
    return Deduplicated(folder, of_texts(texts), settings(near=near, exact=False)).metrics["cluster_sizes"][NEAR]


def test_short_texts_that_differ_all_survive(tmp_path: Path) -> None:
    assert of(tmp_path / "a", ["猫", "狗", "猫", "cat", "dog"]) == (["猫", "狗", "cat", "dog"], {EXACT: 1})
    assert of(tmp_path / "b", ["猫", "狗", "猫", "cat", "dog"], exact=False) == (["猫", "狗", "cat", "dog"], {NEAR: 1})


def test_short_texts_are_compared_in_order_and_as_a_whole(tmp_path: Path) -> None:
    texts = ["one two", "two one", "one two one", "一二", "二一", "一二！", "One  Two", "ONE\ttwo"]
    assert of(tmp_path, texts, keep="first") == (texts[:6], {NEAR: 2})


SHORT_TEXTS = {
    "signs": ["1+1=2", "1-1=2", "-5", "5", "+5", "5%", "$5", "C", "C++", "C#", "a[i]", "a(i)", "i++", "i--", "3.14", "3:14", "x²", "x2"],
    "answers": ["是", "否", "不是", "是的", "是？", "Yes", "No", "A", "B"],
    "scripts": ["แมว", "หมา", "ねこ", "ネコ", "고양이", "개", "قط", "كلب", "बिल्ली", "कुत्ता", "図書館", "图书馆", "圖書館"],
    "emoji": ["😀", "😂", "👍🏻", "👍🏿"],
}


@pytest.mark.parametrize("kind", SHORT_TEXTS)
@pytest.mark.parametrize("exact", [True, False])
def test_short_texts_that_differ_in_a_sign_or_a_letter_of_any_script_survive(tmp_path: Path, kind: str, exact: bool) -> None:
    assert of(tmp_path, SHORT_TEXTS[kind], exact=exact) == (SHORT_TEXTS[kind], {})


def test_texts_without_any_word_are_never_near_each_other(tmp_path: Path) -> None:
    assert of(tmp_path, ["……", "！！！", "——"]) == (["……", "！！！", "——"], {})


def test_unrelated_chinese_paragraphs_stay_and_the_copy_goes(tmp_path: Path) -> None:
    assert of(tmp_path, [paragraph(1), paragraph(2), paragraph(1)]) == ([paragraph(1), paragraph(2)], {EXACT: 1})


@pytest.mark.parametrize("script", ["\u0e01\u0e32\u0e23", "\u1000\u102d\u102f", "\u3042\u3044\u3046"])
def test_other_scripts_without_blanks_are_not_one_word(script: str) -> None:
    assert len(tokens(script * 10)) == 30


def test_copies_that_differ_in_white_space_are_exact(tmp_path: Path) -> None:
    assert of(tmp_path, ["a  b\nc d", "a b c d"], keep="first") == (["a  b\nc d"], {EXACT: 1})


@pytest.mark.parametrize(("keep", "kept"), [("first", 0), ("longest", 1)])
def test_which_of_a_cluster_stays(tmp_path: Path, keep: str, kept: int) -> None:
    texts = [paragraph(1), paragraph(1) + "加上几个字", edited(paragraph(1), 2, 9)]
    assert of(tmp_path, texts, keep=keep) == ([texts[kept]], {NEAR: 2})


def test_of_equally_long_texts_the_first_stays(tmp_path: Path) -> None:
    assert of(tmp_path, [edited(paragraph(1), 2, seed) for seed in range(3)])[0] == [edited(paragraph(1), 2, 0)]


def test_a_wanted_source_stays_whatever_the_length_and_the_order(tmp_path: Path) -> None:
    texts = [paragraph(1) + "加上几个字", paragraph(1), paragraph(1) + "加", paragraph(1) + "好"]
    documents = [Record(str(place), text, name) for place, (text, name) in enumerate(zip(texts, "webb", strict=True))]
    for wanted, kept in ((("b", "w"), 2), (("w", "b"), 0), (("e",), 1), ((), 0)):
        done = Deduplicated(tmp_path / "-".join(("of", *wanted)), documents, settings(keep="priority", priority=wanted))
        assert [record.id for record in done.kept] == [str(kept)]


def test_an_unknown_choice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StageFault, match="shortest"):
        of(tmp_path, ["a", "a"], keep="shortest")


def test_near_duplicates_are_those_of_brute_force(tmp_path: Path) -> None:
    texts = [edited(paragraph(seed), changes, seed) for seed in range(60) for changes in (0, 2, 5, 12)]
    pairs = alike(texts, NEAR_SETTINGS.threshold)
    done = Deduplicated(tmp_path, of_texts(texts), settings(exact=False))
    kept = {int(record.id) for record in done.kept}
    assert len({index // 4 for index in kept}) == 60  # nothing unrelated was merged
    together = [pair for pair in pairs if not (set(pair) <= kept)]
    assert len(together) >= RECALL * len(pairs) > 0
    assert all(any(place in pair for pair in pairs) for place in set(range(len(texts))) - kept)


def test_near_duplicates_of_english(tmp_path: Path) -> None:
    words = [f"word{n}" for n in range(400)]
    base = [random.Random(seed).choices(words, k=150) for seed in range(20)]
    changed = [["other" if place == 70 else word for place, word in enumerate(text)] for text in base]
    assert near_clusters(tmp_path, [" ".join(text) for text in base + changed]) == {"2-3": 20}


def test_a_large_bucket_of_templates_is_handled(tmp_path: Path) -> None:
    form = "本通知由系统自动发送，请勿直接回复，如有疑问请联系管理员，编号为"
    texts = [form + edited(paragraph(7, 20), 2, seed) for seed in range(300)]
    assert near_clusters(tmp_path, texts, Near(threshold=0.4, permutations=128, ngram=3)) == {"256-511": 1}


def test_a_document_of_repeated_lines_goes_as_a_whole(tmp_path: Path) -> None:
    lines = [f"this is line number {n} of a page that others quote" for n in range(20)]
    texts = [
        "\n".join(lines),
        "\n".join([*lines[:15], "short"]),
        "\n".join([*lines[3:6], *(f"{line} and more, which is new" for line in lines)]),
    ]
    kept, dropped = of(tmp_path, texts, near=None, lines=ON)
    assert dropped == {LINES: 1}
    assert kept == [texts[0], "\n".join(f"{line} and more, which is new" for line in lines)]


@pytest.mark.parametrize("unit", ["line", "sentence"])
def test_code_loses_no_line_that_other_documents_have_too(tmp_path: Path, unit: str) -> None:
    shared = "    int number_of_entries = 0;  // Counted below. It is told at the end."
    texts = [
        f"int {name}(void) {{\n{shared}\n{shared}\n    return {name}_of(number_of_entries);\n}}" for name in ("first", "second", "third")
    ]
    prose = [f"Page {number}\n{shared}\nWhat it means for {number} is told in another chapter." for number in range(2)]
    lines = Lines(exact=True, min_length=20, unit=unit, min_documents=1)
    documents = [Record(str(place), text, "s", "en", {"domain": CODE}) for place, text in enumerate([*texts, texts[0]])]
    documents += [Record(f"p{place}", text, "s", "en", {"domain": "docs"}) for place, text in enumerate(prose)]
    found = Deduplicated(tmp_path, documents, settings(near=None, lines=lines))
    assert found.texts[:3] == texts
    assert found.texts[3] == prose[0] and len(found.texts[4]) < len(prose[1])
    assert len(found.texts) == len(documents) - 1


def test_documents_that_are_equal_without_their_repeated_lines_are_one(tmp_path: Path) -> None:
    shared = "this long line stands above every page of the site"
    texts = [f"{shared}\nthe first page", f"{shared}\nof our site, and more", f"{shared}\nof our site, and   more", "of our site, and more"]
    kept, dropped = of(tmp_path, [*texts[:2], texts[3], texts[2]], near=None, lines=ON)
    assert kept == [texts[0], "of our site, and   more"]  # the longest
    assert dropped == {EXACT: 2}


def mixture(seed: int) -> list[Record]:
    """Documents with exact, near and short copies, shared lines and line repeats, of two sources."""
    dice = random.Random(seed)
    lines = [paragraph(dice.randrange(10**6), dice.randint(3, 40)) for _ in range(30)]
    texts: list[str] = []
    for _ in range(150):
        kind = dice.random()
        if kind < 0.3 and texts:
            old = dice.choice(texts)
            texts.append(edited(old, min(len(old) // 40, 3), dice.randrange(10**6)))
        elif kind < 0.4:
            texts.append("\n".join(dice.choices(lines, k=dice.randint(1, 5))))
        elif kind < 0.5:
            texts.append(paragraph(dice.randrange(9), dice.randint(1, 4)))
        else:
            texts.append("\n".join([paragraph(dice.randrange(10**6), dice.randint(20, 90)), *dice.choices(lines, k=2)]))
    return [Record(str(place), text, dice.choice("ab"), "zh") for place, text in enumerate(texts)]


def everything(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.mark.parametrize("unit", ["line", "sentence"])
def test_parts_and_partitions_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unit: str) -> None:
    asked = settings(lines=Lines(exact=True, min_length=8, unit=unit))
    whole = Deduplicated(tmp_path / "whole", mixture(1), asked)
    monkeypatch.setattr(records, "PART", Limit(17, 10**9))
    monkeypatch.setattr(partitions, "PARTITION", 300)
    split = Deduplicated(tmp_path / "split", mixture(1), asked)
    assert len(list((tmp_path / "split" / "out").glob("part-*"))) == 9
    assert split.kept == whole.kept
    assert split.metrics == whole.metrics
    assert split.funnel.as_dict() == whole.funnel.as_dict()
    assert set(whole.funnel.total.dropped) == {EXACT, NEAR, LINES}


def test_workers_change_no_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "PART", Limit(30, 10**9))
    asked = settings(lines=Lines(exact=True, min_length=8))
    one, two = (Deduplicated(tmp_path / str(n), mixture(2), asked, workers=n) for n in (1, 2))
    assert everything(one.out) == everything(two.out)
    assert one.metrics == two.metrics


@pytest.mark.slow
def test_four_workers_and_ray_change_no_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "PART", Limit(30, 10**9))
    asked = settings(lines=Lines(exact=True, min_length=8))
    runs = {"one": {"workers": 1}, "four": {"workers": 4}, "ray": {"workers": 2, "engine": "ray"}}
    found = [everything(Deduplicated(tmp_path / name, mixture(3), asked, **placed).out) for name, placed in runs.items()]
    assert found[0] == found[1] == found[2]


def test_one_cluster_of_each_pair_is_shown_with_its_members(tmp_path: Path) -> None:
    texts = [paragraph(1), paragraph(1), *(edited(paragraph(2), changes, changes) for changes in range(3)), paragraph(3)]
    documents = [Record(f"id{place}", text, "ab"[place % 2]) for place, text in enumerate(texts)]
    done = Deduplicated(tmp_path, documents, settings())
    rows = [json.loads(line) for line in (done.out / "clusters.jsonl").read_bytes().splitlines()]
    exact, near = rows
    assert (exact["kind"], exact["size"], exact["kept"], exact["similarity"]) == (EXACT, 2, "id0", 1.0)
    assert [member["source"] for member in exact["members"]] == ["a", "b"]
    assert (near["kind"], near["size"], near["kept"]) == (NEAR, 3, "id2")
    lowest = min(similarity for pair, similarity in _similarities(texts[2:5]).items() if 0 in pair)
    assert near["similarity"] == pytest.approx(lowest, abs=1e-4)
    assert done.metrics["duplicates_of"] == {"a": {"a": 1}, "b": {"a": 2}}
    assert done.metrics["cluster_sizes"] == {EXACT: {"2-3": 1}, NEAR: {"2-3": 1}}


def _similarities(texts: list[str]) -> dict[tuple[int, int], float]:
    from deduplicating import shingle_set, similarity

    sets = [shingle_set(text, 5) for text in texts]
    return {pair: similarity(sets[pair[0]], sets[pair[1]]) for pair in itertools.combinations(range(len(texts)), 2)}


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
