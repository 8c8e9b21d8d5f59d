"""What may be compared, and which way is worse."""

import json

import pytest

from runtime.evaluation.comparison import Comparison, Scores, Settings, Tolerance, Verdict, as_dict, compare, from_dict, judge

IDENTITY = {
    "evaluator": 1,
    "dtype": "float32",
    "prompt_sha256": "p",
    "tokenizer_sha256": "t",
    "text_sha256": "v",
    "held_out_sha256": "h",
}


def scores(name, values, **other):
    return Scores(name, values, {**IDENTITY, **other})


def verdict(metric, value, baseline, tolerance):
    return judge(metric, scores("new", {metric: value}), scores("old", {metric: baseline}), tolerance).verdict


@pytest.mark.parametrize(
    ("metric", "value", "baseline", "tolerance", "expected"),
    [
        ("bits_per_byte", 2.03, 2.0, Tolerance(relative=0.01), Verdict.WORSE),
        ("bits_per_byte", 2.02, 2.0, Tolerance(relative=0.01), Verdict.SAME),
        ("bits_per_byte", 1.97, 2.0, Tolerance(relative=0.01), Verdict.BETTER),
        ("exact_match", 0.60, 0.62, Tolerance(absolute=0.01), Verdict.WORSE),
        ("exact_match", 0.61, 0.62, Tolerance(absolute=0.01), Verdict.SAME),
        ("exact_match", 0.70, 0.62, Tolerance(absolute=0.01), Verdict.BETTER),
        ("exact_match", 0.5, 0.5, Tolerance(absolute=0.0), Verdict.SAME),
        ("exact_match", 0.0, 0.0, Tolerance(relative=0.1), Verdict.SAME),
        ("exact_match", 0.55, 0.6, Tolerance(relative=0.1, absolute=0.01), Verdict.SAME),
        ("perplexity", 30.0, 20.0, None, Verdict.NOT_JUDGED),
        ("core.exact_match.poems", 0.1, 0.2, Tolerance(absolute=0.0), Verdict.WORSE),
        ("base.perplexity", 21.0, 20.0, Tolerance(relative=0.01), Verdict.WORSE),
    ],
)
def test_worse_is_a_loss_beyond_the_wider_limit_in_the_metrics_own_direction(metric, value, baseline, tolerance, expected):
    assert verdict(metric, value, baseline, tolerance) is expected


@pytest.mark.parametrize(
    ("changed", "blocked", "free"),
    [
        ({"prompt_sha256": "other"}, ["exact_match", "core.answer_loss"], ["perplexity", "bits_per_byte", "answer_loss"]),
        (
            {"tokenizer_sha256": "other"},
            ["perplexity", "answer_loss", "base.perplexity"],
            ["bits_per_byte", "exact_match", "core.answer_bits_per_byte"],
        ),
        ({"text_sha256": "other"}, ["perplexity", "bits_per_byte"], ["answer_loss", "exact_match"]),
        ({"held_out_sha256": "other"}, ["answer_loss"], ["perplexity", "exact_match"]),
        ({"evaluator": 2}, ["perplexity", "bits_per_byte", "answer_loss", "exact_match"], []),
        ({"dtype": "float16"}, ["perplexity", "bits_per_byte", "answer_loss", "exact_match"], []),
    ],
)
def test_numbers_of_other_origin_are_not_comparable(changed, blocked, free):
    for metric in blocked + free:
        cell = judge(metric, scores("new", {metric: 1.0}, **changed), scores("old", {metric: 1.0}), None)
        assert (cell.verdict is Verdict.NOT_COMPARABLE) == (metric in blocked), metric
        assert bool(cell.reason) == (metric in blocked)
        assert (cell.delta is None) == (metric in blocked)


def test_perplexity_of_other_tokenizers_points_to_bits_per_byte():
    cell = judge("perplexity", scores("new", {"perplexity": 7.4}, tokenizer_sha256="x"), scores("old", {"perplexity": 54.6}), None)
    assert "bits per byte" in cell.reason


def gated(new, old, tolerance, gate=True, **changed):
    settings = {"new": Settings("old", gate, tolerance)}
    return compare([scores("new", new, **changed)], {"old": scores("old", old)}, settings)


def test_a_gate_fails_for_what_is_worse_and_only_when_it_is_asked_for():
    limits = {"exact_match": Tolerance(absolute=0.0)}
    assert gated({"exact_match": 0.6}, {"exact_match": 0.5}, limits).passes
    assert not gated({"exact_match": 0.4}, {"exact_match": 0.5}, limits).passes
    assert gated({"exact_match": 0.4}, {"exact_match": 0.5}, limits, gate=False).passes


@pytest.mark.parametrize(
    ("new", "changed"),
    [({"exact_match": None}, {}), ({"perplexity": 1.0}, {}), ({"exact_match": 0.5}, {"prompt_sha256": "other"})],
    ids=["not finite", "missing", "other prompts"],
)
def test_a_gate_does_not_pass_what_it_cannot_judge(new, changed):
    made = gated(new, {"exact_match": 0.5}, {"exact_match": Tolerance(absolute=0.0)}, **changed)
    assert [(cell.metric, cell.verdict) for cell in made.rows[0].failing] == [("exact_match", Verdict.UNDECIDED)]
    assert not made.passes


def test_without_a_baseline_or_against_itself_nothing_is_judged():
    alone = compare([scores("demo", {"perplexity": 3.0})], {}, {"demo": Settings("demo", True, {"perplexity": Tolerance(0.1)})})
    assert alone.rows[0].cells[0].verdict is Verdict.NO_BASELINE
    assert alone.passes


def test_a_comparison_survives_its_file():
    made = gated(
        {"exact_match": 0.4, "perplexity": None}, {"exact_match": 0.5, "perplexity": 3.0}, {"exact_match": Tolerance(absolute=0.0)}
    )
    text = json.dumps(as_dict(made), allow_nan=False)
    again = from_dict(json.loads(text))
    assert json.dumps(as_dict(again)) == text
    assert isinstance(again, Comparison)
    assert not again.passes
