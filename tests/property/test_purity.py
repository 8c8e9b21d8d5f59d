"""What is compiled is a function of the spec files, the overrides, the lock file and the compiler, and of nothing else."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compiler.pipeline import compile_experiment
from compiler.project import Project

ROOT = Path(__file__).parents[2]
SPECS = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "specs").rglob("*.yaml"))
COMPOSED = [path for path in SPECS if path.split("/")[1] in ("data", "device", "evaluation", "finetune", "model", "pretrain", "tokenizer")]

# Prints the compiled files of `demo`, by path.
PROGRAM = """
import hashlib, json, sys
from pathlib import Path
from compiler.pipeline import compile_experiment
from compiler.project import Project
files = compile_experiment(Project(Path(sys.argv[1])), "demo", sys.argv[2:]).files
print(json.dumps({path: hashlib.sha256(content).hexdigest() for path, content in files.items()}))
"""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose specs may be written over."""
    return linked(tmp_path_factory.mktemp("project"))


def linked(folder: Path) -> Path:
    shutil.copytree(ROOT / "specs", folder / "specs")
    for name in ("requirements.lock", ".python-version", "params.yaml", "runtime", "data"):
        (folder / name).symlink_to(ROOT / name)
    return folder


@pytest.fixture(scope="module")
def expected(root: Path) -> Mapping[str, bytes]:
    return files(root)


def files(root: Path) -> Mapping[str, bytes]:
    return compile_experiment(Project(root), "demo").files


def rewritten(root: Path, name: str, content: bytes) -> Mapping[str, bytes]:
    """The compiled files while one spec file has another content."""
    before = (ROOT / name).read_bytes()
    (root / name).write_bytes(content)
    try:
        return files(root)
    finally:
        (root / name).write_bytes(before)


def reordered(value: Any, draw: st.DataObject) -> Any:
    """The same mapping with its keys in another order, at every depth; a list keeps its order, which means something."""
    if isinstance(value, dict):
        keys = draw.draw(st.permutations(list(value)))
        return {key: reordered(value[key], draw) for key in keys}
    return [reordered(item, draw) for item in value] if isinstance(value, list) else value


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=st.sampled_from(COMPOSED), draw=st.data())
def test_the_order_of_keys_means_nothing(root: Path, expected: Mapping[str, bytes], name: str, draw: st.DataObject) -> None:
    values = yaml.safe_load((ROOT / name).read_text("utf-8"))
    text = json.dumps(reordered(values, draw), ensure_ascii=False)
    assert rewritten(root, name, text.encode()) == expected


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    name=st.sampled_from(COMPOSED),
    comment=st.text(st.characters(blacklist_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=30),
    newline=st.sampled_from(["\n", "\r\n"]),
    mark=st.booleans(),
    blank=st.integers(0, 3),
)
def test_comments_line_ends_and_marks_mean_nothing(  # noqa: PLR0917
    root: Path, expected: Mapping[str, bytes], name: str, comment: str, newline: str, mark: bool, blank: int
) -> None:
    lines = (ROOT / name).read_text("utf-8").splitlines()
    text = newline.join([*lines, *[""] * blank, f"# {comment}", ""])
    assert rewritten(root, name, text.encode("utf-8-sig" if mark else "utf-8")) == expected


def printed(root: Path, *, cwd: Path = ROOT, prelude: str = "", **environment: str) -> Mapping[str, str]:
    """What a process of its own compiles, after `prelude`."""
    own = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    done = subprocess.run(
        [sys.executable, "-c", prelude + PROGRAM, str(root)], cwd=cwd, env=own, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def digests(root: Path) -> Mapping[str, str]:
    return printed(root, PYTHONHASHSEED="0")


# Another list of installed packages, each with another version, and none of what only stages need.
OTHER_PACKAGES = """
import importlib.metadata as metadata, sys
metadata.version = lambda name: "0.0.1"
metadata.distributions = lambda **_: iter(())
metadata.entry_points = lambda **_: ()
for name in ("mindspore", "mindformers", "dvc", "numpy", "polars", "sentencepiece"):
    sys.modules[name] = None
"""
REVERSED_FOLDERS = """
import os
from pathlib import Path
_iterdir, _glob, _scandir = Path.iterdir, Path.glob, os.listdir
Path.iterdir = lambda self: iter(sorted(_iterdir(self), reverse=True))
Path.glob = lambda self, pattern: iter(sorted(_glob(self, pattern), reverse=True))
os.listdir = lambda path=".": sorted(_scandir(path), reverse=True)
"""


@pytest.mark.parametrize(
    "around",
    [
        pytest.param({"PYTHONHASHSEED": "1"}, id="hash seed"),
        pytest.param({"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0"}, id="C locale"),
        pytest.param({"LC_ALL": "zh_CN.UTF-8", "LANG": "zh_CN.UTF-8"}, id="Chinese locale"),
        pytest.param({"LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"}, id="Turkish locale"),
        pytest.param({"TZ": "Asia/Shanghai", "HOME": "/nonexistent", "USER": "someone", "HOSTNAME": "elsewhere"}, id="place and person"),
        pytest.param({"prelude": "import os; os.umask(0o077)\n"}, id="umask"),
        pytest.param({"prelude": OTHER_PACKAGES}, id="installed packages"),
        pytest.param({"prelude": REVERSED_FOLDERS}, id="order of folders"),
        pytest.param({"cwd": Path("/")}, id="current folder"),
    ],
)
def test_nothing_around_the_process_matters(around: dict[str, Any], root: Path, digests: Mapping[str, str]) -> None:
    assert printed(root, **around) == digests


def test_where_the_project_lies_does_not_matter(tmp_path: Path, digests: Mapping[str, str]) -> None:
    elsewhere = linked(tmp_path / "另一个 project")
    assert printed(elsewhere) == digests


def test_what_was_compiled_before_does_not_matter(root: Path, expected: Mapping[str, bytes]) -> None:
    for overrides in (["seed=7"], ["finetune.lora.rank=2"], ["title=x"]):
        compile_experiment(Project(root), "demo", overrides)
    assert files(root) == expected


def test_the_lock_file_matters(tmp_path: Path, expected: Mapping[str, bytes]) -> None:
    folder = linked(tmp_path / "project")
    (folder / "requirements.lock").unlink()
    locked = (ROOT / "requirements.lock").read_text("utf-8")
    (folder / "requirements.lock").write_text(locked.replace("zstandard==", "zstandard==9"), "utf-8")
    changed = files(folder)
    assert {path for path in expected if expected[path] != changed[path]} == {"experiments/demo/config/environment.yaml"}
