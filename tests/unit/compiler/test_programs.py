"""Imports that are found without parsing are those that a parser finds."""

import ast
from pathlib import Path

import pytest

from compiler.programs import Programs, imports

ROOT = Path(__file__).parents[3]
FILES = sorted((ROOT / "runtime").rglob("*.py"))


def parsed(source: bytes) -> set[str]:
    """What a whole walk over the syntax tree finds."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found |= {str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)}
    return {name for name in found if name.split(".")[0] == "runtime"}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_every_program(file: Path) -> None:
    assert imports(file.read_bytes()) == parsed(file.read_bytes())


@pytest.mark.parametrize(
    "text",
    [
        "import runtime.stage",
        "import runtime.stage as s, os, runtime.data.mix",
        "from runtime import stage, faults as f",
        "from runtime.data import (\n    mix,  # (a comment)\n    pack as p,\n)\n",
        "def f():\n    from runtime.model import merge\n",
        "import os; import runtime.stage",
        "if True: import runtime.stage",
        "from runtime.data import mix, \\\n    pack\n",
        "from runtime.data import *",
        "from . import runtime",
        "import runtimes.stage\nfrom runtime_more import x",
        "# import runtime.stage\nx = 'import runtime.stage'",
        "try:\n\timport runtime.stage\nexcept ImportError:\n\tpass\r\nfrom runtime.data import (mix, pack)\r\n",
        "important = 1",
        "",
    ],
)
def test_forms_of_the_statement(text: str) -> None:
    assert imports(text.encode()) - {"runtime.data.*"} == parsed(text.encode()) - {"runtime.data.*"}


def test_a_docstring_may_add_a_file_and_never_hides_one() -> None:
    text = b'"""\nimport runtime.faults\n"""\nimport runtime.stage\n'
    assert imports(text) >= parsed(text)


def test_files_are_found_through_packages_and_other_files(tmp_path: Path) -> None:
    texts = {
        "runtime/__init__.py": "",
        "runtime/data/__init__.py": "from runtime import faults",
        "runtime/data/mix.py": "from runtime.data.shards import write",
        "runtime/data/shards.py": "import os",
        "runtime/faults.py": "",
        "runtime/other.py": "",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    assert Programs(tmp_path).files("runtime.data.mix") == tuple(sorted(set(texts) - {"runtime/other.py"}))
