"""What each step of the ladder says of well-known cases."""

from dataclasses import replace

from networks import ASCEND_8, CARD_24, GB, HALF, LLAMA_7B, LLAMA_70B, LORA, ON_ASCEND, TINY, WORKSTATION, work

from compiler.planning.devices import Devices
from compiler.planning.ladder import Step, ladder
from compiler.planning.layouts import search
from compiler.planning.legality import slow_link
from compiler.planning.memory import Job


def steps(*arguments: object) -> dict[str, Step]:
    one, devices = arguments
    return {step.kind: step for step in ladder(search([one], devices))}  # type: ignore[list-item,arg-type]


def verdicts(*arguments: object) -> dict[str, str]:
    return {kind: step.verdict for kind, step in steps(*arguments).items()}


def test_a_small_model_stops_at_the_first_step() -> None:
    assert verdicts(work(TINY, Job(micro_batch=4, seq_length=128), 4), CARD_24) == {"one": "taken", "recompute": "not needed"}


def test_adapters_on_one_card_take_recomputation() -> None:
    told = steps(work(LLAMA_7B, LORA, 16), CARD_24)
    assert {kind: step.verdict for kind, step in told.items()} == {
        "one": "not enough",
        "recompute": "taken",
        "quantised": "advice",
        "one_pass": "advice",
    }
    assert "48 % more compute" in told["recompute"].reason


def test_full_training_on_four_cards_of_a_bus_says_why_each_step_is_not_enough() -> None:
    told = steps(work(LLAMA_7B, HALF, 16), WORKSTATION)
    assert {kind: step.verdict for kind, step in told.items()} == {
        "one": "not enough",
        "recompute": "not enough",
        "data": "not enough",
        "lora": "advice",
        "quantised": "advice",
        "sharding": "not enough",
        "tensor": "impossible",
        "pipeline": "not enough",
        "context": "impossible",
    }
    assert told["lora"].peak is not None
    assert told["lora"].peak * 1.3 < 24 * GB
    assert "PCIe" in told["tensor"].reason
    assert "GB x 1.3" in told["sharding"].reason


def test_eight_ascends_stop_at_optimizer_sharding() -> None:
    told = verdicts(work(LLAMA_7B, ON_ASCEND, 64), ASCEND_8)
    assert [told[kind] for kind in ("one", "recompute", "data", "sharding")] == ["not enough", "not needed", "taken", "taken"]
    assert {told[kind] for kind in ("tensor", "pipeline", "context")} == {"not needed"}


def test_idle_devices_are_counted() -> None:
    told = steps(work(TINY, replace(HALF, seq_length=128), 8), WORKSTATION)
    assert told["one"].verdict == "not needed"
    assert "3 devices would be idle" in told["one"].reason


def test_devices_that_cannot_share_the_rows_out_are_told_why() -> None:
    told = steps(work(LLAMA_7B, LORA, 2), WORKSTATION)
    assert (told["data"].verdict, told["pipeline"].verdict) == ("impossible", "impossible")
    assert "2 rows (pretrain) does not divide by 4" in told["data"].reason
    assert "do not make 2 micro batches or more" in told["pipeline"].reason


def test_one_accelerator_is_not_said_to_accumulate() -> None:
    deep = replace(TINY, num_layers=32)
    job = Job(micro_batch=8, seq_length=128)
    whole = search([work(deep, job, 8)], Devices("gpu", 1, 64 * GB)).best
    assert whole is not None
    told = steps(work(deep, job, 8), Devices("gpu", 1, whole.peak))
    assert (told["one"].verdict, told["recompute"].verdict) == ("not enough", "taken")
    assert told["one"].reason.startswith("8 rows in one pass: ")
    assert "accumulation is not built on one gpu" in told["one"].reason
    assert "one_pass" not in told
    few = steps(work(deep, replace(job, micro_batch=2), 8), Devices("gpu", 1, whole.peak))
    assert few["one_pass"].reason.endswith("all 8 rows of an update fit with recompute: full")


def test_adapters_are_tried_on_all_devices_before_they_are_said_not_to_fit() -> None:
    four = Devices("gpu", 4, 16 * GB, "pcie")
    told = steps(work(LLAMA_7B, HALF, 16), four)["lora"]
    assert told.verdict == "advice"
    assert "{data: 4, optimizer_sharding: 3, recompute: full}" in told.reason
    assert steps(work(LLAMA_7B, HALF, 16), replace(four, memory=4 * GB))["lora"].verdict == "not enough"


def test_a_cpu_is_not_advised_to_recompute() -> None:
    told = steps(work(LLAMA_7B, replace(HALF, target="cpu"), 1), Devices("cpu", 1, 64 * GB))
    assert "rank 8 on every linear layer, one device: " in told["lora"].reason


def test_a_lighter_kind_than_the_one_taken_was_not_enough_and_says_why() -> None:
    over = steps(work(LLAMA_70B, LORA, 512), Devices("gpu", 1024, 80 * GB, "nvlink", 128))
    assert (over["data"].verdict, over["tensor"].verdict) == ("taken", "taken")
    assert (over["sharding"].verdict, over["sharding"].reason) == (
        "impossible",
        "an effective batch of 512 rows (pretrain) does not divide by 1024",
    )
    tight = steps(work(LLAMA_7B, replace(ON_ASCEND, micro_batch=1), 8), replace(ASCEND_8, memory=16 * GB))
    assert tight["sharding"].verdict == "not enough"
    assert "> 16.0 GB" in tight["sharding"].reason


def test_what_is_not_needed_and_would_not_fit_is_not_called_as_fast() -> None:
    told = steps(work(LLAMA_7B, ON_ASCEND, 64), replace(ASCEND_8, memory=40 * GB))
    unfit = [step for step in told.values() if step.verdict == "not needed" and "> 40.0 GB" in step.reason]
    assert all("and this one does not" in step.reason for step in unfit)


def test_tensor_parallelism_stays_in_a_node_over_a_fast_link() -> None:
    two_nodes = Devices("gpu", 8, 80 * GB, "nvlink", 2)
    assert slow_link(4, two_nodes) == ""
    assert "would leave the node, which has 4 devices" in slow_link(8, two_nodes)
    assert "there is PCIe" in slow_link(2, replace(two_nodes, interconnect="pcie"))
    assert "there is no link" in slow_link(2, replace(two_nodes, interconnect="none"))
