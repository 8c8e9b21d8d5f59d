"""The snapshot script on a small tree: what it takes, what it leaves out, and that it repeats itself to the byte."""

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[3]
Files = dict[str, bytes]


def rows(files: Files, path: str) -> list[dict[str, str]]:
    return [json.loads(line) for line in files[path].decode().splitlines()]


def instruct(files: Files) -> list[dict[str, str]]:
    return [row for name in ("dialogues", "handbook", "poems") for row in rows(files, f"raw/instruct/{name}.jsonl")]


def arguments(packages: dict[str, Path], target: Path) -> list[str]:
    return [part for name, folder in packages.items() for part in (f"--{name}", str(folder))] + ["--to", str(target)]


def test_pages_and_licences_keep_their_bytes(files: Files, packages: dict[str, Path]) -> None:
    page = packages["handbook"] / "html" / "zh-CN" / "page7.html"
    assert files["raw/handbook/zh/page7.html"] == page.read_bytes()
    assert files["raw/handbook/COPYRIGHT"] == b"the terms\r\nas they came\r\n"
    assert files["raw/poems/LICENSE"] == b"MIT\n"


def test_poems_follow_the_numbers_of_the_parts_and_join_their_lines(files: Files) -> None:
    tang = rows(files, "raw/poems/tang.jsonl")
    assert [row["title"] for row in tang] == [f"其{n}" for n in range(120)]
    assert tang[1] == {"title": "其1", "author": "某", "text": "零零一山水，風月入江來。\n夜深花落盡，相見又三年。"}


def test_the_slice_holds_whole_poems_of_common_characters_within_its_budget(snapshot: ModuleType) -> None:
    poems = {text: {"text": text} for text in ("甲乙", "甲丙", "甲甲", "乙乙")}
    line = len(snapshot.jsonl([{"text": "甲乙"}]))
    assert snapshot.slice_of(poems, set("甲乙"), 9 * line) == [{"text": t} for t in ("甲乙", "甲甲", "乙乙")]


def test_the_slice_is_chosen_by_digest_and_stays_in_the_given_order(snapshot: ModuleType) -> None:
    texts = [first + second for first in "甲乙丙" for second in "甲乙丙"]
    line = len(snapshot.jsonl([{"text": texts[0]}]))
    kept = [poem["text"] for poem in snapshot.slice_of({t: {"text": t} for t in texts}, set("甲乙丙"), 5 * line - 1)]
    lowest = sorted(texts, key=lambda text: snapshot.digest("slice", text))[:4]
    assert kept == [text for text in texts if text in lowest] != texts[:4]


def test_the_most_frequent_characters_are_the_common_ones(snapshot: ModuleType) -> None:
    rare = [chr(0x5000 + n) for n in range(snapshot.COMMON_CHARACTERS)]
    common = snapshot.common_characters([{"".join(rare): {}, "高山": {}}, {"山高高": {}}])
    assert common == {"高", "山", *rare[:-2]}


def test_a_poem_with_a_gap_is_passed_over_rather_than_edited(snapshot: ModuleType, tmp_path: Path) -> None:
    whole, gap = "夜深花落盡，相見又三年。山中一杯酒，", "夜深花落盡，相見又□年。山中一杯酒，月下兩人心。"
    poems = [{"title": "", "author": "", "paragraphs": [text]} for text in (whole + "月下兩人心。", gap)]
    (tmp_path / "poet.tang.0.json").write_text(json.dumps(poems), encoding="utf-8")
    assert list(snapshot.collection(tmp_path, "tang")) == [whole + "月下兩人心。"]


def test_dialogues_are_fit_unique_and_paired_by_the_nature_of_their_topic(files: Files) -> None:
    pairs = [(row["language"], row["instruction"], row["output"]) for row in rows(files, "raw/instruct/dialogues.jsonl")]
    assert pairs == [
        ("en", "Are you sad", "Not now."),
        ("en", "Are you sad", "Never."),
        ("en", "Hello", "Hi"),
        ("en", "Hi", "How are you?"),
        ("en", "When", "1999"),
        ("zh", "你好", "嗨"),
        ("zh-Hant", "你好", "嗨"),
    ]


@pytest.mark.parametrize(
    ("row", "answer"),
    [
        ("Which language is this?", {"Package": "English", "第": "Chinese", "山": "Chinese"}),
        ("这是诗还是手册？", {"Package": "手册", "第": "手册", "山": "诗"}),
    ],
)
def test_answers_are_true_of_their_input(files: Files, row: str, answer: dict[str, str]) -> None:
    asked = [r for r in instruct(files) if r["instruction"] == row]
    assert asked
    for r in asked:
        assert r["output"] == next(value for mark, value in answer.items() if mark in r["input"])


def test_metre_counts_the_characters_of_a_line(files: Files) -> None:
    asked = [row for row in instruct(files) if row["topic"] == "metre"]
    words = {5: {"five", "五"}, 7: {"seven", "七"}}
    assert asked and all(row["output"] in words[row["input"].index("，")] for row in asked)


def test_opening_repeats_what_stands_first(files: Files) -> None:
    asked = [row for row in instruct(files) if row["topic"] == "opening"]
    assert {row["language"] for row in asked} == {"en", "zh"}
    assert all(row["input"].startswith(row["output"]) for row in asked)
    assert {len(row["output"]) for row in asked if row["language"] == "zh"} == {1}


def test_core_shares_no_passage_no_page_and_no_question_with_training(snapshot: ModuleType, files: Files) -> None:
    core, trained = rows(files, "evaluation/core.jsonl"), instruct(files)
    assert {row["group"] for row in core} == {"language", "kind", "metre", "opening", "dialogue"}
    assert not {snapshot.question_key(row) for row in core} & {snapshot.question_key(row) for row in trained}
    assert not {row["input"] for row in core if row["input"]} & {row.get("input") for row in trained}
    pages = {Path(row["source"]).name for row in trained if row["source"].startswith("handbook/")}
    assert pages and not any(snapshot.is_held_out(page) for page in pages)


def test_core_ids_are_unique_and_fields_are_the_declared_ones(files: Files) -> None:
    core = rows(files, "evaluation/core.jsonl")
    assert len({row["id"] for row in core}) == len(core)
    assert all(list(row) == ["id", "group", "instruction", "input", "reference", "language"] for row in core)


def test_two_processes_with_other_hash_seeds_write_the_same_bytes(packages: dict[str, Path], tmp_path: Path) -> None:
    trees = []
    for seed in ("1", "2"):
        command = [sys.executable, str(ROOT / "data" / "snapshot.py"), *arguments(packages, tmp_path / seed)]
        subprocess.run(command, check=True, env={**os.environ, "PYTHONHASHSEED": seed})
        written = (path for path in (tmp_path / seed).rglob("*") if path.is_file())
        trees.append({str(path.relative_to(tmp_path / seed)): path.read_bytes() for path in written})
    assert trees[0] == trees[1]
    assert all(b"\r" not in content for path, content in trees[0].items() if path.endswith(".jsonl"))


def test_check_names_what_differs_and_writes_nothing(
    snapshot: ModuleType, packages: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = arguments(packages, tmp_path)
    assert snapshot.main(target) == 0
    assert snapshot.main([*target, "--check"]) == 0
    changed = tmp_path / "evaluation" / "core.jsonl"
    changed.write_bytes(b"{}\n")
    assert snapshot.main([*target, "--check"]) == 1
    assert capsys.readouterr().err == "differs: evaluation/core.jsonl\n"
    assert changed.read_bytes() == b"{}\n"


def test_a_missing_package_is_named_and_nothing_is_written(
    snapshot: ModuleType, packages: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    absent = {**packages, "poetry": tmp_path / "absent"}
    assert snapshot.main(arguments(absent, tmp_path / "data")) == 1
    assert "absent" in capsys.readouterr().err
    assert not (tmp_path / "data").exists()


def test_a_broken_package_file_is_named(
    snapshot: ModuleType, packages: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    poetry = shutil.copytree(packages["poetry"], tmp_path / "poetry")
    (poetry / "dist" / "quantangshi" / "poet.song.9000.json").write_text("[{", encoding="utf-8")
    assert snapshot.main(arguments({**packages, "poetry": poetry}, tmp_path / "data")) == 1
    assert "poet.song.9000.json" in capsys.readouterr().err


def test_the_committed_files_match_their_digests(snapshot: ModuleType) -> None:
    listed = dict(reversed(line.split("  ", 1)) for line in (ROOT / "data/SHA256SUMS").read_text().splitlines())
    folders = (ROOT / "data/raw", ROOT / "data/evaluation")
    present = {path for folder in folders for path in folder.rglob("*") if path.is_file() and path.name != "README.md"}
    actual = {str(path.relative_to(ROOT / "data")): snapshot.hashlib.sha256(path.read_bytes()).hexdigest() for path in present}
    assert actual == listed


def test_the_committed_core_is_balanced_and_unseen(snapshot: ModuleType) -> None:
    committed = {
        f"raw/instruct/{n}.jsonl": (ROOT / f"data/raw/instruct/{n}.jsonl").read_bytes() for n in ("dialogues", "handbook", "poems")
    }
    committed["evaluation/core.jsonl"] = (ROOT / "data/evaluation/core.jsonl").read_bytes()
    core, trained = rows(committed, "evaluation/core.jsonl"), instruct(committed)
    assert Counter(row["group"] for row in core) == {
        "language": 16,
        "kind": 16,
        "metre": 12,
        "opening": 8,
        "dialogue": 12,
    }
    assert not {snapshot.question_key(row) for row in core} & {snapshot.question_key(row) for row in trained}
    answers = Counter(row["output"] for row in trained if row["topic"] in ("language", "kind", "metre"))
    assert set(answers.values()) == {120, 90}
    assert all(row["instruction"] and row["output"].strip() for row in trained)
