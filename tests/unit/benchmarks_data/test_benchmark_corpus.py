"""The corpus of the benchmarks and what they make of their figures, on small input."""

import importlib
import json
import random
import sys
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

FOLDER = Path(__file__).parents[3] / "benchmarks/data"


def load(name: str) -> ModuleType:
    """A module of the benchmarks, which are no package, and which put their folder on the path too."""
    before = [*sys.path]
    sys.path.insert(0, str(FOLDER))
    try:
        return importlib.import_module(name)
    finally:
        sys.path[:] = before


@pytest.fixture
def corpus() -> ModuleType:
    return load("corpus")


@pytest.fixture
def packages() -> ModuleType:
    return load("packages")


TEXTS = st.lists(st.text("ab .。\n", max_size=40), max_size=8)


@given(TEXTS, st.integers(0, 3))
def test_sentences_are_moved_and_nothing_is_lost(texts: list[str], seed: int) -> None:
    corpus = load("corpus")
    moved = list(corpus.moved(texts, random.Random(seed)))
    assert sorted("".join(moved)) == sorted("".join(texts))
    assert [text.count("\n") for text in moved] == [text.count("\n") for text in texts]
    assert moved == list(corpus.moved(texts, random.Random(seed)))


def test_growth_reaches_its_size_and_repeats_itself(corpus: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = tmp_path / "mixed/text"
    text.mkdir(parents=True)
    for name in ("one", "two"):
        rows = [{"name": f"{name}/{number}", "text": f"{name} says {number}. Then {number * 7} more.\nEnd."} for number in range(50)]
        (text / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.setattr(corpus, "MB", 10_000)
    made: list[dict[str, bytes]] = []
    for _ in range(2):
        corpus.grow(tmp_path, 3)
        made.append({path.name: path.read_bytes() for path in (tmp_path / "grown-3/text").iterdir()})
    assert made[0] == made[1]
    assert 29_000 < sum(map(len, made[0].values())) < 31_000
    rows = [json.loads(line) for line in made[0]["one.jsonl"].splitlines()]
    assert rows[0]["name"] == "one/0" and rows[50]["name"] == "one/0#1" and len({row["name"] for row in rows}) == len(rows)
    assert rows[50]["text"] != rows[0]["text"]


def test_words_of_a_manual_page(packages: ModuleType) -> None:
    source = '.\\" a comment\n.TH LS 1\n.SH 名称\nls \\- list \\fBfiles\\fP\n.PP\n.B --all\n.sp 2\nend\n'
    assert packages.words_of_roff(source) == "名称\n\nls - list files\n\n--all\nend\n"


def test_leaves_keep_all_entries_in_order(packages: ModuleType) -> None:
    entries = [f"entry {number} " + "x" * 900 for number in range(10)]
    leaves = list(packages.leaves("book", entries, "\n\n"))
    assert [leaf.name for leaf in leaves] == ["book/0", "book/1"]
    assert "".join(leaf.text for leaf in leaves).replace("\n\n", "\n").splitlines() == entries


def test_fates_are_compared_by_step_and_most_text_comes_first() -> None:
    fates = load("fates")
    here, there = {"a": "kept", "b": "clean", "c": "kept"}, {"a": "rules short", "b": "kept", "c": "rules long"}
    assert fates.compared(here, there, {"a": 1_000_000, "b": 5_000_000, "c": 2_000_000}) == [
        ("clean", "kept", 1, 5.0),
        ("kept", "rules", 2, 3.0),
    ]


def test_tables_hold_the_figures() -> None:
    stage = {"stage": "clean", "bytes_in": 10_000_000, "cpu_seconds": 2.0, "peak_bytes": 300_000_000}
    encoding = {"work": "pack-pretrain", "bytes_in": 10_000_000, "cpu_seconds": 2.5, "own": 5.0}
    shown = load("results").tables({"stages": [stage], "encoding": [encoding]})
    assert "| clean | 10.0 | 2.0 | 5.00 | 300 |" in shown
    assert "| pack-pretrain | 10.0 | 2.5 | 4.00 | 0.80 |" in shown
