"""What the compiler writes, word for word. `make golden` writes the expected files again; review them as a diff.

<case>/experiment.txt   the experiment
<case>/overrides.txt    one override a line
<case>/expected/        every compiled file, relative to the experiment folder
"""

import sys
from pathlib import Path

import pytest
import yaml
from ruamel.yaml import YAML

from compiler.emit.write import remove_stale, write_files
from compiler.pipeline import compile_experiment
from compiler.project import Project

HERE = Path(__file__).parent
PROJECT = Project(HERE.parents[1])
CASES = sorted(path.parent for path in HERE.glob("*/experiment.txt"))


def compiled(case: Path) -> dict[str, bytes]:
    name = (case / "experiment.txt").read_text("utf-8").strip()
    overrides = (case / "overrides.txt").read_text("utf-8").splitlines()
    files = compile_experiment(PROJECT, name, overrides).files
    return {path.removeprefix(f"experiments/{name}/"): content for path, content in files.items()}


def expected(case: Path) -> dict[str, bytes]:
    folder = case / "expected"
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_compiled_files_are_the_expected_ones(case: Path) -> None:
    assert compiled(case) == expected(case), "if the change is meant: make golden, and review the diff"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_compiled_yaml_means_the_same_to_both_readers(case: Path) -> None:
    for path, content in compiled(case).items():
        assert yaml.safe_load(content) == YAML(typ="safe", pure=True).load(content.decode()), path


def test_no_reference_and_no_path_of_this_machine_is_left() -> None:
    for case in CASES:
        for path, content in compiled(case).items():
            assert b"${" not in content, path
            assert str(PROJECT.root).encode() not in content, path


def regenerate() -> None:
    """Write the expected files of every case."""
    for case in CASES:
        files = {f"expected/{path}": content for path, content in compiled(case).items()}
        remove_stale(case, "expected", "**/*.*", files)
        sys.stdout.writelines(f"{case.name}/{path}\n" for path in write_files(case, files))


if __name__ == "__main__":
    regenerate()
