"""A spec with recipes is compiled, its stages run, and sources read what was made."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from chat_server import Behaviour, ChatServer, Reply, said
from kitchen import KEY, ROOT, VARIABLE, row

from compiler import pipeline
from compiler.pipeline import Compiled
from runtime import manifest, records
from runtime.records import Record
from tests.property.mutation import Experiments, changed

MODEL: dict[str, Any] = {"model": "writer-1", "api_key_env": VARIABLE, "max_tokens": 300, "seeded": True, "concurrency": 2}
DIALOGUES = {"path": "recipe:questions", "format": "alpaca"}
TEXTS = {"path": "recipe:tales", "format": "jsonl", "text_field": "text", "synthetic": True, "language": "en", "weight": 0.3}


@pytest.fixture(scope="module")
def experiments(tmp_path_factory: pytest.TempPathFactory) -> Experiments:
    return Experiments(tmp_path_factory.mktemp("project"))


def compiled(experiments: Experiments, url: str, sources: dict[str, Any]) -> Compiled:
    """The demo with two recipes."""
    (experiments.root / "data/tales.jsonl").write_text('{"text": "Long ago a fox met a crow."}\n{"text": "Once there was a lake."}\n')
    recipes = {
        "questions": {
            "kind": "instruct", "seeds": {"path": "data/raw/instruct"}, "prompt": "specs/prompt/write-instructions.yaml",
            "count": 20, "generator": {"base_url": url, **MODEL},
        },
        "tales": {
            "kind": "text", "seeds": {"path": "data/tales.jsonl", "format": "jsonl", "field": "text"}, "count": 3,
            "prompt": "specs/prompt/write-texts.yaml", "generator": {"base_url": url, **MODEL},
        },
    }  # fmt: skip
    return experiments.compiled(
        changed(experiments.values, {"data.synthetic": recipes, "tokenizer.vocab_size": 420, "model.vocab_size": 420, **sources})
    )


def stages(found: Compiled) -> dict[str, Any]:
    return yaml.safe_load(found.files["experiments/demo/dvc.yaml"])["stages"]


def test_recipes_run_only_where_a_source_uses_them_and_only_its_stage_depends_on_them(experiments: Experiments) -> None:
    url = "https://llm.example.com/v1"
    unused = compiled(experiments, url, {})
    assert [one.code for one in unused.warnings if one.code == "MS0463"] == ["MS0463"] * 2
    assert "synthesize" not in stages(unused)
    assert "synthetic" not in yaml.safe_load(unused.files["experiments/demo/placement.yaml"])
    rows = compiled(experiments, url, {"data.instruct.sources": {"made": DIALOGUES}})
    assert next(iter(stages(rows))) == "synthesize"
    assert "synthetic" in stages(rows)["format"]["deps"]
    assert "synthetic" not in stages(rows)["ingest"]["deps"]
    assert {"../../data/raw/instruct", "../../specs/prompt/write-instructions.yaml"} <= set(stages(rows)["synthesize"]["deps"])
    assert list(yaml.safe_load(rows.files["experiments/demo/config/synthesize.yaml"])["recipes"]) == ["questions"]
    texts = compiled(experiments, url, {"data.pretrain.sources": {"made": TEXTS}})
    assert "synthetic" in stages(texts)["ingest"]["deps"]
    assert "synthetic" not in stages(texts)["format"]["deps"]
    config = yaml.safe_load(texts.files["experiments/demo/config/ingest.yaml"])["sources"]["made"]
    assert (config["path"], config["made"]) == ("synthetic/rows/tales", True)


def test_where_and_how_fast_is_no_part_of_what_a_stage_depends_on(experiments: Experiments) -> None:
    found = compiled(experiments, "https://llm.example.com/v1", {"data.instruct.sources": {"made": DIALOGUES}})
    placed = yaml.safe_load(found.files["experiments/demo/placement.yaml"])["synthetic"]["questions"]["generator"]
    assert placed == {
        "base_url": "https://llm.example.com/v1", "api_key_env": VARIABLE, "concurrency": 2, "requests_per_minute": None,
        "tokens_per_minute": None, "retries": 6, "timeout_seconds": 120.0,
    }  # fmt: skip
    config = found.files["experiments/demo/config/synthesize.yaml"]
    assert VARIABLE.encode() not in config and b"llm.example.com" not in config


def answer(body: dict[str, Any], _number: int) -> Reply:
    number = int(body["seed"]) % 1728
    return said(row(number)["output"] if "write texts" in body["messages"][0]["content"] else json.dumps(row(number)))


def test_sources_read_what_was_made(experiments: Experiments, serve: Callable[[Behaviour], ChatServer]) -> None:
    server = serve(answer)
    found = compiled(experiments, server.url, {"data.instruct.sources": {"made": DIALOGUES}, "data.pretrain.sources": {"made": TEXTS}})
    pipeline.write(experiments.project, [found])
    folder = experiments.root / "experiments/demo"
    corpus = folder / "corpus/split"
    for part in ("train", "validation"):
        records.write(corpus / part, [Record(f"d{index}", json.dumps(row(index)), "made") for index in range(300)])
    (corpus / manifest.NAME).write_bytes(manifest.encode(manifest.describe(corpus, "split", {}, {})))
    for stage in ("synthesize", "ingest", "tokenizer", "format"):
        run(folder, stage)
    metrics = {stage: json.loads((folder / f"metrics/{stage}.json").read_text()) for stage in ("ingest", "format")}
    assert metrics["ingest"]["sources"]["made"]["documents_out"] == 3
    assert metrics["format"]["sources"]["made"]["read"] == 20
    assert KEY.encode() not in b"".join(path.read_bytes() for path in experiments.root.rglob("*") if path.is_file())
    part = folder / "synthetic/rows/tales/part.jsonl"
    part.write_bytes(part.read_bytes().replace(b"Because", b"because"))
    assert "has other content" in run(folder, "ingest", code=1)


def run(folder: Path, stage: str, code: int = 0) -> str:
    """One stage as DVC runs it; returns what it said."""
    done = subprocess.run(
        [sys.executable, "-m", "runtime", stage],
        cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT), VARIABLE: KEY}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == code, f"{stage}: {done.stderr}"
    assert KEY not in done.stdout + done.stderr
    return done.stderr
