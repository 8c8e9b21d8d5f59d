"""Raw text and dialogues to packed rows, once and again: neither workers, engines, folders nor the order of sources change a byte."""

import hashlib
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import CHECKOUT
from tests.e2e.data_stages import compiled, demo_data, run, wanted

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]
OF_THIS_MACHINE = {".scratch", "logs", "timings"}  # of an experiment's folder
EVERY, POEMS = 8, 600  # of so many pages of each language one; rows of poems: enough for many parts
# Parts so small that there are several for every worker; one set of workers, or one Ray, for all stages.
STAGES = """
import sys
from pathlib import Path
from runtime import engine, placement, records
from runtime.data import pieces, row_files
from runtime.__main__ import main
if __name__ == "__main__":
    records.PART, pieces.GROUP, row_files.PIECE = records.Limit(100, 100_000), 20_000, 20_000
    with engine.kept(placement.read(Path("placement.yaml"))):
        sys.exit(next((code for code in (main([stage]) for stage in sys.argv[1:]) if code), 0))
"""


@dataclass(frozen=True)
class Way:
    """One way to the same results. `folder`: of the project; `backwards`: whether the spec names its sources from the last to the first."""

    folder: str
    placement: Mapping[str, Any]
    backwards: bool = False
    hash_seed: int = 0


WAYS = (
    Way("two", {"launch.workers": 2}, hash_seed=1),
    Way("四 four/below", {"launch.workers": 4, "launch.threads": 1}),
    Way("backwards", {"launch.workers": 2}, backwards=True),
    Way("ray", {"launch.engine": "ray", "launch.workers": 2}, hash_seed=2),
)


def raw_text(root: Path) -> None:
    """A part of the demo's text, and the same as the clean reference of a perplexity sieve."""
    for language in ("en", "zh"):
        for path in sorted((CHECKOUT / "data/raw/handbook" / language).glob("*.html"))[::EVERY]:
            _put(root / f"data/raw/handbook/{language}" / path.name, path.read_bytes())
    for path in sorted((CHECKOUT / "data/raw/poems").glob("*.jsonl"))[:2]:
        _put(root / "data/raw/poems" / path.name, b"".join(path.read_bytes().splitlines(keepends=True)[:POEMS]))
    shutil.copytree(root / "data/raw", root / "data/clean")
    shutil.copytree(CHECKOUT / "data/raw/instruct", root / "data/raw/instruct")


def _put(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def data(backwards: bool) -> dict[str, Any]:
    """The section `data` of the demo, with a perplexity sieve where the builder is there."""
    given = demo_data()
    given["pretrain"]["mix"]["budget_bytes"] = "1MB"
    if shutil.which("lmplz"):
        given["pretrain"]["clean"]["perplexity"] = {"reference": "data/clean"}
    for kind in ("pretrain", "instruct") if backwards else ():
        given[kind]["sources"] = dict(reversed(given[kind]["sources"].items()))
    return given


def made(root: Path, way: Way) -> dict[str, str]:
    """File -> digest, of all that the stages make."""
    raw_text(root / way.folder)
    placed = [f"{name}={value}" for name, value in way.placement.items()]
    folder = compiled(root / way.folder, data(way.backwards), ["tokenizer.vocab_size=3500", *placed])
    before = set(folder.rglob("*"))
    run([sys.executable, "-c", STAGES, *wanted(folder)], folder, way.hash_seed)
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and path not in before)
    kept = ((path, path.relative_to(folder)) for path in files)
    return {str(name): hashlib.sha256(path.read_bytes()).hexdigest() for path, name in kept if name.parts[0] not in OF_THIS_MACHINE}


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What one process makes."""
    return made(tmp_path_factory.mktemp("identity"), Way("one", {"launch.workers": 1}))


def test_every_stage_has_made_something_of_several_parts(expected: dict[str, str]) -> None:
    for name in ("corpus/ingest", "corpus/clean", "corpus/dedup", "corpus/filter", "corpus/mix", "corpus/split/train", "instruct/train"):
        assert len([path for path in expected if path.startswith(f"{name}/part-")]) > 4
    assert {"tokenizer", "packed"} < {path.partition("/")[0] for path in expected}
    assert any(path.startswith("sieve/") for path in expected) == bool(shutil.which("lmplz"))


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.folder)
def test_neither_workers_engines_folders_nor_the_order_of_sources_change_a_byte(way: Way, expected: dict[str, str], tmp_path: Path) -> None:
    assert differing(made(tmp_path, way), expected) == []


def differing(found: Mapping[str, str], expected: Mapping[str, str]) -> list[str]:
    """Files that are not the same, or not on both sides."""
    return sorted(name for name in found.keys() | expected.keys() if found.get(name) != expected.get(name))
