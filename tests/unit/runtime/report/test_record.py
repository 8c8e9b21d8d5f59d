"""`record.json`: strict, complete, and untouched by what readers are told."""

import hashlib
import json
from pathlib import Path
from typing import Any

from runtime import processor
from runtime.contracts.registry import REPORT as CONTRACT
from runtime.manifest import sha256_of
from runtime.stage import execute
from tests.unit.runtime.report.conftest import sign


def record(experiment: Path) -> dict[str, Any]:
    execute(CONTRACT)

    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is not JSON")

    return json.loads((experiment / "record.json").read_bytes(), parse_constant=refuse)


def test_the_three_records_are_there(experiment: Path) -> None:
    made = record(experiment)
    assert {"experiment", "data_version", "model_version", "evaluation", "environment", "numerics"} <= made.keys()
    assert made["experiment"] == "demo"


def test_a_source_has_its_origin_and_its_counts(experiment: Path) -> None:
    source = record(experiment)["data_version"]["sources"]["poems"]
    assert source["path"] == "data/raw/poems"
    assert source["licence"] == "MIT" and source["date"] == "2023-11-02"
    assert source["documents"] == 2400 and source["bytes"] == 990000


def test_a_source_has_the_hash_that_reading_it_left(experiment: Path) -> None:
    sign(Path("corpus/ingest"), "ingest", {"raw": {"poems": {"files": 3, "sha256": "ab" * 32}}})
    source = record(experiment)["data_version"]["sources"]["poems"]
    assert source["files"] == 3 and source["sha256"] == "ab" * 32


def test_the_mix_is_recorded_as_asked_and_as_realised(experiment: Path) -> None:
    mix = record(experiment)["data_version"]["mix"]
    assert mix["target"] == {"handbook_en": 0.4, "handbook_zh": 0.4, "poems": 0.2}
    assert abs(sum(mix["realised"].values()) - 1) < 1e-5
    assert mix["synthetic_share"] == 0.0


def test_the_share_of_instruction_rows_that_a_model_wrote_is_recorded_where_there_are_any(experiment: Path) -> None:
    assert "instruct_synthetic" not in record(experiment)["data_version"]
    path = experiment / "metrics/format.json"
    counted = {"share": {"rows": 0.5, "tokens": 0.655302}, "left_out": 7, "max": 0.5}
    path.write_text(json.dumps({**json.loads(path.read_bytes()), "synthetic": counted}), "utf-8")
    told = {"share_of_rows": 0.5, "share_of_tokens": 0.655302, "max": 0.5, "left_out": 7}
    assert record(experiment)["data_version"]["instruct_synthetic"] == told


def test_data_sets_are_named_by_the_hash_of_their_manifest(experiment: Path) -> None:
    datasets = record(experiment)["data_version"]["datasets"]
    assert datasets["split"] == hashlib.sha256(Path("corpus/split/manifest.json").read_bytes()).hexdigest()
    assert set(datasets) == {"ingest", "clean", "dedup", "filter", "mix", "split", "pack-pretrain", "format", "pack-instruct"}


def test_the_model_version_names_weights_batch_and_schedule(experiment: Path) -> None:
    model = record(experiment)["model_version"]
    assert model["parameters"] == 1827456
    assert model["checkpoints"]["merge"]["files"] == {"model.safetensors": sha256_of(Path("merged/model.safetensors"))}
    assert model["mindir"] == {"model.mindir": sha256_of(Path("mindir/model.mindir"))}
    assert model["pretrain"]["batch"] == {
        "micro_batch": 16,
        "accumulation": 1,
        "data_parallel": 1,
        "effective": 16,
        "tokens_per_step": 2048,
    }
    assert model["pretrain"]["lora"] is None and model["finetune"]["lora"]["rank"] == 8


def test_the_evaluation_is_recorded_whole(experiment: Path) -> None:
    made = record(experiment)["evaluation"]
    assert made["metrics"] == json.loads(Path("metrics/evaluate.json").read_bytes())
    assert made["baseline"] is None and made["prompt_sha256"] == "5b" * 32 and made["dtype"] == "float32"


def test_title_and_description_do_not_enter_the_record(experiment: Path) -> None:
    before = record(experiment)
    path = experiment / "presentation.yaml"
    path.write_text(path.read_text("utf-8").replace("A tiny bilingual model", "Another title"), "utf-8")
    assert record(experiment) == before
    assert "Another title" in (experiment / "report.html").read_text("utf-8")


def test_the_processor_family_of_the_training_is_recorded_where_it_is_known(experiment: Path) -> None:
    assert record(experiment)["numerics"]["processor_of"] == "report"
    sign(Path("base"), "pretrain", {"processor": "aarch64 neon", "threads": 2})
    numerics = record(experiment)["numerics"]
    assert (numerics["processor"], numerics["processor_of"], numerics["threads"]) == ("aarch64 neon", "pretrain", 2)


def test_the_processor_family_is_the_widest_vector_unit_and_no_model_name() -> None:
    assert processor.describe("x86_64", ["fpu", "sse4_2", "avx", "avx2", "avx512f", "avx512vl"]) == "x86_64 avx512"
    assert processor.describe("x86_64", ["fpu", "avx", "avx2"]) == "x86_64 avx2"
    assert processor.describe("aarch64", ["fp", "asimd"]) == "aarch64 neon"
    assert processor.describe("riscv64", []) == "riscv64"


def test_the_record_does_not_say_when_or_where(experiment: Path) -> None:
    text = json.dumps(record(experiment))
    assert str(experiment) not in text and "time" not in {key for key in text.split('"')}
