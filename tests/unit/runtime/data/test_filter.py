"""Topics, expressions and a classifier: what is kept, what is dropped and why, and what is refused."""

import re
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from corpora import Project, lines_of, source

from runtime import records
from runtime.contracts.filter import Classifier, Topic
from runtime.data import classifier, searching
from runtime.data.searching import compiled
from runtime.data.topics import Topics
from runtime.faults import StageFault
from runtime.records import Limit, Record

Enter = Callable[[Mapping[str, Any], Sequence[Record]], Project]


def on(text: str, **topics: Any) -> list[str]:
    return Topics({name: Topic(**told) for name, told in topics.items()}).of(Record("x", text, "s"))


@pytest.mark.parametrize(
    ("keyword", "text", "hit"),
    [
        ("bank", "The Bank of England", True),
        ("bank", "bankrupt", False),
        ("bank", "e-bank, and", True),
        ("bank", "snow_bank", False),
        ("bank", "我在bank工作", True),
        ("BANK", "bank", True),
        ("straße", "die STRASSE", True),
        ("银行", "中国人民银行的利率", True),
        ("银行", "银 行", False),
        ("A股", "今天A股大涨", True),
        ("A股", "NBA股票", False),
        ("share price", "the share\n  price fell", True),
        ("share price", "sharepriced", False),
        ("c++", "in C++ code", True),
        ("कर", "कर दो", True),
        ("कर", "करना", False),
        ("ธนาคาร", "ที่ธนาคารใหญ่", True),
    ],
)
def test_keywords_are_words_where_there_are_blanks_and_parts_of_text_where_there_are_none(keyword: str, text: str, hit: bool) -> None:
    assert on(text, topic={"any": (keyword,)}) == (["topic"] if hit else [])


@pytest.mark.parametrize(("hits", "met"), [(1, True), (3, True), (4, False)])
def test_a_topic_needs_as_many_hits_as_it_says(hits: int, met: bool) -> None:
    topic = {"any": ("bank", "利率"), "patterns": (r"\d+%",), "min_hits": hits}
    assert on("The bank raised 利率 by 3% today", topic=topic) == (["topic"] if met else [])


def test_a_keyword_that_rules_a_topic_out_decides() -> None:
    topics = {"finance": {"any": ("bank",), "none": ("river",)}, "water": {"any": ("river", "bank")}}
    assert on("the bank of the river", **topics) == ["water"]
    assert on("the bank", **topics) == ["finance", "water"]


def test_keywords_within_keywords_are_all_found() -> None:
    topics = {name: {"any": (word,)} for name, word in {"a": "股", "b": "股票", "c": "股票市场", "d": "票市"}.items()}
    assert on("股票市场", **topics) == ["a", "b", "c", "d"]


def test_thousands_of_keywords_take_one_pass() -> None:
    words = tuple(f"word{n}" for n in range(20_000))
    topics, text = Topics({"many": Topic(any=words, min_hits=10**6)}), "some plain prose with word19999 in it " * 5000
    few, started = Topics({"one": Topic(any=("word19999",), min_hits=10**6)}), time.process_time()
    few.of(Record("x", text, "s"))
    middle = time.process_time()
    topics.of(Record("x", text, "s"))
    assert time.process_time() - middle < 20 * max(middle - started, 0.02)


def test_an_expression_that_never_ends_stops_with_its_name_and_the_document(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "SECONDS", 0.2)
    (expression,) = compiled("deny", [r"(a+)+$"])
    assert expression.found(Record("fine", "b" * 1000 + "a", "s"))
    with pytest.raises(StageFault, match=r"deny\[0\] .* was searched for more than") as fault:
        expression.found(Record("bad-7", "a" * 60 + "b", "source"))
    assert "source: bad-7" in fault.value.where
    assert "data.pretrain.filter.deny[0]" in fault.value.fix


@pytest.fixture
def enter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Enter:
    """Makes an experiment whose deduplicated corpus is the given one, and enters it."""

    def make(settings: Mapping[str, Any], corpus: Sequence[Record]) -> Project:
        project = Project(tmp_path / str(len(list(tmp_path.iterdir()))), {"s": source("none", "text")})
        project.config["filter"].update({"languages": [], **settings})
        project.made("dedup", corpus)
        monkeypatch.chdir(project.folder)
        return project

    return make


def documents(texts: Sequence[str]) -> list[Record]:
    return [Record(str(number), text, "s", "en") for number, text in enumerate(texts)]


TOPICS = {"finance": {"any": ["bank", "股票"]}, "spam": {"any": ["casino"], "patterns": ["(?i)win \\d+"]}, "other": {"any": ["tree"]}}


def test_topics_keep_and_drop_and_all_are_counted(enter: Enter) -> None:
    texts = ["a bank", "股票大涨", "a bank casino", "WIN 100 at the bank", "a tree", "nothing"]
    project = enter({"topics": TOPICS, "keep_topics": ["finance"], "drop_topics": ["spam"]}, documents(texts))
    project.run("filter")
    assert [record.text for record in project.records("corpus/filter")] == texts[:2]
    metrics = project.metrics("filter")
    assert metrics["dropped"] == {"off_topic": 2, "topic_spam": 2}
    assert metrics["topics"] == {"finance": 4, "spam": 2, "other": 1}


def test_topics_that_are_neither_kept_nor_dropped_are_counted_alone(enter: Enter) -> None:
    project = enter({"topics": TOPICS}, documents(["a bank", "nothing"]))
    project.run("filter")
    assert (project.metrics("filter")["documents_out"], project.metrics("filter")["topics"]["finance"]) == (2, 1)


@pytest.mark.parametrize("pattern", ["[a", "a{99999999999}", "(" * 5000 + ")" * 5000])
def test_a_topic_with_a_bad_pattern_is_refused_before_any_work(enter: Enter, pattern: str) -> None:
    project = enter({"topics": {"t": {"patterns": [pattern]}}}, documents(["a"]))
    with pytest.raises(StageFault, match=rf"topics\.t\.patterns\[0\] '{re.escape(pattern)}' is not a regular expression"):
        project.run("filter")


SPORT, COOKING = ("goal", "team", "match", "score", "球队", "比赛"), ("flour", "butter", "oven", "sugar", "面粉", "烤箱")


def labelled(count: int) -> list[dict[str, str]]:
    words = {"sport": SPORT, "cooking": COOKING}
    return [
        {"text": f"{' '.join(words[label][(n * step) % 6] for step in range(1, 9))} {n}", "label": label}
        for n in range(count)
        for label in words
    ]


def test_a_classifier_keeps_what_looks_like_the_rows_of_its_labels(enter: Enter) -> None:
    texts = [f"the team won the match {n}" for n in range(20)] + [f"butter and flour in the oven {n}" for n in range(20)]
    asked = {"rows": "data/labelled.jsonl", "keep": ["sport"], "threshold": 0.5}
    project = enter({"classifier": asked}, documents(texts))
    project.put("data/labelled.jsonl", lines_of(*labelled(40)))
    project.run("filter")
    assert [record.text for record in project.records("corpus/filter")] == texts[:20]
    told = project.metrics("filter")["classifier"]
    assert (told["rows"], told["held_out"], told["accuracy"]) == (80, 16, 1.0)
    assert told["accuracy_of_commonest_label"] == 0.5
    assert told["labels"] == {"cooking": 20, "sport": 20}
    assert project.metrics("filter")["dropped"] == {"classifier": 20}


@pytest.mark.slow
def test_parts_and_workers_and_the_order_of_the_rows_change_no_byte(enter: Enter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "PART", Limit(30, 1 << 20))
    texts = [f"{(SPORT + COOKING)[n % 12]} {(COOKING + SPORT)[n % 7]} {n}" for n in range(90)]
    results: list[dict[str, bytes]] = []
    for workers, rows in ((1, labelled(30)), (2, labelled(30)[::-1])):
        asked = {"rows": "data/labelled.jsonl", "keep": ["sport"], "threshold": 0.5}
        project = enter({"classifier": asked, "topics": TOPICS, "deny": ["7 "]}, documents(texts))
        project.put("data/labelled.jsonl", lines_of(*rows))
        (project.folder / "placement.yaml").write_text(f"workers: {workers}\n")
        project.run("filter")
        results.append(project.results())
    assert results[0] == results[1]


def test_three_labels_share_one_certainty(tmp_path: Path) -> None:
    third = [{"text": f"股票 利率 银行 {n} bank rate", "label": "money"} for n in range(40)]
    path = tmp_path / "rows.jsonl"
    path.write_text(lines_of(*labelled(40), *third), "utf-8")
    model, told = classifier.train(Classifier(rows="rows.jsonl", keep=("sport", "money")), path)
    assert told["accuracy"] > 0.9
    found = model.probabilities(["银行 利率 bank", "butter oven flour sugar"])
    assert found.sum(axis=1) == pytest.approx([1, 1])
    assert found[0].argmax() == model.labels.index("money")
    model.save(tmp_path / "model.npz")
    assert (classifier.Model.load(tmp_path / "model.npz").probabilities(["银行"]) == model.probabilities(["银行"])).all()


@pytest.mark.parametrize(
    ("rows", "keep", "message", "reason"),
    [
        ([*labelled(12), {"text": "one", "label": "rare"}], "sport", "two labels or more, each with 10", "cooking: 12, rare: 1, sport: 12"),
        ([row for row in labelled(20) if row["label"] == "sport"], "sport", "two labels or more", "sport: 20"),
        ([], "sport", "no row has the label sport", "rows by label: none"),
        (labelled(20), "sports", "no row has the label sports", "cooking: 20, sport: 20"),
        ([{"text": "same words", "label": label} for label in ("a", "b")] * 9, "a", "no row has the label a", "none"),
        (
            [{"text": f"text number {n}", "label": "ab"[n * n % 7 % 2]} for n in range(60)],
            "a",
            "no more than naming the commonest",
            "chance",
        ),
    ],
)
def test_rows_that_nothing_can_be_learned_from_are_refused(
    tmp_path: Path, rows: list[dict[str, str]], keep: str, message: str, reason: str
) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(lines_of(*rows), "utf-8")
    with pytest.raises(StageFault, match=message) as fault:
        classifier.train(Classifier(rows="rows.jsonl", keep=(keep,)), path)
    assert reason in fault.value.reason


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"{", "not JSON"),
        (b"[1]", "text and label: no text"),
        (b'{"text": "a", "label": 3}', "label: no text"),
        (b'{"text": " ", "label": "a"}', "text: no text"),
    ],
)
def test_a_bad_row_is_named_with_its_line(tmp_path: Path, line: bytes, message: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"text": "a", "label": "b"}\n\n' + line + b"\n")
    with pytest.raises(StageFault, match=message) as fault:
        classifier.read_rows(path, "data/rows.jsonl")
    assert fault.value.where == "data/rows.jsonl:3"


def test_no_file_of_rows_is_told(tmp_path: Path) -> None:
    with pytest.raises(StageFault, match="No such file"):
        classifier.read_rows(tmp_path / "none", "data/none")
