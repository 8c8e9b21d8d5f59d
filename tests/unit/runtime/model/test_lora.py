import numpy as np
import pytest

from runtime.faults import StageFault
from runtime.model import lora

CELL = "model.layers.0.attention.wq"


def base(**more: np.ndarray) -> dict[str, np.ndarray]:
    return {f"{CELL}.weight": np.zeros((2, 2), np.float32), **more}


def adapter(a: list[list[float]], b: list[list[float]], cell: str = CELL) -> dict[str, np.ndarray]:
    return {cell + lora.A: np.array(a, np.float32), cell + lora.B: np.array(b, np.float32)}


def test_scale_is_alpha_over_rank() -> None:
    a, b = np.zeros((8, 2)), np.zeros((2, 8))
    a[0], b[:, 0] = [1, 0], [2, 0]
    merged = lora.merge(base(), adapter(a.tolist(), b.tolist()), rank=8, alpha=32)
    assert merged[f"{CELL}.weight"].tolist() == [[8.0, 0.0], [0.0, 0.0]]


def test_rank_one_with_alpha_32_scales_by_32() -> None:
    merged = lora.merge(base(), adapter([[1, 0]], [[2], [0]]), rank=1, alpha=32)
    assert merged[f"{CELL}.weight"][0, 0] == 64.0


def test_other_tensors_stay_and_the_base_is_not_changed() -> None:
    norm = np.array([0.1, 0.2], np.float32)
    before = base(**{"model.norm_out.weight": norm})
    merged = lora.merge(before, adapter([[1, 1]], [[1], [1]]), rank=1, alpha=1)
    assert merged["model.norm_out.weight"].tobytes() == norm.tobytes()
    assert not before[f"{CELL}.weight"].any()


def test_merge_equals_the_sum_in_double_precision() -> None:
    generator = np.random.default_rng(5)
    weight, a, b = (generator.standard_normal(shape).astype(np.float32) for shape in ((6, 4), (3, 4), (6, 3)))
    merged = lora.merge({f"{CELL}.weight": weight}, {CELL + lora.A: a, CELL + lora.B: b}, rank=3, alpha=6.0)
    expected = weight.astype(np.float64) + 2.0 * (b.astype(np.float64) @ a.astype(np.float64))
    np.testing.assert_allclose(merged[f"{CELL}.weight"], expected, rtol=0, atol=2e-6)


def test_an_adapter_without_its_weight_is_refused() -> None:
    with pytest.raises(StageFault, match=r"no weight in the base for: model\.layers\.9"):
        lora.merge(base(), adapter([[1, 0]], [[1], [0]], "model.layers.9.attention.wq"), rank=1, alpha=1)


def test_half_a_pair_is_refused() -> None:
    with pytest.raises(StageFault, match="only one half"):
        lora.merge(base(), {CELL + lora.A: np.ones((1, 2), np.float32)}, rank=1, alpha=1)


def test_shapes_of_another_model_are_refused() -> None:
    with pytest.raises(StageFault, match=r"A \(1, 3\) and B \(2, 1\) do not fit a weight \(2, 2\) at rank 1"):
        lora.merge(base(), adapter([[1, 0, 0]], [[1], [0]]), rank=1, alpha=1)


def test_another_rank_is_refused() -> None:
    with pytest.raises(StageFault, match="at rank 2"):
        lora.merge(base(), adapter([[1, 0]], [[1], [0]]), rank=2, alpha=1)


def test_an_empty_adapter_is_refused() -> None:
    with pytest.raises(StageFault, match="empty"):
        lora.merge(base(), {}, rank=1, alpha=1)


def test_every_pattern_lists_its_cells() -> None:
    weights = base(**{"model.layers.0.attention.wv.weight": np.zeros((2, 2)), "lm_head.weight": np.zeros((2, 2))})
    assert lora.match_targets("wq$|wv$", weights) == {"wq$": [CELL], "wv$": ["model.layers.0.attention.wv"]}


def test_a_misspelt_target_is_refused_although_another_matches() -> None:
    weights = base(**{"model.layers.0.attention.wv.weight": np.zeros((2, 2))})
    with pytest.raises(StageFault, match=r"'wvv' matches no cell \(did you mean wv\?\)"):
        lora.match_targets("wq|wvv", weights)


def test_the_head_cannot_carry_an_adapter() -> None:
    with pytest.raises(StageFault, match="lm_head"):
        lora.match_targets("wq|lm_head", base(**{"lm_head.weight": np.zeros((2, 2))}))


def test_a_broken_expression_is_named() -> None:
    with pytest.raises(StageFault, match="not a regular expression"):
        lora.match_targets("wq(", base())
