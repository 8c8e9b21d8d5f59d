"""Training and validation: no text on both sides, stable, never empty."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.data.ordering import fingerprint, rank, unit
from runtime.data.split import divide
from runtime.faults import StageFault
from runtime.records import Record


def documents(texts: list[str]) -> list[Record]:
    return [Record(str(index), text, "s") for index, text in enumerate(texts)]


@given(
    st.lists(st.sampled_from(["问:1+1? 答:2", "问:1+1? 答:2 ", "问：１＋１？ 答:2", "A b", "a B", "c", "d", "e", "f"])),
    st.floats(0.01, 0.99),
    st.integers(0, 9),
)
def test_a_text_is_on_one_side_and_once_in_validation(texts: list[str], share: float, seed: int) -> None:
    if len({fingerprint(text) for text in texts}) < 2:
        with pytest.raises(StageFault, match="distinct documents"):
            divide(documents(texts), share, seed)
        return
    train, validation, repeats = divide(documents(texts), share, seed)
    sides = [{fingerprint(record.text) for record in side} for side in (train, validation)]
    assert train and validation
    assert not sides[0] & sides[1]
    assert len(sides[1]) == len(validation)
    assert len(train) + len(validation) + len(repeats) == len(texts)


def test_the_share_is_met_and_the_seed_chooses() -> None:
    texts = [f"document {n}" for n in range(5000)]
    chosen = [{record.text for record in divide(documents(texts), 0.02, seed)[1]} for seed in (1, 2)]
    assert 70 <= len(chosen[0]) <= 130
    assert len(chosen[0] & chosen[1]) < 20


def test_more_data_moves_no_document_to_the_other_side() -> None:
    texts = [f"document {n}" for n in range(2000)]
    few, more = ({record.text for record in divide(documents(part), 0.05, 1)[1]} for part in (texts[:1000], texts))
    assert few <= more


def test_every_source_is_held_out_in_its_share() -> None:
    large, small, single = (
        [Record(f"{name}{n}", f"{name} {n}", name) for n in range(count)] for name, count in (("large", 2000), ("small", 8), ("single", 1))
    )
    _, validation, _ = divide([*large, *small, *single], 0.02, 42)
    sources = [record.source for record in validation]
    assert 20 <= sources.count("large") <= 60
    assert (sources.count("small"), sources.count("single")) == (1, 0)


def test_sources_of_one_document_each_can_be_divided() -> None:
    train, validation, _ = divide([Record("a", "a", "one"), Record("b", "b", "two")], 0.02, 42)
    assert (len(train), len(validation)) == (1, 1)


def test_the_order_is_kept() -> None:
    train, validation, _ = divide(documents([f"document {n}" for n in range(100)]), 0.3, 1)
    assert [int(record.id) for record in train] == sorted(int(record.id) for record in train)
    assert [int(record.id) for record in validation] == sorted(int(record.id) for record in validation)


@pytest.mark.parametrize("copy", ["问:1+1? 答:2 ", "问：１＋１？\n答：２", "问:1+1?答:2"])
def test_copies_in_other_clothes_have_one_fingerprint(copy: str) -> None:
    assert fingerprint(copy) == fingerprint("问:1+1? 答:2")
    assert fingerprint("A b") == fingerprint("a\tB") != fingerprint("a c")


def test_ranks_do_not_change_between_versions() -> None:
    assert rank(42, "draw", 0, "poems-1") == 8652649923759734203
    assert 0 <= unit(42, "a") < 1
    assert rank(1, "a", "b") != rank(1, "ab")
