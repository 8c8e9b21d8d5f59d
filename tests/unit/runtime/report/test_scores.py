"""How scores are judged, examples chosen, batches counted: values worked out by hand."""

from typing import Any

import pytest

from runtime.report import funnel, rows, scores
from runtime.report.evidence import Evidence, Quantity
from runtime.report.training import training


def evidence(metrics: dict[str, Any] | None = None, configs: dict[str, Any] | None = None, predictions: tuple[Any, ...] = ()) -> Evidence:
    return Evidence("demo", {}, {}, metrics or {}, configs or {}, {}, {}, predictions)


def row(lower_is_better: bool, base: float | None, merged: float | None, unigram: float | None = None) -> scores.Row:
    return scores.Row("metric", "loss", lower_is_better, Quantity(unigram), Quantity(base), Quantity(merged))


@pytest.mark.parametrize(("lower", "base", "merged", "verdict"), [
    (True, 2.0, 1.0, "better"), (True, 1.0, 2.0, "worse"), (True, 1.0, 1.0, "same"),
    (False, 0.2, 0.4, "better"), (False, 0.4, 0.2, "worse"), (False, None, 0.2, ""), (True, 1.0, None, ""),
])  # fmt: skip
def test_a_change_is_judged_by_the_direction_of_its_metric(lower: bool, base: float | None, merged: float | None, verdict: str) -> None:
    assert row(lower, base, merged).verdict == verdict


def test_the_margin_is_a_share_of_the_baseline() -> None:
    assert row(True, 2.0, None, unigram=2.5).margin.value == pytest.approx(0.2)
    assert row(True, 3.0, None, unigram=2.5).margin.value == pytest.approx(-0.2)
    assert row(True, 2.0, None).margin.value is None


def test_the_baseline_is_the_one_that_packing_measured_where_the_evaluation_does_not_repeat_it() -> None:
    made = evidence({"pack-pretrain": {"unigram": {"bits_per_byte": 3.0}}, "evaluate": {"base": {"bits_per_byte": 2.0}}})
    assert scores.headlines(made)["bits_per_byte"].unigram.value == 3.0


def test_a_value_that_is_not_finite_keeps_its_reason() -> None:
    made = evidence({"evaluate": {"base": {"perplexity": None, "perplexity_reason": "overflow"}}})
    perplexity = next(one for one in scores.rows(made) if one.name == "perplexity")
    assert (perplexity.base, perplexity.merged) == (Quantity(None, "overflow"), Quantity())


@pytest.mark.parametrize("wrong", ["0.70", True, None, [1.0]])
def test_what_is_no_number_is_not_taken_for_one(wrong: object) -> None:
    assert evidence({"evaluate": {"merged": {"exact_match": wrong}}}).quantity("evaluate", "merged", "exact_match") == Quantity()


def case(number: int, group: str, right: bool) -> dict[str, Any]:
    return {"id": f"{group}-{number}", "group": group, "merged": {"answer": "x", "exact_match": right, "ended": True}}


def test_examples_show_a_right_and_a_wrong_answer_of_each_group() -> None:
    told = (case(1, "a", True), case(2, "a", True), case(3, "a", False), case(1, "b", False), case(2, "b", False), case(3, "b", False))
    assert [example.id for example in scores.examples(evidence(predictions=told))] == ["a-1", "a-3", "b-1", "b-2"]


def test_the_effective_batch_counts_accumulation_and_data_parallel_ranks() -> None:
    config = {
        "runner_config": {"batch_size": 4, "gradient_accumulation_steps": 2},
        "parallel_config": {"data_parallel": 3, "pipeline_stage": 1, "micro_batch_num": 8},
        "model": {"model_config": {"seq_length": 128}},
    }
    told = training(evidence(configs={"pretrain": config}), "pretrain")
    assert (told.effective_batch, told.tokens_per_step) == (24, 3072)
    config["parallel_config"] |= {"pipeline_stage": 2}
    assert training(evidence(configs={"pretrain": config}), "pretrain").effective_batch == 192


def test_rows_of_a_batch_are_micro_batch_times_the_accumulation_of_our_cell() -> None:
    scale = {"type": "DynamicLossScaleUpdateCell", "loss_scale_value": 65536.0, "scale_factor": 2, "scale_window": 4000}
    config = {
        "runner_config": {"batch_size": 8, "gradient_accumulation_steps": 1},
        "runner_wrapper": {"accumulation": 4, "scale_sense": scale},
    }
    told = training(evidence(configs={"pretrain": config}), "pretrain")
    assert (told.micro_batch, told.accumulation, told.effective_batch) == (2, 4, 8)
    assert told.loss_scale == "dynamic(65536, window 4000)"


def test_reasons_are_counted_per_source_and_in_all() -> None:
    lost = {"dropped": {"empty": 3, "short": 0}, "sources": {"a": {"dropped": {"empty": 3}}, "b": {"dropped": {}}}}
    made = funnel.funnel(evidence({"ingest": lost}))
    assert [(drop.reason, [one.value for one in drop.documents], drop.total.value) for drop in made.drops] == [("empty", [3, 0], 3)]


def test_bytes_are_drawn_to_scale() -> None:
    def stage(a: int, b: int) -> dict[str, Any]:
        flows = {"a": {"documents_out": 1, "bytes_out": a}, "b": {"documents_out": 1, "bytes_out": b}}
        return {"documents_out": 2, "bytes_out": a + b, "sources": flows}

    drawn = funnel.drawing(funnel.funnel(evidence({"ingest": stage(600, 200), "clean": stage(300, 100)})))
    assert drawn is not None
    (whole_a, whole_b), (half_a, half_b) = ([piece.height for piece in column.pieces] for column in drawn.columns)
    assert whole_a / whole_b == pytest.approx(3, rel=0.01) and whole_a / half_a == pytest.approx(2, rel=0.01)
    assert half_a / half_b == pytest.approx(3, rel=0.01)
    assert [column.change for column in drawn.columns] == ["", "−50.0\N{NO-BREAK SPACE}%"]


def test_warnings_are_told_with_their_stage() -> None:
    made = evidence({"mix": {"warnings": ["a source is short"]}, "dedup": {"warnings": []}})
    assert rows.warnings(made) == [("mix", "a source is short")]
