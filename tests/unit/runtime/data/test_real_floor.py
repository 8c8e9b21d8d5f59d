"""The floor of rows that people wrote, against counting."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

from runtime.contracts.format import Format, InstructSource
from runtime.data import real_floor
from runtime.data.row_index import CHOICE, INDEX
from runtime.faults import StageFault


def parameters(largest: float, *, made: bool = True) -> Format:
    sources = {name: InstructSource(path=name, format="alpaca", weight=1.0) for name in ("people", "others")}
    sources["model"] = InstructSource(path="model", format="alpaca", weight=1.0, made=made, synthetic=not made)
    usual: dict[str, Any] = {"truncation": "middle", "train_on": "assistant", "validation": 0.1, "by": "row", "seq_length": 8, "seed": 3}
    return Format(sources=sources, synthetic_max=largest, **usual)


def rows(*counts: int, copies: int = 1) -> tuple[Any, Any]:
    """Rows of each source, each `copies` times."""
    entries = np.zeros(sum(counts), INDEX)
    entries["source"] = np.repeat(np.arange(len(counts)), counts)
    entries["key"][:, 0] = np.arange(len(entries)) * 7919
    choices = np.zeros(len(entries) * copies, CHOICE)
    choices["row"], choices["copy"] = np.tile(np.arange(len(entries)), copies), np.repeat(np.arange(copies), len(entries))
    return entries, choices


@pytest.mark.parametrize("made", [True, False])
@pytest.mark.parametrize(
    ("counts", "largest", "left"), [((5, 5, 90), 0.75, 30), ((5, 5, 90), 0.5, 10), ((5, 5, 20), 0.75, 20), ((1, 0, 9), 0.3, 0)]
)
def test_rows_of_people_keep_their_share(counts: tuple[int, ...], largest: float, left: int, made: bool) -> None:
    entries, choices = rows(*counts)
    kept = real_floor.floored(entries, choices, parameters(largest, made=made))
    by_source = Counter(entries["source"][kept["row"]].tolist())
    assert (by_source[0], by_source[1], by_source[2]) == (*counts[:2], left)
    assert by_source[2] <= largest * len(kept)


def test_repeats_go_before_rows() -> None:
    entries, choices = rows(10, 0, 30, copies=2)
    kept = real_floor.floored(entries, choices, parameters(0.6))
    written = kept[entries["source"][kept["row"]] == 2]
    assert len(written) == 30
    assert set(written["copy"]) == {0}


def test_share_of_one_and_no_synthetic_row_change_nothing() -> None:
    entries, choices = rows(1, 0, 99)
    assert real_floor.floored(entries, choices, parameters(1.0)) is choices
    entries, choices = rows(5, 5, 0)
    assert real_floor.floored(entries, choices, parameters(0.0)) is choices


def test_rows_of_a_model_alone_are_refused() -> None:
    entries, choices = rows(0, 0, 9)
    with pytest.raises(StageFault, match="all training rows are synthetic"):
        real_floor.floored(entries, choices, parameters(0.75))


def test_bound_is_the_largest_count_that_holds_it() -> None:
    for real in range(1, 200):
        for share in (0.1, 0.3, 0.5, 0.7, 0.75, 0.8, 0.9):
            count = real_floor.most(real, share)
            assert count <= share * (real + count)
            assert count + 1 > share * (real + count + 1)
