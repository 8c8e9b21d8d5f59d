"""Losses are sums over tokens, in float64, against the obvious formula."""

import json
import math

import numpy as np
import pytest

from runtime.evaluation import perplexity
from runtime.evaluation.perplexity import Loss
from runtime.stage import encode_json, finite


def test_windows_of_different_sizes_are_weighted_by_their_tokens():
    loss = perplexity.total([Loss(2.0 * 1024, 1024), Loss(4.0 * 10, 10)])
    assert loss.tokens == 1034
    assert loss.perplexity == pytest.approx(7.533, abs=5e-4)
    assert loss.perplexity != pytest.approx(math.exp(3.0), abs=1.0)


@pytest.mark.parametrize(("tokens", "expected"), [(6, 7.389), (3, 54.598)])
def test_bits_per_byte_do_not_depend_on_how_a_text_was_cut(tokens, expected):
    size = len("今天天气很好".encode())
    loss = Loss(12.0, tokens)
    assert size == 18
    assert loss.perplexity == pytest.approx(expected, abs=1e-3)
    assert loss.bits_per_byte(size) == pytest.approx(0.9618, abs=5e-5)


def test_token_nats_are_minus_log_softmax():
    random = np.random.default_rng(0)
    logits = random.normal(0, 5, (3, 4, 11)).astype(np.float32)
    targets = random.integers(0, 11, (3, 4))
    for row in range(3):
        for column in range(4):
            x = [float(value) for value in logits[row, column]]
            expected = -math.log(math.exp(x[targets[row, column]]) / math.fsum(map(math.exp, x)))
            assert perplexity.token_nats(logits, targets)[row, column] == pytest.approx(expected, rel=1e-12)


def test_token_nats_survive_logits_whose_exponential_overflows():
    logits = np.array([[1000.0, 0.0, -1000.0]], np.float32)
    assert perplexity.token_nats(logits, np.array([1])) == pytest.approx([1000.0])


def test_a_uniform_model_has_the_perplexity_of_its_vocabulary():
    nats = perplexity.token_nats(np.zeros((50, 4000), np.float32), np.arange(50))
    assert Loss(float(nats.sum()), 50).perplexity == pytest.approx(4000)


def test_each_target_of_a_row_is_scored_once_and_unscored_ones_do_not_count():
    vocabulary, rows, length, size = 7, 5, 6, 2
    random = np.random.default_rng(1)
    table = random.normal(size=(vocabulary, vocabulary)).astype(np.float32)
    ids = random.integers(0, vocabulary, (rows, length + 1))
    scored = random.random((rows, length)) < 0.6
    losses = list(perplexity.row_losses(lambda block: table[block], ids[:, :-1], ids[:, 1:], scored, size))
    log_p = table - np.log(np.exp(table.astype(np.float64)).sum(-1, keepdims=True))
    for row, loss in enumerate(losses):
        expected = [-log_p[ids[row, t], ids[row, t + 1]] for t in range(length) if scored[row, t]]
        assert (loss.tokens, loss.nats) == (len(expected), pytest.approx(math.fsum(expected), rel=1e-6))


def test_every_block_has_one_shape_and_only_real_rows_count():
    rows = np.arange(10).reshape(5, 2)
    blocks = list(perplexity.batches(rows, 3))
    assert [block.shape for block, _ in blocks] == [(3, 2), (3, 2)]
    assert [real for _, real in blocks] == [3, 2]
    assert np.array_equal(np.concatenate([block[:real] for block, real in blocks]), rows)


@pytest.mark.parametrize(
    ("loss", "reason"), [(Loss(1e6, 10), "overflow"), (Loss(math.nan, 10), "not a number"), (Loss(0.0, 0), "not a number")]
)
def test_what_is_not_finite_is_written_as_null_with_a_reason(loss, reason):
    def refuse(text):
        raise AssertionError(text)

    written = json.loads(encode_json(finite({"merged": {"perplexity": loss.perplexity}})), parse_constant=refuse)
    assert written == {"merged": {"perplexity": None, "perplexity_reason": reason}}


def test_a_logit_that_is_not_a_number_is_not_hidden():
    nats = perplexity.token_nats(np.array([[0.0, np.nan]], np.float32), np.array([0]))
    assert math.isnan(perplexity.total([Loss(1.0, 1), Loss(float(nats.sum()), 1)]).perplexity)
