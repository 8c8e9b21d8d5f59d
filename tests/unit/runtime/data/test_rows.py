"""Cutting and padding: every id is scored once, what is dropped is counted, and bytes follow tokens exactly."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import texts

from runtime.data.chat import IGNORED
from runtime.data.encoding import Vocabulary
from runtime.data.rows import RowCutter, Stream, Unigram, check_ids, document_ids, pad_row, scored
from runtime.faults import StageFault


def cut(cutter: RowCutter, *documents: list[int]) -> list[list[int]]:
    pieces = [Stream.of([(np.asarray(document, np.int32), np.ones(len(document), np.int32))]) for document in documents]
    return [row for piece in pieces for block in cutter.add(piece) for row in block.ids.tolist()] + [
        row for block in cutter.finish() for row in block.ids.tolist()
    ]


def test_a_document_is_bos_text_and_eos_once(vocabulary: Vocabulary) -> None:
    ids, sizes = document_ids(vocabulary, "fox</s> <s>dogs")
    assert (ids[0], ids[-1]) == (vocabulary.bos, vocabulary.eos)
    assert ids.tolist().count(vocabulary.bos) == ids.tolist().count(vocabulary.eos) == 1
    assert vocabulary.decode(ids.tolist()) == "fox</s> <s>dogs"
    assert (sizes[0], sizes[-1], sum(sizes)) == (0, 0, len("fox</s> <s>dogs"))


def test_a_hundred_tokens_make_three_rows_of_33_ids_and_the_rest_is_counted() -> None:
    cutter = RowCutter(32)
    rows = cut(cutter, list(range(100)))
    assert rows == [list(range(0, 33)), list(range(32, 65)), list(range(64, 97))]
    assert (cutter.rows, cutter.scored_tokens, cutter.dropped_tokens, cutter.tokens) == (3, 96, 3, 100)


def test_documents_are_joined_and_never_filled_up() -> None:
    eos = 9
    assert cut(RowCutter(6), [1, 2, 3, eos], [4, 5, eos]) == [[1, 2, 3, eos, 4, 5, eos]]
    short = RowCutter(7)
    assert cut(short, [1, 2, 3, eos], [4, 5, eos]) == []
    assert (short.dropped_tokens, short.scored_bytes, short.scored_tokens) == (7, 0, 0)


@given(st.integers(1, 9), st.lists(st.lists(st.integers(0, 99), max_size=12), max_size=8))
def test_every_id_but_the_first_is_a_label_once_or_dropped(seq_length: int, documents: list[list[int]]) -> None:
    cutter = RowCutter(seq_length)
    rows = cut(cutter, *documents)
    stream = [id for document in documents for id in document]
    labels = [id for row in rows for id in row[1:]]
    assert labels == stream[1 : 1 + len(labels)]
    assert all(len(row) == seq_length + 1 for row in rows)
    assert all(before[-1] == after[0] for before, after in pairwise(rows))
    assert len(stream) - len(labels) - cutter.dropped_tokens == (1 if rows else 0)
    assert cutter.dropped_tokens < seq_length + 1
    assert cutter.scored_bytes == len(labels)


def test_scored_bytes_are_those_of_the_text_before_the_cut(vocabulary: Vocabulary) -> None:
    cutter, stream = RowCutter(50), []
    for text in texts(20):
        ids, sizes = document_ids(vocabulary, text)
        stream += ids.tolist()
        list(cutter.add(Stream.of([(ids, sizes)])))
    list(cutter.finish())
    covered = stream[: cutter.scored_tokens + 1]
    tail = stream[cutter.scored_tokens + 1 :]
    assert len(tail) == cutter.dropped_tokens > 0
    assert cutter.scored_bytes == len(vocabulary.decode(covered).encode())
    assert cutter.scored_bytes + len(vocabulary.decode(tail).encode()) == sum(len(text.encode()) for text in texts(20))


def test_padding_is_masked_by_position_so_that_an_end_equal_to_pad_keeps_its_label() -> None:
    row = pad_row([1, 4, 5, 6, 2], [IGNORED, IGNORED, 5, 6, 2], 8, pad=2, where="row")
    assert row["input_ids"].tolist() == [1, 4, 5, 6, 2, 2, 2, 2]
    assert row["labels"].tolist() == [-100, -100, 5, 6, 2, -100, -100, -100]
    assert scored(row["input_ids"], row["labels"], pad=2).tolist() == [False, True, True, True, False, False, False]


@pytest.mark.parametrize(
    ("ids", "labels"), [([1, 2, 3], [1, 2]), (list(range(9)), [1] * 9), ([1, 2, 3], [IGNORED] * 3), ([1, 2], [1, IGNORED])]
)
def test_a_row_that_does_not_fit_or_trains_nothing_is_refused(ids: list[int], labels: list[int]) -> None:
    with pytest.raises(StageFault):
        pad_row(ids, labels, 8, pad=0, where="row")


@pytest.mark.parametrize("wrong", [-1, 10, 2**33])
def test_an_id_outside_the_vocabulary_is_refused(wrong: int) -> None:
    with pytest.raises(StageFault, match=f"token id {wrong} is outside the vocabulary of 10"):
        check_ids(np.asarray([1, wrong]), 10, "row")


def test_the_unigram_baseline_is_add_one_over_training_labels() -> None:
    train, held_out = Unigram.of_size(4), Unigram.of_size(4)
    train.add(np.asarray([3, 1, 1, 2]))
    held_out.add(np.asarray([1, 1, 3]))
    bits = -math.log2(3 / 7) - math.log2(1 / 7)
    assert train.score(held_out, 5) == {"bits_per_byte": round(bits / 5, 6), "perplexity": round(2 ** (bits / 2), 4), "tokens": 2}
