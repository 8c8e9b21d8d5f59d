"""Hand-checked figures of the cost model."""

from dataclasses import replace

import pytest
from networks import ASCEND_8, CLUSTER_64, HALF, LLAMA_7B, LORA, ON_ASCEND, WORKSTATION, work

from compiler.planning.cost import bubble, cost, flops_per_token, measured, seconds, sent
from compiler.planning.shape import Shape

FULL = measured(work(LLAMA_7B, HALF, 16))
ADAPTED = measured(work(LLAMA_7B, LORA, 16))
PRODUCTS = 6_738_415_616 - 32_000 * 4_096  # the look-up of a token multiplies nothing
SCORES = 4 * 32 * 32 * 128 * 2_048


def test_operations_of_a_token_are_six_a_parameter_and_attention() -> None:
    assert flops_per_token(FULL, "none") == 6 * PRODUCTS + 3 * SCORES == 42_865_287_168


def test_full_recomputation_is_one_forward_pass_more_and_so_a_third() -> None:
    assert flops_per_token(FULL, "full") * 3 == flops_per_token(FULL, "none") * 4
    assert flops_per_token(FULL, "selective") - flops_per_token(FULL, "none") == SCORES


def test_beside_flash_attention_selective_recomputation_repeats_no_matrix_product() -> None:
    fused = measured(work(LLAMA_7B, ON_ASCEND, 16))
    assert flops_per_token(fused, "selective") == flops_per_token(fused, "none")


def test_a_frozen_weight_gets_no_gradient() -> None:
    adapters = 19_988_480  # 32 layers x 8 x (inputs + outputs of seven matrices)
    assert flops_per_token(ADAPTED, "none") == 4 * PRODUCTS + 6 * adapters + 3 * SCORES


@pytest.mark.parametrize(("stages", "number", "share"), [(1, 1, 0), (4, 4, 3 / 7), (4, 16, 3 / 19), (8, 8, 7 / 15)])
def test_bubble(stages: int, number: int, share: float) -> None:
    assert bubble(stages, number) == share


def test_data_parallelism_sends_its_gradients_around_a_ring() -> None:
    gradients = 2 * 6_738_415_616
    assert sent(FULL, Shape(data=4), 4).data == 2 * 3 / 4 * gradients
    assert sent(FULL, Shape(data=4, optimizer_sharding=2), 4).data == 2 * 3 / 4 * gradients


def test_sharded_weights_are_gathered_twice_a_pass() -> None:
    gradients = weights = 2 * 6_738_415_616
    assert sent(FULL, Shape(data=4, optimizer_sharding=3), 5).data == 3 / 4 * gradients + 5 * 2 * 3 / 4 * weights


def test_tensor_parallelism_reduces_four_times_a_layer_and_six_with_recomputation() -> None:
    tensor = 16 * 2_048 * 4_096 * 2  # rows x tokens x width x bytes
    assert sent(FULL, Shape(tensor=8), 8).tensor == 32 * 4 * 2 * 7 / 8 * tensor
    assert sent(FULL, Shape(tensor=8, recompute="full"), 8).tensor == 32 * 6 * 2 * 7 / 8 * tensor


def test_a_pipeline_sends_an_activation_on_and_a_gradient_back() -> None:
    assert sent(FULL, Shape(pipeline=4, micro_batches=16), 16) == (0, 0, 2 * 16 * 2_048 * 4_096 * 2, 0)


def test_context_parallelism_passes_keys_and_values_on_three_times() -> None:
    keys = 2 * 32 * 128 * 2  # key and value of a token in 16 bit
    assert sent(FULL, Shape(context=4), 8).context == 32 * 3 * 3 * (16 * 2_048 / 4) * keys


def test_time_is_compute_stretched_by_the_bubble_and_what_is_sent() -> None:
    flops = 16 * 2_048 * flops_per_token(FULL, "none")
    compute = flops / (0.4 * 71e12 * 4)
    assert seconds(FULL, Shape(pipeline=4, micro_batches=16), 16, WORKSTATION) == pytest.approx(
        compute * 19 / 16 + 2 * 16 * 2_048 * 4_096 * 2 / 25e9
    )


def test_a_group_is_as_slow_as_the_network_once_it_leaves_a_node() -> None:
    assert CLUSTER_64.bandwidth(8) == 300e9
    assert CLUSTER_64.bandwidth(9) == 25e9
    assert ASCEND_8.bandwidth(8) == 196e9


def test_the_whole_estimate_agrees_with_itself() -> None:
    planned = cost(work(LLAMA_7B, HALF, 16), Shape(data=2, pipeline=2, micro_batches=8), 8, WORKSTATION)
    assert planned.flops == 16 * 2_048 * flops_per_token(FULL, "none")
    assert planned.tokens_per_second * planned.seconds == pytest.approx(16 * 2_048)
    assert planned.bubble == 1 / 9


def test_float32_products_take_the_slower_units() -> None:
    single = measured(work(LLAMA_7B, replace(HALF, params=4, compute=4), 16))
    assert seconds(single, Shape(), 16, replace(WORKSTATION, count=1)) == pytest.approx(
        16 * 2_048 * flops_per_token(single, "none") / (0.4 * 35.6e12)
    )
