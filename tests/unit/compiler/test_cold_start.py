"""What a check loads: the libraries of a composition, and none that only stages, other commands or faults need."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PROGRAM = "import sys; from compiler.cli import main; code = main(sys.argv[1:]); print(*sorted(sys.modules)); sys.exit(code)"
STAGES_ALONE = {"mindspore", "mindformers", "dvc", "numpy", "polars", "sentencepiece", "safetensors", "resiliparse"}
NOT_FOR_CHECK = {"rich", "jinja2", "jsonschema", "dvc_data", "ruamel", "compiler.dvc", "compiler.schema", "compiler.sweep"}


def loaded(*arguments: str) -> set[str]:
    done = subprocess.run([sys.executable, "-c", PROGRAM, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize("arguments", [("check", "demo"), ("diff", "demo", "seed=7")], ids=lambda arguments: arguments[0])
def test_no_library_of_a_stage_is_loaded(arguments: tuple[str, ...]) -> None:
    assert not loaded(*arguments) & STAGES_ALONE


def test_a_check_loads_no_more_than_it_needs() -> None:
    assert not loaded("check", "demo") & NOT_FOR_CHECK
