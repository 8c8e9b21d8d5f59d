"""Text of evaluation sets: found whatever its form, removed from the corpus, and not found where it is not."""

import json
import os
import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from corpora import Project, lines_of, source
from deduplicating import Deduplicated, of_texts, paragraph, settings
from hypothesis import given
from hypothesis import strategies as st

from runtime import records
from runtime.contracts.dedup import Decontamination
from runtime.data.contamination import SHORTEST, Contamination, comparable
from runtime.data.dedup import warnings_of
from runtime.data.deduplication.contaminated import evaluation_texts
from runtime.data.funnel import Funnel
from runtime.data.shingles import tokens
from runtime.faults import StageFault
from runtime.records import Record

QUESTION = "Which river flows through the city of Cologne, and how long is it from the spring to the sea?"
POEM = "床前明月光，疑是地上霜。举头望明月，低头思故乡。"
WORDS = ["a", "猫", "b", "狗", "c", "鱼", "d"]


def asked(action: str = "drop", ngram: int = 13) -> Decontamination:
    return Decontamination(ngram=ngram, files=(), cases=None, action=action)


@pytest.mark.parametrize(
    "text",
    [
        QUESTION,
        f"Some page says: {QUESTION.upper()} Nobody knows.",
        QUESTION.replace(" ", "\n  "),
        QUESTION.replace(",", " —").replace("?", ""),
        "".join(chr(ord(letter) + 0xFEE0) if letter.isascii() and letter.isalnum() else letter for letter in QUESTION),
        "how LONG river flows through the city of Cologne and how long is it from",
        f"他引用了：{POEM}",
        "床前明月光 疑是地上霜 举头望",
    ],
)
def test_a_passage_is_found_in_any_case_width_spacing_and_punctuation(text: str) -> None:
    assert Contamination.of([QUESTION, POEM], 13).hit(text)


@pytest.mark.parametrize(
    "text",
    [
        "The river that flows through Cologne is the Rhine, and it is long.",
        " ".join(QUESTION.split()[:12]),
        "床前明月光，疑是地上霜。举头",
        "".join(reversed(POEM)),
        "",
        "……",
    ],
)
def test_what_shares_fewer_tokens_in_a_row_is_not(text: str) -> None:
    assert Contamination.of([QUESTION, POEM], 13).hit(text) is None


def test_the_end_of_one_text_and_the_begin_of_the_next_are_no_passage() -> None:
    assert Contamination.of([QUESTION], 13).hits([" ".join(QUESTION.split()[:8]), " ".join(QUESTION.split()[8:])]) == [None, None]


def test_the_passage_is_shown() -> None:
    assert Contamination.of([POEM], 13).hit(f"诗曰：{POEM}作者李白") == "床前明月光,疑是地上霜。举头望"


def test_a_short_case_counts_as_a_whole() -> None:
    short, shortest = "藜牀坐來久，前年曾到門。", "问:1+1? 答:2"
    assert SHORTEST <= len(tokens(short)) < 13 and len(tokens(shortest)) < SHORTEST
    known = Contamination.of([short, shortest, ""], 13)
    assert known.hits([f"他说{short}好", short[:-3], f"{shortest} ", f"练习：{shortest}", ""]) == [
        "藜牀坐來久,前年曾到門",
        None,
        "问:1+1? 答:2",
        None,
        None,
    ]


def by_definition(evaluation: list[str], ngram: int, text: str) -> bool:
    own = tokens(comparable(text))
    for one in evaluation:
        theirs = tokens(comparable(one))
        length = min(ngram, len(theirs))
        runs = [theirs[start : start + length] for start in range(len(theirs) - length + 1)] if theirs else []
        inside = [own[start : start + length] for start in range(len(own) - length + 1)] if length >= min(SHORTEST, ngram) else [own]
        if any(run in inside for run in runs):
            return True
    return False


TEXTS = st.lists(st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join), max_size=5)


@given(TEXTS, TEXTS, st.integers(2, 10))
def test_hits_are_those_of_the_definition(evaluation: list[str], texts: list[str], ngram: int) -> None:
    known = Contamination.of(evaluation, ngram)
    found = known.hits(texts)
    assert [hit is not None for hit in found] == [by_definition(evaluation, ngram, text) for text in texts]
    assert found == [known.hit(text) for text in texts]
    assert [bool(known.passages(text)) for text in texts] == [hit is not None for hit in found]


def test_it_is_the_same_when_it_is_read_back(tmp_path: Path) -> None:
    known = Contamination.of([QUESTION, "藜牀坐來久前年", "一二三四五六七八九"], 13)
    known.write(tmp_path / "known.npz")
    again = Contamination.read(tmp_path / "known.npz")
    assert {length: numbers.tolist() for length, numbers in again.inside.items()} == {
        length: numbers.tolist() for length, numbers in known.inside.items()
    }
    assert again.whole.keys() == known.whole.keys() == {7}


def test_a_document_with_a_passage_is_dropped_and_shown(tmp_path: Path) -> None:
    texts = [paragraph(1), f"{paragraph(2)}{POEM}", paragraph(2)]
    done = Deduplicated(tmp_path, of_texts(texts), settings(decontaminate=asked()), [POEM])
    assert done.texts == [texts[0], texts[2]]  # what is near the dropped one stays
    assert done.funnel.total.dropped == {"contaminated": 1}
    shown = [json.loads(line) for line in (done.out / "contaminated.jsonl").read_bytes().splitlines()]
    assert [(row["id"], row["action"], row["passage"]) for row in shown] == [("1", "drop", "床前明月光,疑是地上霜。举头望")]


def test_every_source_is_among_the_documents_that_are_shown_whatever_the_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "PART", records.Limit(20, 1 << 30))
    large = [Record(f"l{number}", f"{paragraph(number)}{POEM}", "large") for number in range(90)]
    documents = [*large, Record("s", f"{paragraph(200)}{POEM}", "small"), Record("k", paragraph(300), "small")]
    shown = []
    for workers in (1, 2):
        done = Deduplicated(tmp_path / str(workers), documents, settings(decontaminate=asked()), [POEM], workers=workers)
        shown.append((done.out / "contaminated.jsonl").read_bytes())
    assert shown[0] == shown[1]
    sources = [json.loads(line)["source"] for line in shown[0].splitlines()]
    assert sources == ["large"] * 20 + ["small"]


def test_only_the_sentences_are_cut(tmp_path: Path) -> None:
    long = "。".join(paragraph(seed, 40) for seed in range(4))
    texts = [f"{long}。\n课文：{POEM}\n完。", f"{long[::-1]}。{POEM}", POEM]
    done = Deduplicated(tmp_path, of_texts(texts), settings(decontaminate=asked("cut")), [POEM])
    assert done.texts == [f"{long}。\n完。", f"{long[::-1]}。"]
    assert done.funnel.total.dropped == {"contaminated": 1}
    assert done.metrics["decontaminated"] == {"s": 2}
    assert Contamination.of([POEM], 13).hits(done.texts) == [None, None]


def test_what_is_equal_after_the_cut_is_one(tmp_path: Path) -> None:
    long = paragraph(3, 100)
    done = Deduplicated(tmp_path, of_texts([f"{long}。{POEM}", f"{long}。"]), settings(decontaminate=asked("cut")), [POEM])
    assert done.texts == [f"{long}。"]
    assert done.funnel.total.dropped == {"exact_duplicate": 1}


def case(number: int, **more: str) -> dict[str, str]:
    return {"id": str(number), "group": "g", "instruction": QUESTION, "reference": "the Rhine", **more}


def test_the_core_cases_and_the_files_of_the_spec_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = Project(tmp_path, {"one": source("data/one.jsonl", "jsonl", "text", "zh")})
    monkeypatch.chdir(project.folder)
    lines = [paragraph(seed, 60) for seed in range(8)]
    project.put("data/core.jsonl", lines_of(case(1, input=lines[0])))
    project.put("data/other.jsonl", lines_of({"messages": [{"content": lines[1]}], "n": 1}))
    project.put("data/plain.txt", f"\ufeff{lines[2]}\n{lines[3]}\n")
    project.put("data/one.jsonl", lines_of(*({"text": f"{paragraph(50 + seed)}{line}"} for seed, line in enumerate(lines))))
    files = ["data/other.jsonl", "data/plain.txt"]
    project.config["dedup"]["decontaminate"] = {"ngram": 13, "files": files, "cases": "data/core.jsonl", "action": "drop"}
    project.run("ingest", "clean", "dedup")
    assert project.metrics("dedup")["dropped"] == {"contaminated": 4}
    assert project.metrics("dedup")["documents_out"] == 4


@pytest.mark.parametrize(
    ("make", "told", "where"),
    [
        (lambda path: None, "cannot be read: No such file", "data.jsonl"),
        (lambda path: path.symlink_to("nowhere"), "cannot be read: No such file", "data.jsonl"),
        (lambda path: path.symlink_to("/proc/self/mem"), "cannot be read: Input/output error", "data.jsonl"),
        (lambda path: path.mkdir(), "is a folder", "data.jsonl"),
        (os.mkfifo, "is not a regular file", "data.jsonl"),
        (lambda path: path.write_bytes(b'{"a": "\xff"}'), "not UTF-8: invalid start byte at byte 7$", "data.jsonl"),
        (lambda path: path.write_bytes(b"\xef\xbb\xbf{\xff"), "not UTF-8: invalid start byte at byte 4$", "data.jsonl"),
        (lambda path: path.write_bytes(b'\xef\xbb\xbf{"a": "b"}\r\n{'), "not JSON", "data.jsonl:2"),
        (lambda path: path.write_text('{"a": "b"}\n\n{'), "not JSON", "data.jsonl:3"),
        (lambda path: path.write_text("[" * 100_000), "not JSON", "data.jsonl:1"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, make: Callable[[Path], object], told: str, where: str) -> None:
    make(tmp_path / "data.jsonl")
    with pytest.raises(StageFault) as raised:
        list(evaluation_texts(Decontamination(ngram=13, files=("data.jsonl",), cases=None, action="drop"), tmp_path))
    assert re.search(told, raised.value.message) and raised.value.where == where and raised.value.fix


def test_a_byte_order_mark_is_no_part_of_an_evaluation_text(tmp_path: Path) -> None:
    for name in ("a.jsonl", "b.txt"):
        (tmp_path / name).write_bytes(b'\xef\xbb\xbf"first"\r\n"second"\n')
    found = list(evaluation_texts(Decontamination(ngram=13, files=("a.jsonl", "b.txt"), cases=None, action="drop"), tmp_path))
    assert found == ["first", "first", "second", "second", '"first"\r', '"second"', ""]


def test_a_source_is_warned_of_for_what_it_lost_its_documents_to() -> None:
    funnel = Funnel()
    for number, reason in enumerate(["contaminated"] * 3 + ["near_duplicate"]):
        record = Record(str(number), "text", "one")
        funnel.enter(record)
        funnel.drop(record, reason)
    assert warnings_of(funnel) == ["75% of the documents of one hold text of evaluation sets"]


def test_every_evaluation_text_inside_random_text_is_found() -> None:
    dice = random.Random(1)
    evaluation = [paragraph(seed, dice.randint(8, 60)) for seed in range(200)]
    known = Contamination.of(evaluation, 13)
    assert all(known.hits([f"{paragraph(1000 + seed)}，{text}。{paragraph(2000 + seed)}" for seed, text in enumerate(evaluation)]))
    assert not any(known.hits([paragraph(5000 + seed, 300) for seed in range(200)]))
