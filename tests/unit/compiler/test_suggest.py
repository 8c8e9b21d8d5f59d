"""Did you mean: paths of files."""

from pathlib import Path, PurePosixPath

import pytest

from compiler.suggest import closest, existing_path, offered


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("data/raw/handbok", "data/raw/handbook"),
        ("data/row/handbook", "data/raw/handbook"),
        ("dta/raw/handbook", "data/raw/handbook"),
        ("Data/Raw/Handbook", "data/raw/handbook"),
        ("raw/handbook", "data/raw/handbook"),
        ("handbook", "data/raw/handbook"),
        ("data/handbook", "data/raw/handbook"),
        ("data/raw/dialogue.jsonl", "data/raw/dialogues.jsonl"),
        ("data/dialogs.jsonl", "data/raw/dialogues.jsonl"),
        ("data/raw/诗歌集", "data/raw/诗歌"),
        ("elsewhere/zzz", None),
        ("data/raw/语料.jsonl", None),
    ],
)
def test_a_path_is_led_to_the_nearest_one_that_exists(written: str, meant: str | None, tmp_path: Path) -> None:
    for name in ("data/raw/handbook", "data/raw/诗歌", "data/evaluation", "docs"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "data/raw/dialogues.jsonl").touch()
    assert existing_path(tmp_path, PurePosixPath(written)) == meant


@pytest.mark.parametrize(
    ("word", "meant"), [("lama", "llama"), ("Q_PROJ", "q_proj"), ("q-proj", "q_proj"), ("exactmatch", "exact_match"), ("x", None)]
)
def test_a_word_is_led_to_the_nearest_one(word: str, meant: str | None) -> None:
    assert closest(word, ["llama", "qwen2", "q_proj", "exact_match"]) == meant


def test_a_long_list_is_offered_by_its_nearest_names() -> None:
    many = [f"llama{number}-{size}" for number in range(7) for size in ("1b", "8b", "70b", "tiny")]
    told = offered("llama3-7b", many)
    assert told.endswith(", and 23 more") and told.startswith("llama3-70b") and told.zh.endswith("另有 23 个")
    assert offered("x", many[:24]) == ", ".join(many[:24])
