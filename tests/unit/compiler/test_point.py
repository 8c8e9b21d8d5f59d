"""Names of sweep points are safe, stable and unique."""

import re

from hypothesis import given
from hypothesis import strategies as st

from compiler.point import LONGEST, point_name

OVERRIDES = st.lists(
    st.builds("{}={}".format, st.sampled_from(["a.b", "a_b", "lora.rank", "x"]), st.text(max_size=30)), min_size=1, max_size=4
)


def test_a_plain_value_is_spelled_out() -> None:
    assert point_name("demo", ["finetune.lora.rank=4"]) == "demo--finetune-lora-rank-4"


def test_the_order_of_overrides_does_not_matter() -> None:
    assert point_name("demo", ["a=1", "b=2"]) == point_name("demo", ["b=2", "a=1"])


def test_values_that_are_spelled_alike_get_different_names() -> None:
    values = ["0.1", "0-1", "0_1", "1e-05", "1.0e-05", "org/m 1", "org/m_1", "你好", "再见", "[1,2]", "[1, 2]"]
    names = [point_name("demo", [f"model={value}"]) for value in values]
    assert len(set(names)) == len(values)


@given(OVERRIDES)
def test_a_name_is_a_folder_name_and_a_dvc_path(overrides: list[str]) -> None:
    name = point_name("demo", overrides)
    assert re.fullmatch(r"[a-z0-9]+(-{1,2}[a-z0-9]+)*", name)
    assert len(name) <= LONGEST


@given(OVERRIDES, OVERRIDES)
def test_different_points_have_different_names(one: list[str], other: list[str]) -> None:
    assert (point_name("demo", one) == point_name("demo", other)) == (sorted(one) == sorted(other))
