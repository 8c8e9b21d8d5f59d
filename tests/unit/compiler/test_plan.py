"""`mindspec plan`: figures by hand, faults that only a run meets, and nothing written."""

import json
from typing import Any

import pytest

from compiler.cli import main
from compiler.project import Project

HALF = ["model.dtype.params=float16", "model.dtype.compute=float16"]
SEVEN = ["model=llama2-7b", "model.seq_length=2048", *HALF]
TUNED = ["finetune.micro_batch=2", "finetune.accumulation=8"]


def planned(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main(["plan", "demo", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_demo_as_a_person_reads_it(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "demo", "--memory", "--layouts"]) == 0
    said = capsys.readouterr().out
    assert "demo: llama, 1,827,968 parameters" in said
    assert "16 rows = micro batch x accumulation x data = 16 x 1 x 1" in said
    assert "2,048 a step, 1,638,400 in all" in said
    assert "0%, no pipeline" in said
    assert "with headroom" in said
    assert not any(line.endswith(" ") for line in said.splitlines())
    assert not (project.root / "experiments").exists()


def test_in_chinese(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "demo", "--lang", "zh"]) == 0
    said = capsys.readouterr().out
    assert "有效批次" in said
    assert "可容纳" in said


def test_seven_billion_on_a_card_of_24_gb(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    told = planned(capsys, *SEVEN, *TUNED, "device=gpu", "parallel=auto", "--memory")
    assert told["parameters"] == 6_738_415_616
    full, lora = told["trainings"]["pretrain"], told["trainings"]["finetune"]
    assert (full["fits"], full["layout_from"]) == (False, "closest")
    assert (lora["fits"], lora["layout_from"], lora["layout"]["recompute"]) == (True, "planner", "full")
    assert (lora["micro_batch"], lora["accumulation"], lora["effective_batch"]) == (2, 8, 16)
    weights = {row["item"]: row["bytes"] for row in full["ledger"][0]["rows"]}["weights"]
    assert weights == 2 * 6_738_415_616
    codes = {one["code"] for one in told["diagnostics"]}
    # Accumulation and loss scale are for a run; memory is the answer; a table without pieces and short weights are warnings.
    assert codes == {"MS0310", "MS0352", "MS0353", "MS0366", "MS0373"}


def test_seven_billion_in_float32_takes_more_than_100_gb(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    told = planned(capsys, "model=llama2-7b", "device=gpu-80gb", "parallel={recompute: full}", "pretrain.micro_batch=1")
    assert told["trainings"]["pretrain"]["peak_bytes"] > 100 * 10**9


def test_seven_billion_on_a_card_of_80_gb(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    told = planned(capsys, *SEVEN, *TUNED, "device=gpu-80gb", "parallel=auto")
    assert not told["trainings"]["pretrain"]["fits"]
    assert told["trainings"]["finetune"]["fits"]


def test_four_cards_on_a_bus(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    told = planned(capsys, *SEVEN, *TUNED, "device=gpu-4x24gb-pcie", "parallel=auto", "--layouts")
    tuned = told["trainings"]["finetune"]
    assert (tuned["layout"]["data"], tuned["layout"]["tensor"], tuned["fits"]) == (4, 1, True)
    steps = {step["step"]: step["verdict"] for step in tuned["steps_from_light_to_heavy"]}
    assert (steps["one"], steps["data"], steps["tensor"]) == ("not enough", "taken", "impossible")
    assert any("PCIe" in left["reason"] for left in tuned["rejected"])
    assert {step["step"]: step["verdict"] for step in told["trainings"]["pretrain"]["steps_from_light_to_heavy"]}["lora"] == "advice"


def test_eight_ascends(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    types = ["model.dtype.params=bfloat16", "model.dtype.compute=bfloat16"]
    batch = ["pretrain.micro_batch=4", "pretrain.accumulation=16"]
    told = planned(capsys, "model=llama2-7b", "model.seq_length=2048", *types, *batch, "device=ascend-8x64gb", "parallel=auto")
    trained = told["trainings"]["pretrain"]
    assert trained["layout"]["data"] == 8
    assert trained["effective_batch"] == trained["micro_batch"] * trained["accumulation"] * 8 == 64
    assert trained["fits"]
    assert told["diagnostics"]


def test_seventy_billion_on_64_cards(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [f"{stage}.{field}" for stage in ("pretrain", "finetune") for field in ("micro_batch=1", "accumulation=1024")]
    told = planned(capsys, "model=llama2-70b", *HALF, *rows, "device=gpu-64x80gb", "parallel=auto", "--layouts")
    trained = told["trainings"]["pretrain"]
    assert trained["fits"]
    assert trained["effective_batch"] == 1024
    for one in trained["layouts"]:
        layout = one["layout"]
        assert layout["data"] * layout["tensor"] * layout["pipeline"] * layout["context"] == 64
        assert layout["tensor"] <= 8


def test_flags_may_stand_anywhere(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "demo", "--memory", "finetune.lora.rank=4"]) == 0
    assert "sum at loss" in capsys.readouterr().out


def test_what_cannot_be_planned_is_refused(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "demo", "model.hidden_size=100", "model.num_heads=8"]) == 1
    assert "MS0301" in capsys.readouterr().err


def test_a_family_that_is_not_trained_here_is_planned(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "demo", "model=qwen3-tiny"]) == 0
    told = capsys.readouterr()
    assert "MS0304" in told.err
    assert "pretrain: 800 steps" in told.out


def test_a_single_device_is_named(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "demo", *SEVEN, *TUNED, "device=gpu-80gb", "parallel.recompute=full"]) == 0
    said = capsys.readouterr().out
    assert "takes one device:" in said and "{}" not in said
