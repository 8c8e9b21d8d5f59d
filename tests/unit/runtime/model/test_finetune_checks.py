import numpy as np
import pytest

from runtime.faults import StageFault
from runtime.model import finetune, lora
from runtime.model.description import Description

CELL = "model.layers.0.attention.wq"
BASE = {f"{CELL}.weight": np.ones((2, 2), np.float32)}
MATCHED = {"wq$": [CELL]}
MODEL = {"model_config": {"type": "LlamaConfig", "batch_size": 4, "hidden_size": 8, "pet_config": {}}, "arch": {"type": "LlamaForCausalLM"}}


def network(a: float = 0.1, b: float = 0.0, weight: float = 1.0) -> dict[str, np.ndarray]:
    halves = {CELL + lora.A: np.full((1, 2), a, np.float32), CELL + lora.B: np.full((2, 1), b, np.float32)}
    return {f"{CELL}.weight": np.full((2, 2), weight, np.float32), **halves}


TRAINABLE = [CELL + lora.A, CELL + lora.B]


def test_a_loaded_base_with_a_fresh_adapter_may_start() -> None:
    finetune.check_start(network(), TRAINABLE, BASE, MATCHED)


def test_random_weights_in_place_of_the_base_are_refused() -> None:
    with pytest.raises(
        StageFault, match="the base was not loaded: model.layers.0.attention.wq.weight has other values".replace(".", r"\.")
    ):
        finetune.check_start(network(weight=0.5), TRAINABLE, BASE, MATCHED)


def test_a_base_that_trains_is_refused() -> None:
    with pytest.raises(StageFault, match="3 tensors train"):
        finetune.check_start(network(), [*TRAINABLE, f"{CELL}.weight"], BASE, MATCHED)


def test_a_cell_without_the_adapter_asked_for_is_refused() -> None:
    with pytest.raises(StageFault, match="2 cells were asked for"):
        finetune.check_start(network(), TRAINABLE, BASE, {"w.$": [CELL, "model.layers.0.attention.wv"]})


@pytest.mark.parametrize(("a", "b"), [(0.0, 0.0), (0.1, 0.1)])
def test_an_adapter_that_cannot_learn_or_does_not_start_from_the_base_is_refused(a: float, b: float) -> None:
    with pytest.raises(StageFault, match="A is zero or B is not"):
        finetune.check_start(network(a, b), TRAINABLE, BASE, MATCHED)


def test_the_result_of_a_training_is_its_adapter_alone() -> None:
    assert set(finetune.learned(network(b=0.2), BASE)) == set(TRAINABLE)


def test_a_base_that_moved_is_refused() -> None:
    with pytest.raises(StageFault, match="frozen base changed"):
        finetune.learned(network(b=0.2, weight=1 + 1e-6), BASE)


def test_an_adapter_that_never_moved_is_refused() -> None:
    with pytest.raises(StageFault, match="never changed"):
        finetune.learned(network(), BASE)


def test_trained_positions_leave_out_ignored_labels_and_padding() -> None:
    ids = np.array([[1, 5, 6, 7, 0, 0]])
    labels = np.array([[-100, -100, 6, 7, 0, -100]])
    assert finetune.trained_positions((ids, labels), {"ignore_token_id": -100, "pad_token_id": 0}) == 3


def test_a_base_of_another_architecture_is_refused() -> None:
    with pytest.raises(StageFault, match="hidden_size: 16 in the base, 8 here"):
        finetune.check_architecture(MODEL, Description("LlamaForCausalLM", {"hidden_size": 16}, "h"))


def test_a_merged_base_is_refused() -> None:
    with pytest.raises(StageFault, match="already holds an adapter"):
        finetune.check_architecture(MODEL, Description("LlamaForCausalLM", {"hidden_size": 8}, "h", "b", "a"))


def test_the_same_architecture_passes() -> None:
    finetune.check_architecture(MODEL, Description("LlamaForCausalLM", {"hidden_size": 8}, "h"))
