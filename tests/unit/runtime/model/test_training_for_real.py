"""The four stages with real MindSpore and mindformers, as processes in experiment folders."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import numpy_reference
import pytest
import tiny

from runtime import manifest
from runtime.faults import InputFault
from runtime.model import adapter, description, header, weights

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[4]
HERE = Path(__file__).parent


def start(folder: Path, *arguments: str, **more: str) -> "subprocess.Popen[str]":
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **more}
    return subprocess.Popen(
        [sys.executable, *arguments], cwd=folder, env=environment, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def run_stage(folder: Path, stage: str, **more: str) -> tuple[int, str]:
    process = start(folder, "-m", "runtime", stage, **more)
    _, messages = process.communicate(timeout=600)
    return process.returncode, messages


def run_all(folder: Path, *stages: str) -> None:
    for stage in stages:
        code, messages = run_stage(folder, stage)
        assert code == 0, messages


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with packed rows and nothing else."""
    folder = tmp_path_factory.mktemp("rows")
    process = start(folder, str(HERE / "tiny.py"), str(folder))
    _, messages = process.communicate(timeout=600)
    assert process.returncode == 0, messages
    return folder


@pytest.fixture(scope="module")
def finished(packed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An experiment folder in which all four stages have run."""
    folder = experiment(packed, tmp_path_factory.mktemp("finished"))
    run_all(folder, "pretrain", "finetune", "merge", "export")
    return folder


def experiment(packed: Path, parent: Path, name: str = "demo", **settings: object) -> Path:
    folder = parent / "experiments" / name
    shutil.copytree(packed, folder)
    tiny.configure(folder, **settings)  # type: ignore[arg-type]
    return folder


def metrics(folder: Path, stage: str) -> dict[str, object]:
    return json.loads((folder / "metrics" / f"{stage}.json").read_text())


def test_training_makes_exactly_the_steps_asked_for(finished: Path) -> None:
    for stage in ("pretrain", "finetune"):
        lines = (finished / "plots" / f"{stage}.csv").read_text().splitlines()
        assert lines[0] == "step,loss,learning_rate,gradient_norm"
        assert [line.split(",")[0] for line in lines[1:]] == [str(step) for step in range(1, tiny.STEPS + 1)]
    assert metrics(finished, "pretrain")["trained_tokens"] == tiny.STEPS * tiny.BATCH * tiny.SEQ_LENGTH
    assert metrics(finished, "finetune")["trained_tokens"] == tiny.STEPS * tiny.BATCH * (tiny.SEQ_LENGTH + 1 - 6)


def test_the_first_step_uses_the_first_rate_and_the_peak_comes_after_the_warm_up(finished: Path) -> None:
    rates = [float(line.split(",")[2]) for line in (finished / "plots" / "pretrain.csv").read_text().splitlines()[1:]]
    assert rates[0] == pytest.approx(0.005)
    assert rates[2] == max(rates) == pytest.approx(0.01)


def test_only_results_are_in_the_experiment_folder(finished: Path) -> None:
    known = {"packed", "config", "params.json", "base", "adapter", "merged", "mindir", "metrics", "plots", "logs", "timings", ".scratch"}
    assert {path.name for path in finished.iterdir()} == known
    assert sorted(path.name for path in (finished / "base").iterdir()) == ["manifest.json", "model.json", "model.safetensors"]
    assert sorted(path.name for path in (finished / "adapter").iterdir()) == ["adapter.json", "adapter.safetensors", "manifest.json"]


def test_adapter_covers_every_target_cell(finished: Path) -> None:
    made = adapter.read(finished / "adapter")
    assert {pattern: len(cells) for pattern, cells in made.cells.items()} == {".*wq": 2, ".*w2": 2}
    assert made.base_sha256 == weights.digest(weights.load(finished / "base" / "model.safetensors"))


def test_adapter_training_starts_at_the_loss_of_the_base(finished: Path) -> None:
    """With B = 0 the first loss is the base's own on those rows, here computed in NumPy over all rows and all batches it can be of."""
    described = description.read(finished / "base")
    values = numpy_reference.read_safetensors(finished / "base" / "model.safetensors")
    starts = np.arange(tiny.ROWS)[:, None]
    ids = 3 + (starts * 5 + np.arange(tiny.SEQ_LENGTH + 1) * (1 + starts % 3)) % (tiny.VOCABULARY - 3)
    scores = numpy_reference.logits(values, described.config, ids[:, :-1])
    losses = np.log(np.exp(scores).sum(-1)) - np.take_along_axis(scores, ids[:, 1:, None], -1)[..., 0]
    of_rows = np.sort(losses[:, 5:].mean(-1))
    first = float(metrics(finished, "finetune")["loss_first"])  # type: ignore[arg-type]
    assert of_rows[: tiny.BATCH].mean() - 1e-4 <= first <= of_rows[-tiny.BATCH :].mean() + 1e-4


def test_the_merge_is_what_numpy_computes_from_the_files(finished: Path) -> None:
    process = subprocess.run([sys.executable, HERE / "numpy_reference.py", finished], capture_output=True, text=True, check=True)
    assert json.loads(process.stdout)["changed"] == 4
    assert json.loads(process.stdout)["largest_error"] < 1e-7


def test_the_file_computes_what_numpy_computes_from_the_merged_weights(finished: Path, tmp_path: Path) -> None:
    ids = np.random.default_rng(3).integers(0, tiny.VOCABULARY, (3, 9)).astype(np.int32)
    np.save(tmp_path / "ids.npy", ids)
    process = start(
        tmp_path, str(HERE / "load_mindir.py"), str(finished / "mindir" / "model.mindir"), "ids.npy", "logits.npy", PYTHONPATH=""
    )
    _, messages = process.communicate(timeout=600)
    assert process.returncode == 0, messages
    values = numpy_reference.read_safetensors(finished / "merged" / "model.safetensors")
    expected = numpy_reference.logits(values, description.read(finished / "merged").config, ids)
    np.testing.assert_allclose(np.load(tmp_path / "logits.npy"), expected, rtol=0, atol=2e-5)


def test_the_header_says_what_is_in_the_file(finished: Path) -> None:
    read = header.read(finished / "mindir" / "model.mindir")
    content = json.loads((finished / "mindir" / "io.json").read_text())
    assert [(tensor.dtype, tensor.shape) for tensor in read.inputs] == [("int32", (-1, -1))]
    assert content["files"] == ["model.mindir"]
    assert content["user_info"]["weights_sha256"] == description.read(finished / "merged").weights_sha256
    assert (finished / "mindir" / "model.mindir").stat().st_mode & 0o777 == 0o644


def test_other_processes_folders_and_threads_write_the_same_bytes(finished: Path, packed: Path, tmp_path: Path) -> None:
    other = experiment(packed, tmp_path / "elsewhere", "another-name")
    (other / "placement.yaml").write_text("workers: 2\nthreads: 1\nlog_every: 3\n")
    run_all(other, "pretrain", "finetune", "merge", "export")
    for folder in ("base", "adapter", "merged", "mindir"):
        assert (other / folder / "manifest.json").read_bytes() == (finished / folder / "manifest.json").read_bytes(), folder
    for stage in ("pretrain", "finetune"):
        assert (other / "plots" / f"{stage}.csv").read_bytes() == (finished / "plots" / f"{stage}.csv").read_bytes()
        assert metrics(other, stage) == metrics(finished, stage)


def test_a_third_export_is_the_same_too(finished: Path) -> None:
    before = (finished / "mindir" / "manifest.json").read_bytes()
    run_all(finished, "export")
    assert (finished / "mindir" / "manifest.json").read_bytes() == before


def test_a_killed_training_leaves_nothing_and_runs_again_to_the_same_bytes(finished: Path, packed: Path, tmp_path: Path) -> None:
    folder = experiment(packed, tmp_path)
    process = start(folder, "-m", "runtime", "pretrain")
    log = folder / "logs" / "pretrain.log"
    while process.poll() is None and not (log.exists() and "global_step: 5" in log.read_text(errors="replace")):
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    _, messages = process.communicate()
    assert process.returncode in (-signal.SIGKILL, 0), messages
    if (folder / "base").exists():  # on a busy machine it can be done before it is killed
        manifest.verify(folder / "base")
    run_all(folder, "pretrain")
    assert (folder / "base" / "manifest.json").read_bytes() == (finished / "base" / "manifest.json").read_bytes()


def test_a_rate_that_makes_the_loss_infinite_ends_with_a_message(packed: Path, tmp_path: Path) -> None:
    folder = experiment(packed, tmp_path, peak=1.0e30)
    code, messages = run_stage(folder, "pretrain")
    assert code == 1, messages
    assert "mindspec: pretrain: step " in messages and "schedule.peak" in messages
    assert "Traceback" not in messages
    assert not (folder / "base").exists()


def curve(folder: Path, stage: str) -> np.ndarray:
    """Step, loss, learning rate and gradient norm of every step."""
    return np.loadtxt(folder / "plots" / f"{stage}.csv", delimiter=",", skiprows=1)


def test_accumulation_trains_what_the_large_batch_trains(packed: Path, tmp_path: Path) -> None:
    large = experiment(packed, tmp_path / "large", peak=1.0e-3)
    parts = experiment(packed, tmp_path / "parts", peak=1.0e-3, accumulation=4)
    for folder in (large, parts):
        run_all(folder, "pretrain", "finetune")
    for stage, file in (("pretrain", "base/model.safetensors"), ("finetune", "adapter/adapter.safetensors")):
        expected, made = weights.load(large / file), weights.load(parts / file)
        assert max(np.abs(made[name] - expected[name]).max() for name in expected) < 1e-6
        np.testing.assert_allclose(curve(parts, stage), curve(large, stage), rtol=0, atol=1e-5)
        assert metrics(parts, stage)["trained_tokens"] == metrics(large, stage)["trained_tokens"]


def dynamic(initial: float, window: int = 4) -> dict[str, object]:
    return {"type": "DynamicLossScaleUpdateCell", "loss_scale_value": initial, "scale_factor": 2, "scale_window": window}


def test_float16_with_a_dynamic_scale_trains_like_float32(finished: Path, packed: Path, tmp_path: Path) -> None:
    folder = experiment(packed, tmp_path, compute="float16", accumulation=2, scale_sense=dynamic(1024.0))
    run_all(folder, "pretrain", "finetune")
    for stage in ("pretrain", "finetune"):
        np.testing.assert_allclose(curve(folder, stage)[:, 1], curve(finished, stage)[:, 1], rtol=0, atol=5e-3)
        assert metrics(folder, stage)["loss_scale"] == 1024 * 2 ** (tiny.STEPS // 4)
        assert metrics(folder, stage)["skipped_steps"] == 0


def test_overflows_are_skipped_until_the_scale_fits(packed: Path, tmp_path: Path) -> None:
    folder = experiment(packed, tmp_path, compute="float16", scale_sense=dynamic(2.0**26, window=1000))
    run_all(folder, "pretrain")
    skipped = ~np.isfinite(curve(folder, "pretrain")[:, 3])
    assert skipped[0] and not skipped[-1]
    assert metrics(folder, "pretrain")["skipped_steps"] == skipped.sum()
    assert metrics(folder, "pretrain")["trained_tokens"] == (~skipped).sum() * tiny.BATCH * tiny.SEQ_LENGTH


@pytest.mark.parametrize(
    ("scale", "message"),
    [(2.0**40, "a static loss scale does not adapt"), (dynamic(2.0**60), "none of 12 steps was taken: each overflowed and was skipped")],
)
def test_a_scale_that_always_overflows_leaves_nothing(scale: object, message: str, packed: Path, tmp_path: Path) -> None:
    folder = experiment(packed, tmp_path, compute="float16", scale_sense=scale)
    code, messages = run_stage(folder, "pretrain")
    assert code == 1, messages
    assert message in messages and "Traceback" not in messages
    assert not (folder / "base").exists()


@pytest.mark.parametrize("recompute", [{"recompute": True}, {"recompute": False, "select_recompute": True}], ids=["full", "selective"])
def test_recomputation_changes_no_byte(recompute: dict[str, bool], finished: Path, packed: Path, tmp_path: Path) -> None:
    folder = experiment(packed, tmp_path, recompute=recompute)
    run_all(folder, "pretrain")
    assert (folder / "base" / "manifest.json").read_bytes() == (finished / "base" / "manifest.json").read_bytes()


def test_a_misspelt_target_ends_before_anything_is_compiled(finished: Path, tmp_path: Path) -> None:
    folder = tmp_path / "experiments" / "demo"
    shutil.copytree(finished, folder)
    tiny.configure(folder, targets=".*wq|.*wvv")
    code, messages = run_stage(folder, "finetune")
    assert code == 1
    assert "'.*wvv' matches no cell (did you mean wv?)" in messages


def test_a_static_export_takes_one_row_of_the_full_length(finished: Path, tmp_path: Path) -> None:
    folder = tmp_path / "experiments" / "demo"
    shutil.copytree(finished, folder)
    tiny.configure(folder, shape="static")
    run_all(folder, "export")
    read = header.read(folder / "mindir" / "model.mindir")
    assert [tensor.shape for tensor in read.inputs] == [(1, tiny.SEQ_LENGTH)]
    assert metrics(folder, "export")["largest_difference"] <= 1e-5  # type: ignore[operator]


def test_a_device_that_is_not_there_ends_with_its_name(packed: Path, tmp_path: Path) -> None:
    folder = experiment(packed, tmp_path, device="Ascend")
    code, messages = run_stage(folder, "pretrain")
    assert code == 1, messages
    assert "the device Ascend cannot be used" in messages
    assert "Traceback" not in messages


def test_a_model_too_large_for_one_file_comes_with_a_folder_of_weights(finished: Path, tmp_path: Path) -> None:
    """MindSpore splits above a size that is lowered here; a missing side file is named before anything is loaded."""
    folder = tmp_path / "experiments" / "demo"
    shutil.copytree(finished, folder)
    split = (
        "import mindspore.train.serialization as s; s.TOTAL_SAVE = 1; from runtime.__main__ import main; raise SystemExit(main(['export']))"
    )
    process = start(folder, "-c", split)
    _, messages = process.communicate(timeout=600)
    assert process.returncode == 0, messages
    files = json.loads((folder / "mindir" / "io.json").read_text())["files"]
    assert files == ["model_graph.mindir", "model_variables/data_0"]
    locations = {tensor.location for tensor in header.read(folder / "mindir" / "model_graph.mindir").parameters}
    assert locations == {"model_variables/data_0"}
    (folder / "mindir" / "model_variables" / "data_0").unlink()
    with pytest.raises(InputFault, match="model_variables/data_0 is missing"):
        manifest.verify(folder / "mindir")
