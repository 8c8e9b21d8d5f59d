"""A split by file needs two files: told when a spec is checked, where the files are there."""

from collections.abc import Callable
from pathlib import Path

import pytest

from compiler.diagnostics import Faults
from compiler.parse import load
from compiler.validate import validate

BY_FILE = "data: {pretrain: {split: {by: file}%s}}\n"


def codes(root: Path) -> list[str]:
    try:
        validate(load(root, "try"))
    except Faults as faults:
        return [one.code for one in faults.diagnostics if one.severity == "error"]
    return []


@pytest.mark.parametrize(
    ("files", "more", "found"),
    [
        (["handbook/page.txt"], "", ["MS0435"]),
        (["handbook/page.txt"], ", sources: {handbook: {path: data/raw/handbook/page.txt}}", ["MS0435"]),
        (["handbook/page.txt"], ", sources: {handbook: {path: 'data/raw/**/*.txt'}}", ["MS0435"]),
        (["handbook/page.txt", "handbook/.hidden"], "", ["MS0435"]),
        (["handbook/page.txt", "handbook/below/second.txt"], "", []),
        (["handbook/page.txt", "handbook/page.md"], ", sources: {handbook: {path: 'data/raw/handbook/*.txt'}}", ["MS0435"]),
        (["handbook/page.txt", "web/b.txt"], ", sources: {web: {path: data/raw/web, format: text}}", []),
        (["handbook/page.txt", "web/b.txt"], ", sources: {web: {path: data/raw/web, format: text, weight: 0}}", ["MS0435"]),
        (["handbook/page.txt"], ", sources: {handbook: {path: data/raw/handbok}}", ["MS0322"]),
    ],
)
def test_files_that_a_split_can_divide(files: list[str], more: str, found: list[str], project: Callable[..., Path]) -> None:
    root = project(BY_FILE % more)
    for file in files:
        (root / "data/raw" / file).parent.mkdir(parents=True, exist_ok=True)
        (root / "data/raw" / file).write_text(file, "utf-8")
    assert codes(root) == found


def test_by_document_one_file_is_enough(project: Callable[..., Path]) -> None:
    assert codes(project("data: {pretrain: {split: {by: document}}}\n")) == []
