from pathlib import Path
from typing import Any

import pytest

from runtime.faults import EnvironmentFault, StageFault
from runtime.manifest import Manifest
from runtime.model import context, training


def config(stop: int = 10, scheduled: int = 10, accumulation: int = 1, batch: int = 4) -> dict[str, Any]:
    return {
        "runner_config": {"batch_size": batch, "gradient_accumulation_steps": accumulation},
        "runner_wrapper": {"type": "CpuTrainOneStepCell", "scale_sense": 1.0},
        "lr_schedule": {"total_steps": scheduled},
        "callbacks": [{"type": "StopAtStep", "step": stop}, {"type": "MFLossMonitor"}],
        "train_dataset": {"data_loader": {"dataset_dir": "packed/pretrain/train.mindrecord"}},
        "model": {"model_config": {"seq_length": 8, "vocab_size": 100, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}},
    }


def packed(rows: int = 40, length: int = 9, vocabulary: int = 100, pad: int = 0) -> Manifest:
    facts = {"row_length": length, "vocab_size": vocabulary, "pad_id": pad, "bos_id": 1, "eos_id": 2}
    return Manifest("pack-pretrain", (), {"train_rows": rows}, facts)


def test_fitting_settings_and_data_pass() -> None:
    training.check_settings(config())
    training.check_data(config(), packed())


def test_a_schedule_of_another_length_than_the_training_is_refused() -> None:
    with pytest.raises(StageFault, match=r"total_steps is 20, but callbacks name \[10\]"):
        training.check_settings(config(scheduled=20))


def test_a_layout_over_several_devices_is_not_started_as_one_process() -> None:
    with pytest.raises(StageFault, match="laid out over several devices"):
        training.check_settings({**config(), "use_parallel": True})


def test_accumulation_that_would_be_reset_is_refused() -> None:
    with pytest.raises(StageFault, match="gradient_accumulation_steps is 4"):
        training.check_settings(config(accumulation=4))


def test_accumulation_reaches_the_training_cell_through_its_own_key() -> None:
    made = config(batch=8)
    made["runner_wrapper"]["accumulation"] = 4
    training.check_settings(made)
    made["runner_config"]["batch_size"] = 6
    with pytest.raises(StageFault, match="6, which does not divide into 4 micro batches"):
        training.check_settings(made)
    made["runner_wrapper"]["type"] = "MFTrainOneStepCell"
    with pytest.raises(StageFault, match="accumulation is 4, but a MFTrainOneStepCell overlooks it"):
        training.check_settings(made)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (packed(length=8), "rows hold 8 ids, the model takes 8"),
        (packed(vocabulary=101), "the tokenizer has 101 pieces, the model 100"),
        (packed(pad=3), "pad is 3 in the rows, 0 in the model"),
        (packed(rows=3), "3 rows, fewer than one batch of 4"),
    ],
)
def test_data_that_does_not_fit_is_refused_before_the_first_step(data: Manifest, message: str) -> None:
    with pytest.raises(StageFault, match=message):
        training.check_data(config(), data)


@pytest.mark.parametrize(
    ("switch", "value"),
    [
        ("MS_SIMULATION_LEVEL", "1"),
        ("MS_SIMULATION_LEVEL", "0"),
        ("MS_KERNEL_LAUNCH_SKIP", "ALL"),
        ("MS_DEV_PRECOMPILE_ONLY", "1"),
        ("MS_JIT", "0"),
    ],
)
def test_a_run_that_computes_something_else_is_refused(switch: str, value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(switch, value)
    with pytest.raises(EnvironmentFault, match=f"{switch} is {value}"):
        context.prepare(tmp_path / "work", 1)
    assert not (tmp_path / "work").exists()


@pytest.mark.parametrize("variable", ["MS_WORKER_NUM", "RANK_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"])
def test_one_of_several_processes_is_refused(variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, "2")
    with pytest.raises(EnvironmentFault, match=f"{variable} is 2: this process is one of several"):
        context.prepare(tmp_path, 1)


def test_a_launcher_of_one_process_and_switches_that_are_off_are_let_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "MS_WORKER_NUM": "1",
        "RANK_SIZE": "",
        "MS_SIMULATION_LEVEL": "",
        "MS_DEV_PRECOMPILE_ONLY": "0",
        "MS_JIT": "1",
    }.items():
        monkeypatch.setenv(name, value)
    context.check_environment()
