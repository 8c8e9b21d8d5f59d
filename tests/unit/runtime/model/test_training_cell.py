"""The training cell by itself: accumulation is the large batch, a loss scale changes nothing but float16's reach."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from runtime.faults import StageFault

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[4]
LOSS, OVERFLOW, SCALE, RATE, NORM = range(5)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("cell")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "LOG_MF_PATH": str(folder), "LOCAL_DEFAULT_PATH": str(folder)}
    script = Path(__file__).with_name("cell_runs.py")
    process = subprocess.run(
        [sys.executable, script, "runs.json"], check=False, cwd=folder, env=environment, capture_output=True, text=True
    )
    assert process.returncode == 0, process.stderr
    return json.loads((folder / "runs.json").read_text())


def largest_difference(one: dict[str, Any], other: dict[str, Any]) -> float:
    """Of any weight after any update."""
    pairs = ((a, b) for left, right in zip(one["weights"], other["weights"], strict=True) for a, b in zip(left, right, strict=True))
    return max(float(np.abs(np.subtract(a, b)).max()) for a, b in pairs)


@pytest.mark.parametrize(
    ("large", "parts"),
    [("once", "twice"), ("once", "each row"), ("ids once", "ids twice"), ("once", "scaled"), ("rows at once", "rows apart")],
)
def test_accumulation_is_the_large_batch(runs: dict[str, Any], large: str, parts: str) -> None:
    """Ragged masks, a row without a trained token, padding, clipping and weight decay included."""
    expected, made = np.array(runs[large]["outputs"]), np.array(runs[parts]["outputs"])
    np.testing.assert_allclose(made[:, LOSS], expected[:, LOSS], rtol=0, atol=1e-5)
    np.testing.assert_allclose(made[:, [RATE, NORM]], expected[:, [RATE, NORM]], rtol=1e-5)
    assert largest_difference(runs[large], runs[parts]) < 1e-6


def test_gradients_were_clipped_and_weights_moved(runs: dict[str, Any]) -> None:
    """What the comparison above rests on."""
    assert min(output[NORM] for output in runs["once"]["outputs"]) > 0.5
    first, last = runs["once"]["weights"][0], runs["once"]["weights"][-1]
    assert max(np.abs(np.subtract(a, b)).max() for a, b in zip(first, last, strict=True)) > 1e-3


@pytest.mark.parametrize("split", ["rows at once", "rows apart"])
def test_a_short_row_does_not_weigh_as_much_as_a_long_one(runs: dict[str, Any], split: str) -> None:
    loss, *_, norm = runs[split]["outputs"][0]
    assert loss == pytest.approx((11 * 1.0 + 101 * 3.0) / 112, abs=1e-6)
    assert norm == pytest.approx(2.8036, abs=1e-4)


def test_tokens_are_counted_as_the_network_does(runs: dict[str, Any]) -> None:
    assert runs["denominators"]["counted"] == runs["denominators"]["network"]
    assert len(set(runs["denominators"]["network"])) > 2


def test_the_sums_are_not_saved(runs: dict[str, Any]) -> None:
    assert sorted(runs["twice"]["saved"]) == sorted(runs["once"]["saved"])


def test_a_scale_grows_after_its_window_counted_in_updates(runs: dict[str, Any]) -> None:
    assert [output[SCALE] for output in runs["scaled"]["outputs"]] == [1024, 1024, 2048, 2048, 2048, 4096]


def test_an_overflow_halves_the_scale_and_skips_the_update(runs: dict[str, Any]) -> None:
    outputs, weights = runs["overflow"]["outputs"], runs["overflow"]["weights"]
    skipped = [bool(output[OVERFLOW]) for output in outputs]
    assert skipped[0] and not skipped[-1]
    scale = 2.0**24
    for index, output in enumerate(outputs):
        scale /= 1 + skipped[index]
        assert output[SCALE] == scale
        assert np.isfinite(output[LOSS])
        assert index == 0 or (weights[index] == weights[index - 1]) == skipped[index]


def steps(*made: tuple[float, float, bool, float]) -> list[Any]:
    from runtime.model.callbacks import Step

    return [Step(number, loss, 1e-3, norm, skipped, scale, 10) for number, (loss, norm, skipped, scale) in enumerate(made, start=1)]


def judged(made: list[Any], dynamic: bool) -> int:
    """Steps that the training may make; raises StageFault at the one that ends it."""
    from runtime.model.callbacks import StopAtNonFinite

    stop = StopAtNonFinite()
    return len([stop.judge(step, dynamic) for step in made])


INFINITE = float("inf")


def test_overflows_are_survived_while_the_scale_can_shrink() -> None:
    made = steps((4.0, INFINITE, True, 4.0), (4.0, 1.0, False, 4.0), (4.0, INFINITE, True, 2.0))
    assert judged(made, dynamic=True) == 3
    with pytest.raises(StageFault, match="step 4: the gradients overflow with a loss scale of 1, and 2 steps in a row"):
        judged([*made, *steps(*[(4.0, 1.0, False, 2.0)] * 3, (4.0, INFINITE, True, 1.0))[3:]], dynamic=True)


def test_a_static_scale_is_given_up_after_ten_overflows_in_a_row() -> None:
    nine = [(4.0, INFINITE, True, 1024.0)] * 9
    assert judged(steps(*nine, (4.0, 1.0, False, 1024.0), *nine), dynamic=False) == 19
    with pytest.raises(StageFault, match=r"step 10: .* 10 steps in a row have been skipped"):
        judged(steps(*nine, nine[0]), dynamic=False)


@pytest.mark.parametrize(
    ("step", "dynamic"),
    [
        ((float("nan"), 1.0, False, 1.0), False),
        ((float("nan"), INFINITE, True, 512.0), True),
        ((4.0, INFINITE, True, 1.0), False),
        ((4.0, INFINITE, False, 512.0), True),
    ],
)
def test_what_no_scale_can_help_ends_the_training_at_once(step: tuple[float, float, bool, float], dynamic: bool) -> None:
    with pytest.raises(StageFault, match="step 1: the loss is"):
        judged(steps(step), dynamic)
