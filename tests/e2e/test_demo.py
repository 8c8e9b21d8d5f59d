"""The demo: what is committed belongs to this code, says what the README claims, and comes out again."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from compiler.pipeline import compile_experiment
from compiler.project import Project
from runtime import processor
from runtime.contracts.registry import CONTRACTS
from tests.e2e.conftest import CHECKOUT, make_copy

DEMO = CHECKOUT / "experiments/demo"
LOCAL = "experiments/demo/placement.yaml"


def metrics(folder: Path, stage: str) -> dict[str, Any]:
    return json.loads((folder / f"metrics/{stage}.json").read_text("utf-8"), parse_constant=pytest.fail)


def check_figures(folder: Path) -> None:
    """At least a million training tokens and a thousand rows; a base that beats token frequencies; an adapter that teaches."""
    pretrain, rows = metrics(folder, "pretrain"), metrics(folder, "format")["splits"]["train"]["rows"]
    scores = metrics(folder, "evaluate")
    base, merged, unigram = scores["base"], scores["merged"], scores["unigram"]
    assert pretrain["trained_tokens"] >= 1_000_000
    assert metrics(folder, "pack-pretrain")["splits"]["train"]["tokens"] >= 1_000_000
    assert rows >= 1_000
    assert base["bits_per_byte"] < unigram["bits_per_byte"] - 0.5
    assert merged["answer_loss"] < base["answer_loss"] - 1
    assert merged["core"]["answer_loss"] < base["core"]["answer_loss"] - 1
    assert merged["exact_match"] >= base["exact_match"] + 0.2
    assert scores["core_overlap"] == 0
    assert scores["core_cases"] >= 50


def test_the_committed_figures_are_what_the_readme_says() -> None:
    check_figures(DEMO)


def test_the_committed_files_are_what_the_compiler_writes() -> None:
    files = compile_experiment(Project(CHECKOUT), "demo").files
    assert {path for path, content in files.items() if path != LOCAL and (CHECKOUT / path).read_bytes() != content} == set()


def test_the_committed_lock_belongs_to_this_code_and_configuration() -> None:
    lock = yaml.safe_load((DEMO / "dvc.lock").read_text("utf-8"))["stages"]
    assert set(lock) == {contract.name for contract in CONTRACTS}
    for stage, entry in lock.items():
        for dependency in entry["deps"]:
            path = DEMO / dependency["path"]
            if path.is_file() and (path.is_relative_to(CHECKOUT / "runtime") or "config" in path.parts or "data" in path.parts):
                assert hashlib.md5(path.read_bytes()).hexdigest() == dependency["md5"], f"{stage}: {dependency['path']}: run `make demo`"


def test_the_record_holds_the_committed_figures() -> None:
    record = json.loads((DEMO / "record.json").read_text("utf-8"), parse_constant=pytest.fail)
    scores = metrics(DEMO, "evaluate")
    for model in ("base", "merged"):
        assert record["evaluation"]["metrics"][model]["bits_per_byte"] == scores[model]["bits_per_byte"]
    assert {"data_version", "model_version", "evaluation"} <= set(record)
    assert all(source["licence"] and source["sha256"] for source in record["data_version"]["sources"].values())


@pytest.mark.slow
@pytest.mark.timeout(2400)
def test_the_demo_comes_out_again(tmp_path: Path) -> None:
    """To the byte on the processor family that wrote what is committed; with figures of the same kind on another."""
    copy = make_copy(tmp_path / "project")
    said = copy.mindspec("run")
    assert "report: experiments/demo/report.html" in said.stdout
    assert "exact match" in said.stdout
    check_figures(copy.root / "experiments/demo")
    numerics = json.loads((DEMO / "record.json").read_text("utf-8"))["numerics"]
    if numerics["processor"] == processor.family():
        assert not copy.run("git", "status", "--porcelain").stdout
    again = json.loads(copy.mindspec("run", "--json").stdout)
    assert not [stage for stage, verdict in again["stages"].items() if verdict == "ran"]
