from pathlib import Path

import numpy as np
import pytest

from runtime.faults import InputFault
from runtime.model import weights

TENSORS = {"b": np.arange(6, dtype=np.float32).reshape(2, 3), "a": np.ones(2, np.float32)}


def test_bytes_do_not_depend_on_the_order_of_insertion(tmp_path: Path) -> None:
    weights.save(tmp_path / "1", TENSORS)
    weights.save(tmp_path / "2", dict(reversed(TENSORS.items())))
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()


def test_what_is_saved_is_read_back(tmp_path: Path) -> None:
    weights.save(tmp_path / "w", TENSORS)
    read = weights.load(tmp_path / "w")
    assert weights.differences(TENSORS, read) == []
    assert weights.digest(read) == weights.digest(TENSORS)


def test_a_transposed_view_is_saved_by_value(tmp_path: Path) -> None:
    weights.save(tmp_path / "w", {"t": TENSORS["b"].T})
    assert weights.load(tmp_path / "w")["t"].tolist() == TENSORS["b"].T.tolist()


@pytest.mark.parametrize(
    "change",
    [{"a": np.zeros(2, np.float32)}, {"a": np.ones(2, np.float64)}, {"a": np.ones((2, 1), np.float32)}, {"c": np.ones(2, np.float32)}],
)
def test_the_hash_sees_values_types_shapes_and_names(change: dict[str, np.ndarray]) -> None:
    assert weights.digest({**TENSORS, **change}) != weights.digest(TENSORS)


def test_every_truncation_is_refused(tmp_path: Path) -> None:
    weights.save(tmp_path / "whole", TENSORS)
    data = (tmp_path / "whole").read_bytes()
    for size in range(len(data)):
        (tmp_path / "cut").write_bytes(data[:size])
        with pytest.raises(InputFault):
            weights.load(tmp_path / "cut")


def test_differences_name_each_tensor() -> None:
    found = {"b": TENSORS["b"] + 1, "c": TENSORS["a"]}
    assert weights.differences(TENSORS, found) == ["a is missing", "c is not expected", "b has other values"]


def test_one_flipped_bit_is_seen() -> None:
    flipped = TENSORS["b"].copy()
    flipped.view(np.uint32)[1, 2] ^= 1
    assert weights.differences(TENSORS, {**TENSORS, "b": flipped}) == ["b has other values"]


def test_a_long_list_is_cut_with_its_count() -> None:
    assert weights.summary([str(i) for i in range(10)], limit=2) == "0; 1; and 8 more"
