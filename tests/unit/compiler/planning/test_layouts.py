"""The search: well-known cases, a brute-force reference, and what must hold of every answer."""

from dataclasses import replace
from itertools import pairwise
from time import process_time

import pytest
from exhaustive import fitting, legal, splits
from hypothesis import given, settings
from hypothesis import strategies as st
from networks import ASCEND_8, CARD_24, CLUSTER_64, GB, HALF, LLAMA_7B, LLAMA_70B, LORA, ON_ASCEND, TINY, WORKSTATION, work

from compiler.planning.architecture import Architecture
from compiler.planning.cost import Work, measured, seconds
from compiler.planning.devices import Devices
from compiler.planning.layouts import Batch, Candidate, search
from compiler.planning.memory import Job, ledger
from compiler.planning.shape import Shape


def best(one: Work, devices: Devices) -> Candidate | None:
    return search([one], devices).best


def reasons(one: Work, devices: Devices) -> dict[str, str]:
    return {left.what: left.reason for left in search([one], devices).rejected}


def test_adapters_on_seven_billion_parameters_fit_a_card_of_24_gb() -> None:
    found = best(work(LLAMA_7B, LORA, 16), CARD_24)
    assert found is not None
    assert found.shape == Shape(recompute="full")
    assert found.batches == (Batch(2, 8),)


def test_all_seven_billion_parameters_do_not() -> None:
    found = search([work(LLAMA_7B, HALF, 16)], CARD_24)
    assert found.best is None
    assert "> 24.0 GB (with recompute: full)" in found.rejected[0].reason


def test_four_cards_on_a_bus_take_adapters_and_data_parallelism_and_never_tensor_parallelism() -> None:
    found = search([work(LLAMA_7B, LORA, 16)], WORKSTATION)
    assert found.best is not None
    assert found.best.shape == Shape(data=4, recompute="full")
    assert found.best.batches == (Batch(2, 2),)
    assert all(one.shape.tensor == 1 for one in found.candidates)
    assert search([work(LLAMA_7B, HALF, 16)], WORKSTATION).best is None
    assert "there is PCIe" in reasons(work(LLAMA_7B, HALF, 16), WORKSTATION)["tensor 4"]


def test_eight_ascends_train_all_weights_with_sharded_optimizer_states() -> None:
    found = best(work(LLAMA_7B, ON_ASCEND, 64), ASCEND_8)
    assert found is not None
    assert found.shape == Shape(data=8, optimizer_sharding=1)


def test_seventy_billion_on_eight_nodes_stay_within_a_node_with_tensor_parallelism() -> None:
    found = search([work(LLAMA_70B, replace(HALF, micro_batch=1, seq_length=4096), 1024)], CLUSTER_64)
    assert found.best is not None
    assert found.best.shape == Shape(data=64, optimizer_sharding=3, recompute="full")
    assert {one.shape.tensor for one in found.candidates} == {1, 2, 4, 8}
    assert found.by_time[0].shape.tensor > 1
    assert found.by_time[0].seconds < found.best.seconds


def test_a_small_model_on_one_device_needs_nothing() -> None:
    found = best(work(TINY, Job(micro_batch=16, seq_length=128, target="cpu"), 16), Devices("cpu", 1, 16 * GB))
    assert found is not None
    assert (found.shape, found.batches) == (Shape(), (Batch(16, 1),))


def test_accumulation_comes_before_recomputation() -> None:
    one = work(TINY, Job(micro_batch=64, seq_length=128), 64)
    found = best(one, Devices("gpu", 2, 400 * 10**6))
    assert found is not None
    assert found.shape == Shape(data=2)
    assert found.batches[0].accumulation > 1


@pytest.mark.parametrize("target", ["gpu", "ascend"])
def test_on_one_accelerator_recomputation_comes_before_an_accumulation_that_is_not_built(target: str) -> None:
    """Half the memory of one pass: accumulation would fit, and would be refused."""
    one = work(replace(TINY, num_layers=32), Job(micro_batch=8, seq_length=128, target=target), 8)
    whole = search([one], Devices(target, 1, 64 * GB)).best
    assert whole is not None
    found = search([one], Devices(target, 1, whole.peak))
    assert found.best is not None
    assert (found.best.shape.recompute, found.best.batches) == ("full", (Batch(8, 1),))
    assert any(candidate.shape == Shape() and candidate.accumulated for candidate in found.candidates)
    assert not found.by_time[0].accumulated
    assert [found.built(candidate) for candidate in found.candidates] == sorted(
        (found.built(one) for one in found.candidates), reverse=True
    )


def test_on_a_cpu_only_the_batch_is_divided() -> None:
    found = search([work(TINY, Job(micro_batch=16, seq_length=128, target="cpu"), 16)], Devices("cpu", 4, 16 * GB))
    assert [one.shape for one in found.candidates] == [Shape(data=4)]


def test_two_trainings_share_a_layout_and_keep_their_own_batches() -> None:
    pair = [work(LLAMA_7B, ON_ASCEND, 64), replace(work(LLAMA_7B, replace(LORA, target="ascend"), 16), stage="finetune")]
    found = search(pair, ASCEND_8).best
    assert found is not None
    for batch, one in zip(found.batches, pair, strict=True):
        assert batch.micro_batch * batch.accumulation * found.shape.micro_batches * found.shape.data == one.rows


NETWORKS = st.builds(
    lambda heads, shared, width, layers, wide, vocabulary: Architecture(
        heads * width, wide * 64, layers, heads, heads // shared, width, vocabulary
    ),
    st.sampled_from([4, 6, 8, 16]),
    st.sampled_from([1, 2]),
    st.sampled_from([16, 64]),
    st.sampled_from([2, 3, 4, 6, 8]),
    st.sampled_from([3, 4, 8]),
    st.sampled_from([1000, 1024, 4001]),
)
JOBS = st.builds(
    lambda batch, length, bytes_, target: Job(
        micro_batch=batch, seq_length=length, params=bytes_, compute=bytes_, target=target, flash_attention=target == "ascend"
    ),
    st.sampled_from([1, 2, 3, 8]),
    st.sampled_from([60, 64, 256]),
    st.sampled_from([2, 4]),
    st.sampled_from(["cpu", "gpu", "ascend"]),
)
PLACES = st.builds(
    lambda per_node, nodes, megabytes, link: (per_node * nodes, megabytes * 10**6, link, nodes),
    st.sampled_from([1, 2, 3, 4]),
    st.sampled_from([1, 2]),
    st.integers(5, 400),
    st.sampled_from(["none", "pcie", "nvlink", "hccs"]),
)


@given(NETWORKS, JOBS, PLACES, st.sampled_from([4, 6, 8, 16]))
@settings(max_examples=60, deadline=None)
def test_the_search_finds_exactly_what_trying_everything_finds(
    network: Architecture, job: Job, place: tuple[int, int, str, int], rows: int
) -> None:
    one, devices = work(network, job, rows), Devices(job.target, *place)
    assert {found.shape._replace(micro_batches=1) for found in search([one], devices).candidates} == fitting(one, devices)


@given(NETWORKS, JOBS, PLACES, st.sampled_from([4, 6, 8, 16, 48]))
@settings(max_examples=150, deadline=None)
def test_every_answer_is_legal_uses_all_devices_meets_the_batch_and_fits(
    network: Architecture, job: Job, place: tuple[int, int, str, int], rows: int
) -> None:
    one, devices = work(network, job, rows), Devices(job.target, *place)
    found = search([one], devices)
    for candidate in found.candidates:
        shape, (batch,) = candidate.shape, candidate.batches
        assert legal(shape, one, devices)
        assert shape.data * shape.tensor * shape.pipeline * shape.context == devices.count
        assert batch.micro_batch * batch.accumulation * shape.micro_batches * shape.data == rows
        assert batch.micro_batch <= job.micro_batch
        assert shape.micro_batches >= shape.pipeline
        assert shape.pipeline == 1 or batch.accumulation == 1
        used = ledger(network, shape, replace(job, micro_batch=batch.micro_batch, accumulation=batch.accumulation))
        assert used.fits(devices.memory)
        assert used.peak == candidate.peak
        assert candidate.seconds == pytest.approx(min(_times(candidate, one, devices)))
    assert found.candidates or found.rejected
    ranks = [(not found.built(candidate), candidate.shape.weight) for candidate in found.candidates]
    assert all(first <= second for first, second in pairwise(ranks))


def _times(candidate: Candidate, one: Work, devices: Devices) -> list[float]:
    """Time of each way to take the batch that fits, on the layout of a candidate."""
    known = measured(one)
    times: list[float] = []
    for number, micro_batch, accumulation in splits(candidate.shape, one):
        shape, job = candidate.shape._replace(micro_batches=number), replace(one.job, micro_batch=micro_batch, accumulation=accumulation)
        useless = shape.optimizer_sharding == 2 and shape.pipeline == 1 and accumulation == 1
        if not useless and ledger(one.network, shape, job).fits(devices.memory):
            times.append(seconds(known, shape, number * accumulation, devices))
    return times


@given(NETWORKS, JOBS, PLACES, st.sampled_from([4, 8, 16]), st.integers(1, 400))
@settings(max_examples=100, deadline=None)
def test_more_memory_never_makes_a_layout_heavier(
    network: Architecture, job: Job, place: tuple[int, int, str, int], rows: int, more: int
) -> None:
    count, memory, link, nodes = place
    small = search([work(network, job, rows)], Devices(job.target, count, memory, link, nodes))
    large = search([work(network, job, rows)], Devices(job.target, count, memory + more * 10**6, link, nodes))
    if small.best is not None:
        assert large.best is not None
        assert (not large.built(large.best), large.best.shape.weight) <= (not small.built(small.best), small.best.shape.weight)


@pytest.mark.parametrize("count", [1, 2, 6, 8, 12])
def test_every_division_of_the_devices_is_answered_for(count: int) -> None:
    """What is not a candidate is named among the rejected, by a factor of it or as a whole."""
    one = work(TINY, Job(micro_batch=4, seq_length=128), 12)
    found = search([one], Devices("gpu", count, GB, "nvlink"))
    told = {left.what for left in found.rejected}
    kept = {candidate.shape[:4] for candidate in found.candidates} | {left.shape[:4] for left in found.rejected if left.shape}
    degrees = [number for number in range(1, count + 1) if count % number == 0]
    for data in degrees:
        for tensor in degrees:
            for pipeline in degrees:
                if count % (data * tensor * pipeline) == 0:
                    context = count // data // tensor // pipeline
                    factors = {f"data {data}", f"tensor {tensor}", f"pipeline {pipeline}", f"context {context}"}
                    assert (data, tensor, pipeline, context) in kept or factors & told


def test_a_batch_beyond_counting_is_refused_at_once() -> None:
    found = search([work(TINY, Job(micro_batch=2**31 - 1, seq_length=128), (2**31 - 1) ** 2)], Devices("gpu", 1, GB))
    assert not found.candidates
    assert "rows is above 2,147,483,647" in found.rejected[0].reason


def test_a_batch_of_many_divisors_does_not_slow_the_search() -> None:
    start = process_time()
    assert search([work(TINY, Job(micro_batch=720720, seq_length=128), 720720 * 1024)], Devices("ascend", 1024, 64 * GB, "hccs", 128)).best
    assert process_time() - start < 5
