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
from runtime.data.rows import Block, RowCutter, Stream, Unigram, WholePacker, check_ids, document_ids, scored
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


def blocks(cutter: RowCutter | WholePacker, *documents: list[int]) -> list[Block]:
    stream = Stream.of([(np.asarray(document, np.int32), np.ones(len(document), np.int32)) for document in documents])
    return [*cutter.add(stream), *cutter.finish()]


@given(st.integers(1, 9), st.lists(st.lists(st.integers(1, 99), min_size=1, max_size=12), min_size=1, max_size=8))
def test_a_tail_that_is_filled_up_scores_every_id_but_the_first(seq_length: int, documents: list[list[int]]) -> None:
    cutter = RowCutter(seq_length, pad=0)
    found = blocks(cutter, *documents)
    ids, labels = (
        np.concatenate([getattr(block, name) for block in found] or [np.zeros((0, seq_length + 1))]) for name in ("ids", "labels")
    )
    stream = [id for document in documents for id in document]
    counted = scored(ids, labels, 0)
    assert labels[:, 1:][counted].tolist() == stream[1:]
    assert int(counted.sum()) == cutter.scored_tokens == cutter.scored_bytes
    assert int((ids == 0).sum()) == cutter.pad_tokens <= seq_length and ids.shape[1] == seq_length + 1


@given(st.integers(1, 9), st.lists(st.lists(st.integers(1, 99), min_size=2, max_size=30), min_size=1, max_size=150))
def test_whole_documents_are_scored_once_and_never_continued_in_a_row_of_another(seq_length: int, documents: list[list[int]]) -> None:
    begun = [[1000 + number, *document[1:]] for number, document in enumerate(documents)]  # first ids tell documents apart
    packer = WholePacker(seq_length, pad=0)
    found = blocks(packer, *begun)
    ids, labels = np.concatenate([block.ids for block in found]), np.concatenate([block.labels for block in found])
    counted = scored(ids, labels, 0)
    assert sorted(labels[:, 1:][counted].tolist()) == sorted(id for document in begun for id in document[1:])
    assert (packer.rows, packer.scored_tokens, packer.pad_tokens) == (len(ids), int(counted.sum()), int((ids == 0).sum()))
    assert packer.scored_bytes == sum(len(document) - 1 for document in begun) and packer.dropped_tokens == 0
    rows = [[id for id in row if id] for row in ids.tolist()]
    for document in (document for document in begun if len(document) <= seq_length + 1):
        (row,) = (row for row in rows if document[0] in row)
        place = row.index(document[0])
        assert row[place : place + len(document)] == document
    assert ((ids[:, 1:] == labels[:, 1:]) | ~counted).all()


def test_a_long_document_fills_rows_of_its_own_and_its_rest_is_placed_with_others() -> None:
    closed, waiting = blocks(WholePacker(4, pad=0), [1, 2, 3], list(range(11, 22)), [5, 6])
    assert closed.ids.tolist() == [[11, 12, 13, 14, 15], [15, 16, 17, 18, 19], [1, 2, 3, 5, 6]]
    assert closed.labels.tolist()[2] == [IGNORED, 2, 3, IGNORED, 6]
    assert waiting.ids.tolist() == [[19, 20, 21, 0, 0]]
    assert waiting.labels.tolist() == [[IGNORED, 20, 21, IGNORED, IGNORED]]


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
