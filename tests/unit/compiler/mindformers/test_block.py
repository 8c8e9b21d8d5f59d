"""No value of another type gets into a mindformers file."""

import math
from dataclasses import FrozenInstanceError, replace
from typing import Any

import pytest

from compiler import mindformers as mf

OPTIMIZER = mf.Optimizer(betas=(0.9, 0.95), eps=1.0e-8, weight_decay=0.0)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("eps", "1e-8"),
        ("eps", 1),
        ("eps", True),
        ("eps", None),
        ("eps", math.nan),
        ("eps", math.inf),
        ("betas", (0.9, 1)),
        ("betas", (0.9,)),
        ("betas", [0.9, 0.95]),
        ("betas", (0.9, math.nan)),
        ("type", "adamw"),
        ("type", "Lamb"),
    ],
)
def test_a_value_of_another_type_is_refused(field: str, value: Any) -> None:
    with pytest.raises(mf.UndeclaredValue, match=f"Optimizer.{field} is"):
        replace(OPTIMIZER, **{field: value})


@pytest.mark.parametrize("value", [True, 2.0, "2", None])
def test_an_integer_is_an_integer(value: Any) -> None:
    with pytest.raises(mf.UndeclaredValue, match=r"Runner.epochs"):
        mf.Runner(epochs=value, batch_size=1, sink_mode=False)


@pytest.mark.parametrize("value", [2**32, -(2**31) - 1, 10**30])
def test_an_integer_has_32_bits(value: int) -> None:
    with pytest.raises(mf.UndeclaredValue, match=r"Runner.epochs"):
        mf.Runner(epochs=value, batch_size=1, sink_mode=False)
    assert mf.Runner(epochs=2**31 - 1, batch_size=1, sink_mode=False).epochs == 2**31 - 1


@pytest.mark.parametrize("value", [1, 0, "false", None])
def test_a_truth_value_is_a_truth_value(value: Any) -> None:
    with pytest.raises(mf.UndeclaredValue, match=r"Runner.sink_mode"):
        mf.Runner(epochs=1, batch_size=1, sink_mode=value)


def test_a_literal_is_of_its_own_type() -> None:
    with pytest.raises(mf.UndeclaredValue, match=r"Parallel.parallel_mode is True"):
        mf.Parallel(parallel_mode=True, gradients_mean=True)  # type: ignore[arg-type]
    with pytest.raises(mf.UndeclaredValue, match=r"Parallel.full_batch is True"):
        mf.Parallel(parallel_mode=1, gradients_mean=True, full_batch=True)  # type: ignore[arg-type]


def test_a_block_holds_blocks_of_the_declared_kind() -> None:
    with pytest.raises(mf.UndeclaredValue, match=r"DatasetTask.dataset_config"):
        mf.DatasetTask(dataset_config={"batch_size": 1})  # type: ignore[arg-type]
    with pytest.raises(mf.UndeclaredValue, match=r"Wrapper.scale_sense"):
        mf.Wrapper(type="MFTrainOneStepCell", scale_sense=1, max_grad_norm=1.0)


def test_a_key_that_is_not_declared_cannot_be_written() -> None:
    with pytest.raises(TypeError, match="learning_rates"):
        mf.Optimizer(betas=(0.9, 0.95), eps=1.0e-8, weight_decay=0.0, learning_rates=1.0)  # type: ignore[call-arg]
    with pytest.raises(FrozenInstanceError):
        OPTIMIZER.eps = 1.0  # type: ignore[misc]


def test_what_is_none_is_not_written() -> None:
    wrapper = mf.Wrapper(type="MFTrainOneStepCell", max_grad_norm=1.0)
    assert mf.written(wrapper) == {"type": "MFTrainOneStepCell", "scale_sense": 1.0, "use_clip_grad": True, "max_grad_norm": 1.0}


def test_blocks_and_tuples_are_written_as_mappings_and_lists() -> None:
    parallel = mf.Parallel(parallel_mode=1, gradients_mean=False, dataset_strategy=((2, 1), (2, 1)), strategy_ckpt_config=mf.StrategyFile())
    written = mf.written(parallel)
    assert written["dataset_strategy"] == [[2, 1], [2, 1]]
    assert written["strategy_ckpt_config"] == {"only_trainable_params": False}


@pytest.mark.parametrize("key", ["accumulation", "micro_batch_num"])
def test_a_key_of_another_training_cell_is_refused(key: str) -> None:
    with pytest.raises(mf.UndeclaredValue, match=f"{key} is of .*; MFTrainOneStepCell would ignore it"):
        mf.Wrapper(type="MFTrainOneStepCell", max_grad_norm=1.0, **{key: 2})
