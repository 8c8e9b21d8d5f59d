"""A small copy of the project for the tests of commands."""

import shutil
from pathlib import Path

import pytest

from compiler.project import Project

CHECKOUT = Path(__file__).parents[3]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Specs, lock file, code and data of this checkout (the last two as links), as the current folder."""
    shutil.copytree(CHECKOUT / "specs", tmp_path / "specs")
    for name in ("requirements.lock", ".python-version", "params.yaml"):
        shutil.copy(CHECKOUT / name, tmp_path / name)
    for name in ("runtime", "data"):
        (tmp_path / name).symlink_to(CHECKOUT / name)
    monkeypatch.chdir(tmp_path)
    return Project(tmp_path)
