"""The memory ledger against sums done by hand, against well-known figures, and in its directions."""

import itertools
import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler.planning.architecture import Architecture
from compiler.planning.memory import Adapters, Job, Ledger, ledger, peak_bytes, sizes
from compiler.planning.memory_job import RECOMPUTES, Recompute
from compiler.planning.memory_sizes import rows as first_dimensions
from compiler.spec.train import Layout
from compiler.wording import Said

LLAMA_7B = Architecture(4096, 11008, 32, 32, 32, 128, 32000)
EVERY = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
FULL_16 = Job(micro_batch=1, seq_length=2048, params=2, compute=2)
LORA = Job(micro_batch=2, accumulation=8, seq_length=2048, params=2, compute=2, adapters=Adapters(rank=8, targets=EVERY))
# One layer by hand: q and o 8 x 8, k and v 8 x 4, three of 8 x 16 = 576, and two norms of 8 = 592; tables 32 x 8 = 256.
SMALL = Architecture(hidden_size=8, intermediate_size=16, num_layers=4, num_heads=2, num_kv_heads=1, head_dim=4, vocab_size=32)
JOB = Job(micro_batch=3, seq_length=10)


def rows(one: Ledger, stage: int = 0) -> dict[str, int]:
    return {row.item: row.bytes for row in one.stages[stage].rows}


def states(one: Ledger) -> int:
    return sum(rows(one)[item] for item in ("weights", "gradients", "optimizer"))


def test_float32_states_by_hand() -> None:
    values = 4 * 592 + 2 * 256 + 8
    items = rows(ledger(SMALL, Layout(), JOB))
    assert items["weights"] == items["gradients"] == 4 * values
    assert items["optimizer"] == 8 * values
    assert items["casts"] == items["communication"] == items["results"] == items["tables"] == items["graph"] == 0


def test_activations_by_hand() -> None:
    # Per token, 8 wide: input, second norm's input, two normed inputs, two quotients; keys 4, output 8, gate and up 32;
    # queries 8, repeated keys and values 16, two heads of 10 probabilities, SiLU and product 32.
    layer = 6 * 8 + 4 + 8 + 32 + 8 + 16 + 20 + 32
    items = rows(ledger(SMALL, Layout(), JOB))
    assert items["activations"] == 4 * 30 * 4 * layer
    assert items["logits"] == 30 * 32 * 16  # four copies in float32
    assert items["working"] == 30 * 4 * 20  # the gradient of the probabilities


@pytest.mark.parametrize(("recompute", "layer"), [("none", 168), ("selective", 148), ("full", 8)])
def test_recomputation_keeps_less(recompute: Recompute, layer: int) -> None:
    assert rows(ledger(SMALL, Layout(recompute=recompute), JOB))["activations"] == 4 * 30 * 4 * layer


def test_kernels_keep_neither_probabilities_nor_quotients() -> None:
    fused = replace(JOB, flash_attention=True, fused_norm=True)
    layer = 4 * 8 + 4 + 8 + 32 + (8 + 4) + 32  # statistics besides: 16 float32 values for each of two heads
    assert rows(ledger(SMALL, Layout(), fused))["activations"] == 4 * 30 * (4 * layer + 4 * 32)


def test_sixteen_bit_products_hold_casts_of_float32_weights() -> None:
    mixed = replace(JOB, compute=2, flash_attention=True, fused_norm=True)
    items = rows(ledger(SMALL, Layout(), mixed))
    assert items["casts"] == 2 * (4 * 592 + 256)
    assert rows(ledger(SMALL, Layout(recompute="full"), mixed))["casts"] == 2 * (592 + 256)
    assert items["logits"] == 30 * 32 * (16 + 2)


def test_adapters_alone_have_gradients_and_moments() -> None:
    tuned = replace(JOB, adapters=Adapters(rank=2, targets=("q_proj", "down_proj")))
    learnt = 4 * 2 * ((8 + 8) + (16 + 8))
    items = rows(ledger(SMALL, Layout(), tuned))
    assert (items["weights"], items["gradients"], items["optimizer"]) == (4 * (2888 + learnt), 4 * learnt, 8 * learnt)
    # No quotients; of the normed inputs the first alone, for q; the output layer's input is not kept; 2 x 2 inner values.
    assert items["activations"] == 4 * 30 * 4 * (168 - 2 * 8 - 8 - 8 + 4)


def test_pipeline_stages_hold_their_ends() -> None:
    layout = Layout(pipeline=2, micro_batches=2)
    first, last = (rows(ledger(SMALL, layout, JOB), stage) for stage in (0, 1))
    assert first["weights"] == 4 * (2 * 592 + 256)
    assert last["weights"] == 4 * (2 * 592 + 256 + 8)
    assert first["activations"] == 2 * last["activations"] == 2 * 2 * 30 * 4 * 168
    assert first["logits"] == 0 < last["logits"]


def test_tied_tables_are_one_on_one_stage_and_one_on_each_end_of_a_pipeline() -> None:
    tied = replace(SMALL, tied=True)
    assert rows(ledger(tied, Layout(), JOB))["weights"] == 4 * (4 * 592 + 256 + 8)
    assert rows(ledger(tied, Layout(pipeline=2), JOB), 1)["weights"] == 4 * (2 * 592 + 256 + 8)


def test_tensor_parallelism_divides_matrices_and_tables() -> None:
    items = rows(ledger(SMALL, Layout(tensor=2), JOB))
    assert items["weights"] == 4 * (4 * (288 + 16) + 2 * 128 + 8)
    assert items["activations"] == 4 * 30 * 4 * (48 + 120 // 2)
    assert items["communication"] == 30 * 8 * 4  # the sum over ranks of one layer's output


def test_a_vocabulary_that_does_not_divide_stays_whole() -> None:
    odd = replace(SMALL, vocab_size=33)
    assert rows(ledger(odd, Layout(tensor=2), JOB))["weights"] == 4 * (4 * (288 + 16) + 2 * 264 + 8)


def test_context_parallelism_divides_rows() -> None:
    whole, half = (rows(ledger(SMALL, Layout(context=number), JOB)) for number in (1, 2))
    assert half["activations"] * 2 == whole["activations"]
    assert half["logits"] * 2 == whole["logits"]
    assert half["weights"] == whole["weights"]


def test_zero_divides_one_state_after_the_other() -> None:
    values = 4 * (4 * 592 + 2 * 256 + 8)
    found = [rows(ledger(SMALL, Layout(data=4, optimizer_sharding=level), JOB)) for level in range(4)]
    assert [(one["weights"], one["gradients"], one["optimizer"]) for one in found] == [
        (values, values, 2 * values),
        (values, values, values // 2),
        (values, values // 4, values // 2),
        (values // 4, values // 4, values // 2),
    ]
    bucket = 2 * 592 * 4
    assert [one["communication"] for one in found] == [bucket, bucket, bucket, 2 * bucket]  # two layers, gathered


def test_what_does_not_divide_by_the_replicas_stays_whole() -> None:
    """Of 16 and 8 rows, and a table of 32: over 16 replicas only gate, up and the tables are shared out, over 5 nothing."""
    values = 4 * (4 * 592 + 2 * 256 + 8)
    kept = 4 * 4 * (3 * 8 * 8 + 2 * 8 * 4 - 8 * 8 + 8 * 16)  # q, o, k, v, down
    found = rows(ledger(SMALL, Layout(data=16, optimizer_sharding=3), JOB))
    assert (found["weights"], found["optimizer"]) == (kept + (values - kept) // 16, 2 * kept + (2 * values - 2 * kept) // 16)
    prime = rows(ledger(SMALL, Layout(data=5, optimizer_sharding=3), JOB))
    assert prime["weights"] > 0.95 * values
    assert prime["optimizer"] > 1.9 * values


def test_first_dimensions_of_a_device_are_those_after_tensor_parallelism() -> None:
    divided = first_dimensions(LLAMA_7B, 8)
    assert (divided["q_proj"], divided["o_proj"], divided["up_proj"], divided["down_proj"]) == (512, 4096, 1376, 4096)
    assert divided["tables"] == 4000
    assert first_dimensions(replace(LLAMA_7B, vocab_size=32001), 8)["tables"] == 32001


def test_seven_billion_parameters_over_1024_replicas_keep_two_fifths_of_their_moments() -> None:
    found = rows(ledger(LLAMA_7B, Layout(data=1024, optimizer_sharding=1), FULL_16))["optimizer"]
    assert found == pytest.approx(8 * (32 * 2 * 4096 * 11008 + 2 * 32000 * 4096), rel=0.01)


def test_gradients_that_wait_are_held_with_the_activations() -> None:
    once, often = (ledger(SMALL, Layout(), replace(JOB, accumulation=number)).stages[0] for number in (1, 2))
    gradients = {row.item: row for row in often.rows}["gradients"]
    assert often.moments["loss"] - once.moments["loss"] == gradients.bytes
    assert gradients.moments == ("loss", "backward", "update")
    assert {row.item: row for row in once.rows}["gradients"].moments == ("update",)


@pytest.mark.parametrize("target", ["gpu", "cpu"])
@pytest.mark.parametrize("accumulation", [1, 4])
def test_moments_are_the_sums_of_their_rows(target: str, accumulation: int) -> None:
    layout = Layout(data=2, tensor=2, pipeline=2, micro_batches=3, optimizer_sharding=3)
    for stage in ledger(SMALL, layout, replace(JOB, target=target, accumulation=accumulation)).stages:
        for moment, count in stage.moments.items():
            assert count == sum(row.bytes for row in stage.rows if moment in row.moments), moment


def test_weights_of_7b_in_16_bit_are_about_14_gb() -> None:
    assert rows(ledger(LLAMA_7B, Layout(), FULL_16))["weights"] == pytest.approx(13.5e9, rel=0.01)


def test_full_float32_training_of_7b_takes_more_than_100_gb() -> None:
    whole = ledger(LLAMA_7B, Layout(recompute="full"), Job(micro_batch=1, seq_length=2048))
    assert states(whole) == pytest.approx(16 * 6.74e9, rel=0.01)
    assert whole.peak > 100e9


def test_full_16_bit_tuning_of_7b_takes_about_56_gb_before_activations() -> None:
    all_16 = ledger(LLAMA_7B, Layout(recompute="full"), replace(FULL_16, moments=2))
    assert states(all_16) == pytest.approx(56e9, rel=0.05)
    assert all_16.peak > states(all_16)
    # AdamW of mindformers keeps its moments in float32: 12 bytes a parameter; with float32 copies of the weights it is 16.
    assert states(ledger(LLAMA_7B, Layout(), FULL_16)) == pytest.approx(12 * 6.74e9, rel=0.01)
    assert states(ledger(LLAMA_7B, Layout(), replace(FULL_16, master=True))) == pytest.approx(16 * 6.74e9, rel=0.01)


@pytest.mark.parametrize("kernels", [False, True])
def test_lora_on_7b_fits_24_gb_with_recomputation_alone(kernels: bool) -> None:
    lora = replace(LORA, flash_attention=kernels, fused_norm=kernels)
    full = replace(lora, adapters=None)
    assert ledger(LLAMA_7B, Layout(recompute="full"), lora).fits(24 * 10**9)
    assert not ledger(LLAMA_7B, Layout(), lora).fits(24 * 10**9)
    assert not ledger(LLAMA_7B, Layout(recompute="full"), full).fits(24 * 10**9)


def test_headroom_is_three_tenths() -> None:
    one = ledger(SMALL, Layout(), JOB)
    assert one.peak_with_headroom == -(-one.peak * 13 // 10)
    assert one.fits(one.peak_with_headroom)
    assert not one.fits(one.peak_with_headroom - 1)


def test_a_cpu_keeps_index_tables_and_its_graph() -> None:
    items = rows(ledger(SMALL, Layout(), replace(JOB, target="cpu")))
    # Values: norms 8 x 8, rotation 4 x (8 + 4), mask and softmax 2 x 2 heads x 10, at 16 bytes; besides 64 bytes x 8 a token.
    layer = 16 * (64 + 48 + 40) + 64 * 8
    head = 16 * (4 * 8 + 10 + 3 * 32)
    assert items["tables"] == 30 * (4 * layer + head) + 2 * 16 * 2888
    assert items["graph"] == 100_000_000 + 4 * 55_000_000


def test_a_cpu_keeps_results_to_the_end_of_the_step() -> None:
    # Values a token and layer. At the loss: 8 x hidden, 5 x queries, 2 x keys, 4 x feed-forward, two heads of 10 probabilities.
    # To the end: 11 x hidden, 2 x queries, 2 x keys, 3 x feed-forward. The pool spans 8 % more.
    items = rows(ledger(SMALL, Layout(), replace(JOB, target="cpu")))
    assert items["activations"] == pytest.approx(4 * 30 * 4 * (64 + 40 + 8 + 64 + 20) * 1.08, rel=1e-3)
    assert items["results"] == pytest.approx(4 * 30 * 4 * (88 + 16 + 8 + 48) * 1.08, rel=1e-3)
    assert items["logits"] == pytest.approx(30 * 32 * 5 * 4 * 1.08, rel=1e-3)  # four copies, and their product
    again = rows(ledger(SMALL, Layout(recompute="full"), replace(JOB, target="cpu")))
    assert again["activations"] < items["activations"]
    assert again["results"] > items["results"]
    assert again["tables"] > items["tables"]


def test_float16_products_of_a_cpu_keep_float32_copies() -> None:
    whole, half = (rows(ledger(SMALL, Layout(), replace(JOB, target="cpu", compute=width))) for width in (4, 2))
    # Two of three matrices of seven products and twice their gradients, weights twice; scores four times and two tables.
    tokens = 30 * (4 * 2 * (5 * 8 + 8 + 16 + 8 + 2 * 4 + 2 * 8 + 2 * 16) + 2 * 10 * (4 * 4 + 2 * 16))
    assert half["tables"] - whole["tables"] == 4 * (8 * 576 + tokens)


def test_every_item_says_its_formula_in_both_languages() -> None:
    for row in ledger(SMALL, Layout(), JOB).stages[0].rows:
        assert isinstance(row.formula, Said)
        assert row.formula.zh


JOBS = st.builds(
    Job,
    micro_batch=st.integers(1, 16),
    seq_length=st.sampled_from([128, 512, 4096]),
    accumulation=st.sampled_from([1, 4]),
    adapters=st.sampled_from([None, Adapters(rank=8, targets=EVERY), Adapters(rank=16, targets=("q_proj", "v_proj"))]),
    params=st.sampled_from([2, 4]),
    compute=st.sampled_from([2, 4]),
    flash_attention=st.booleans(),
    fused_norm=st.booleans(),
    target=st.sampled_from(["cpu", "gpu"]),
)
LAYOUTS = st.builds(
    Layout,
    data=st.sampled_from([1, 2, 8]),
    tensor=st.sampled_from([1, 2, 8]),
    pipeline=st.sampled_from([1, 2, 4]),
    context=st.sampled_from([1, 2]),
    micro_batches=st.sampled_from([1, 4]),
    optimizer_sharding=st.integers(0, 3),
    recompute=st.sampled_from(RECOMPUTES),
)


@given(JOBS, LAYOUTS)
def test_the_quick_peak_is_the_ledgers(one: Job, layout: Layout) -> None:
    assert peak_bytes(sizes(LLAMA_7B, one), layout) == ledger(LLAMA_7B, layout, one).peak


@given(JOBS, LAYOUTS)
def test_more_rows_or_longer_ones_never_take_less(one: Job, layout: Layout) -> None:
    peak = ledger(LLAMA_7B, layout, one).peak
    assert ledger(LLAMA_7B, layout, replace(one, micro_batch=one.micro_batch + 1)).peak >= peak
    assert ledger(LLAMA_7B, layout, replace(one, seq_length=one.seq_length * 2)).peak >= peak


@given(JOBS, LAYOUTS)
def test_sharding_never_takes_more(one: Job, layout: Layout) -> None:
    peaks = [ledger(LLAMA_7B, layout.model_copy(update={"optimizer_sharding": level}), one).peak for level in range(4)]
    slack = 2 * layout.pipeline  # bytes of rounding up
    assert all(after <= before + slack for before, after in itertools.pairwise(peaks))


@given(JOBS, LAYOUTS)
def test_recomputation_never_keeps_more(one: Job, layout: Layout) -> None:
    found = [rows(ledger(LLAMA_7B, layout.model_copy(update={"recompute": kind}), one))["activations"] for kind in RECOMPUTES]
    assert found == sorted(found, reverse=True)


def test_a_search_can_ask_for_thousands_of_peaks() -> None:
    measured, layout = sizes(LLAMA_7B, FULL_16), Layout(data=4, tensor=2, pipeline=4, micro_batches=8, optimizer_sharding=1)
    started = time.process_time()
    for _ in range(2000):
        peak_bytes(measured, layout)
    assert (time.process_time() - started) / 2000 < 100e-6  # about 8 on an idle core
