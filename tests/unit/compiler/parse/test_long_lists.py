"""Lists of many keywords are composed as they are written, whatever refers to them, and quickly."""

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from compiler.diagnostics import Faults
from compiler.parse import load
from compiler.parse.files import SpecFile, SpecFiles
from compiler.parse.long_lists import SHORTEST, looks_inside
from compiler.validate import review

WORDS = [f"word{number}" for number in range(SHORTEST)]
TOPIC = "data.pretrain.filter.topics.big"


@pytest.fixture
def listing(tmp_path: Path) -> Callable[..., Path]:
    """Writes the small project with an experiment whose topic has these words."""

    def write(words: list[Any], more: str = "") -> Path:
        shutil.copytree(Path(__file__).parents[3] / "diagnostics" / "project", tmp_path, dirs_exist_ok=True)
        listed = "".join(f"            - {word}\n" for word in words)
        text = f"data:\n  pretrain:\n    filter:\n      topics:\n        big:\n          any:\n{listed}{more}"
        (tmp_path / "specs/experiment/try.yaml").write_text(f"# @package _global_\nname: try\n{text}", "utf-8")
        return tmp_path

    return write


def topic(root: Path, *overrides: str) -> Any:
    return load(root, "try", list(overrides)).values["data"]["pretrain"]["filter"]["topics"]["big"]["any"]


def test_a_long_list_is_composed_as_it_is_written(listing: Callable[..., Path]) -> None:
    root = listing(WORDS)
    assert topic(root) == WORDS
    assert load(root, "try").place(("data", "pretrain", "filter", "topics", "big", "any", 7)).line == 16


@pytest.mark.parametrize(
    ("more", "overrides", "words"),
    [
        ("title: ${%s.any[3]}\n", (), WORDS),
        ("title: a ${%s.any} b\n", (), WORDS),
        ("", (f"{TOPIC}.any.2=other",), [*WORDS[:2], "other", *WORDS[3:]]),
        ("", (f"{TOPIC}.any=[other]",), ["other"]),
        ("", (f"{TOPIC}.any=null",), None),
    ],
)
def test_what_looks_into_a_list_finds_its_items(
    more: str, overrides: tuple[str, ...], words: list[str] | None, listing: Callable[..., Path]
) -> None:
    root = listing(WORDS, more % TOPIC if more else "")
    assert topic(root, *overrides) == words
    if "[3]" in more:
        assert load(root, "try").values["title"] == "word3"


def test_a_reference_gives_the_whole_list(listing: Callable[..., Path]) -> None:
    tree = load(listing(WORDS, f"tokenizer: {{user_defined: '${{{TOPIC}.any}}'}}\n"), "try")
    assert tree.values["tokenizer"]["user_defined"] == WORDS


def test_a_list_with_a_reference_is_no_plain_one(listing: Callable[..., Path]) -> None:
    assert topic(listing([*WORDS, "${name}"])) == [*WORDS, "try"]


def test_lists_that_are_put_away_are_found_out() -> None:
    assert not looks_inside(["a: ${b.c}", "a: 1"])
    assert looks_inside(["a: ${b.c[1]}"]) and looks_inside(["a: ${b.1}"]) and looks_inside(["a: ${oc.select:b.c}"])


def test_hydra_makes_no_node_of_each_item(listing: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    handed: list[Any] = []
    given = SpecFiles._handed_over  # pyright: ignore[reportPrivateUsage]

    def over(source: SpecFiles, file: SpecFile) -> dict[str, Any]:
        handed.append(given(source, file))
        return handed[-1]

    monkeypatch.setattr(SpecFiles, "_handed_over", over)
    load(listing(WORDS), "try")
    assert isinstance(next(one for one in handed if one.get("name") == "try")["data"]["pretrain"]["filter"]["topics"]["big"]["any"], str)


def test_many_unknown_keys_are_all_told_within_seconds(listing: Callable[..., Path]) -> None:
    root = listing(WORDS, "".join(f"unknown_{number}: {number}\n" for number in range(3000)))
    begun = time.process_time()
    with pytest.raises(Faults) as caught:
        review(load(root, "try"))
    assert sum(one.code == "MS0201" for one in caught.value.diagnostics) == 3000
    assert time.process_time() - begun < 5  # it took half a minute when each was compared with all
