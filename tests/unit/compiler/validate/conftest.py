"""A small project in a temporary folder."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

_PROJECT = Path(__file__).parents[3] / "diagnostics" / "project"


@pytest.fixture
def project(tmp_path: Path) -> Callable[[str], Path]:
    """Writes the project with an experiment `try` that adds a text; returns its root."""

    def write(text: str = "") -> Path:
        shutil.copytree(_PROJECT, tmp_path, dirs_exist_ok=True)
        file = tmp_path / "specs" / "experiment" / "try.yaml"
        file.write_text(f"# @package _global_\nname: try\n{text}", encoding="utf-8")
        return tmp_path

    return write
