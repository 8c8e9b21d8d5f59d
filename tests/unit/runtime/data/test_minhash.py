"""Numbers of tokens and of shingles, and signatures over them."""

import random

import numpy as np
import pytest
from deduplicating import edited, paragraph, shingle_set, similarity
from hypothesis import given
from hypothesis import strategies as st

from runtime.data import token_hashes
from runtime.data.deduplication.near import jaccard
from runtime.data.minhash import RECALL, band_keys, bands, signatures
from runtime.data.shingles import tokens
from runtime.data.token_hashes import hashed, shingles


@given(st.lists(st.text(st.sampled_from("abAB_1２éßİ 。，\n猫狗かก\u0e34\U00020001\U0001f600'"), max_size=12), max_size=6))
def test_equal_tokens_have_equal_numbers_and_others_do_not(texts: list[str]) -> None:
    found = hashed(texts)
    words = [tokens(text) for text in texts]
    assert found.counts.tolist() == [len(of_text) for of_text in words]
    flat = [word for of_text in words for word in of_text]
    assert len(set(zip(flat, found.hashes.tolist(), strict=True))) == len(set(flat)) == len(set(found.hashes.tolist()))


@pytest.mark.parametrize("join", [" ", ""])
def test_a_long_text_is_cut_where_tokens_end(join: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = join.join(random.Random(1).choices(["猫", "狗", "a cat", "dogs ", "，"], k=500))
    whole = hashed([text, "tail"]).hashes
    monkeypatch.setattr(token_hashes, "BLOCK", 64)
    assert hashed([text, "tail"]).hashes.tolist() == whole.tolist()
    assert len(whole) == len(tokens(text)) + 1


@given(st.lists(st.lists(st.sampled_from("abc"), max_size=7).map(" ".join), min_size=1, max_size=6), st.integers(1, 4))
def test_shingles_are_the_runs_of_each_text(texts: list[str], ngram: int) -> None:
    found = shingles(texts, hashed(texts), ngram)
    runs: set[tuple[str, ...]] = set()
    for text, of_one in zip(texts, np.split(found.hashes, np.cumsum(found.counts)[:-1]), strict=True):
        expected = shingle_set(text, ngram) - {()}
        assert len(set(of_one.tolist())) == len(expected)
        runs |= expected
    assert len(set(found.hashes.tolist())) == len(runs)


def test_jaccard_of_numbers_is_that_of_sets() -> None:
    for changes in (0, 3, 20, 200):
        left, right = paragraph(1), edited(paragraph(1), changes, changes)
        of_numbers = [np.unique(shingles([text], hashed([text]), 5).hashes) for text in (left, right)]
        assert jaccard(of_numbers[0], of_numbers[1]) == similarity(shingle_set(left, 5), shingle_set(right, 5))


def test_signatures_estimate_the_jaccard_similarity() -> None:
    pairs = [(paragraph(seed, 400), edited(paragraph(seed, 400), 4 * seed, seed)) for seed in range(1, 9)]
    for left, right in pairs:
        signed = signatures(shingles([left, right], hashed([left, right]), 5), 1024)
        true = similarity(shingle_set(left, 5), shingle_set(right, 5))
        assert np.mean(signed[0] == signed[1]) == pytest.approx(true, abs=4 * np.sqrt(true * (1 - true) / 1024))


@pytest.mark.parametrize(("threshold", "permutations"), [(0.5, 64), (0.8, 128), (0.95, 256), (1.0, 16), (0.1, 16)])
def test_bands_fit_and_find_what_they_promise(threshold: float, permutations: int) -> None:
    count, rows = bands(threshold, permutations)
    assert count * rows <= permutations
    assert rows == 1 or 1 - (1 - threshold**rows) ** count >= RECALL


@pytest.mark.parametrize("shared", [0.8, 0.9])
def test_pairs_meet_in_a_band_as_often_as_they_should(shared: float) -> None:
    count, rows = bands(0.8, 128)
    dice, kept = np.random.default_rng(1), round(100 * shared)
    own = (100 - kept) // 2
    sets = [dice.integers(0, 2**63, 100, dtype=np.uint64) for _ in range(3000)]
    values = np.concatenate([part for one in sets for part in (one[: kept + own], one[:kept], one[kept + own : kept + 2 * own])])
    keys = band_keys(signatures(token_hashes.Tokens(values, np.full(6000, kept + own)), 128), count, rows)
    met = np.mean((keys[0::2] == keys[1::2]).any(axis=1))
    expected = 1 - (1 - shared**rows) ** count
    assert met == pytest.approx(expected, abs=4 * np.sqrt(expected * (1 - expected) / 3000) + 1e-3)
