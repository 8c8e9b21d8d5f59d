"""Greedy decoding in batches gives what each prompt alone gives."""

import numpy as np
import pytest

from runtime.evaluation.generation import Answer, Window, greedy

VOCABULARY, END, PAD = 13, 2, 0
TABLE = np.random.default_rng(4).normal(size=(64, VOCABULARY, VOCABULARY)).astype(np.float32)


def next_logits(ids, lengths):
    """A model that looks at every token of the prompt and at its position, and at nothing beyond the row's length."""
    logits = [sum(TABLE[position, ids[row, position]] for position in range(length)) for row, length in enumerate(lengths)]
    return np.stack(logits)


def obvious(prompt, limit, width):
    """One prompt without any batch, window or padding."""
    ids = list(prompt)
    while len(ids) < min(len(prompt) + limit, width):
        token = int(sum(TABLE[position, token] for position, token in enumerate(ids)).argmax())
        if token == END:
            return Answer(tuple(ids[len(prompt) :]), True)
        ids.append(token)
    return Answer(tuple(ids[len(prompt) :]), False)


def prompts(count):
    random = np.random.default_rng(9)
    return [random.integers(3, VOCABULARY, random.integers(1, 12)).tolist() for _ in range(count)]


@pytest.mark.parametrize("rows", [1, 2, 5, 32])
def test_a_batch_of_different_lengths_equals_one_by_one(rows):
    asked = prompts(17)
    answers = greedy(next_logits, asked, frozenset({END}), 9, Window(rows, 40, PAD))
    assert answers == [obvious(prompt, 9, 40) for prompt in asked]
    assert {answer.ended for answer in answers} == {True, False}, "the example must show both kinds of end"


def test_prompts_of_two_and_seven_tokens_in_one_batch():
    asked = [[5, 6], [3, 4, 5, 6, 7, 8, 9]]
    assert greedy(next_logits, asked, frozenset({END}), 6, Window(2, 16, PAD)) == [obvious(prompt, 6, 16) for prompt in asked]


def test_a_row_that_ended_is_left_alone():
    def scripted(ids, lengths):
        wanted = [END, 7 if lengths[1] == 2 else END]
        return np.eye(VOCABULARY, dtype=np.float32)[wanted]

    answers = greedy(scripted, [[3, 3], [3, 3]], frozenset({END}), 5, Window(2, 10, PAD))
    assert answers == [Answer((), True), Answer((7,), True)]


def test_of_equal_logits_the_lowest_id_wins():
    answers = greedy(lambda ids, lengths: np.zeros((1, VOCABULARY)), [[4]], frozenset({END}), 2, Window(1, 8, PAD))
    assert answers == [Answer((0, 0), False)]


def test_the_window_ends_an_answer_that_did_not_end():
    answers = greedy(lambda ids, lengths: np.eye(VOCABULARY)[[5]], [[4, 4]], frozenset({END}), 32, Window(1, 6, PAD))
    assert answers == [Answer((5, 5, 5, 5), False)]


@pytest.mark.parametrize("prompt", [[], [1] * 8])
def test_a_prompt_without_room_for_an_answer_is_refused(prompt):
    with pytest.raises(ValueError, match="no room"):
        greedy(next_logits, [prompt], frozenset({END}), 4, Window(1, 8, PAD))
