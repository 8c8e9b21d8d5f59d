"""Geometry of the drawings, against values worked out by hand."""

import math
import re

import pytest

from runtime.contracts.registry import BEFORE_REPORT, BY_NAME
from runtime.report import axes, curves, formatting, lineage
from runtime.report.evidence import PRODUCER, Curve

NB = "\N{NO-BREAK SPACE}"


def inputs_of_all_stages() -> dict[str, tuple[str, ...]]:
    return {name: tuple(PRODUCER[folder] for folder in BY_NAME[name].inputs) for name in [one.name for one in BEFORE_REPORT]}


@pytest.mark.parametrize(("low", "high", "wanted", "labels"), [
    (0.0, 8.3, 5, ["0", "2", "4", "6", "8", "10"]),
    (1.2, 1.9, 4, ["1.2", "1.4", "1.6", "1.8", "2.0"]),
    (0.0, 1e-3, 2, ["0", "5.0e-4", "1.0e-3"]),
    (-1.0, 1.0, 4, ["−1.0", "−0.5", "0.0", "0.5", "1.0"]),
    (3.0, 3.0, 4, ["1", "2", "3", "4", "5"]),
])  # fmt: skip
def test_ticks_are_round_numbers_that_bound_the_values(low: float, high: float, wanted: int, labels: list[str]) -> None:
    bottom, top = axes.padded(low, high, wanted)
    assert bottom <= low + 1e-9 and top >= high - 1e-9
    assert [tick.label for tick in axes.Scale(bottom, top, 0, 100).ticks(wanted)] == labels


def test_a_line_is_broken_where_nothing_is_finite() -> None:
    x, y = axes.Scale(0, 4, 0, 4), axes.Scale(0, 4, 0, 4)
    assert curves.path(x, y, curves.binned((1, 2, 3, 4), (1.0, None, 3.0, 4.0), 10)) == "M1.0 1.0M3.0 3.0L4.0 4.0"


def test_bins_keep_the_extremes_of_long_trainings() -> None:
    values = [1.0] * 1000
    values[777] = 50.0
    bins = [one for one in curves.binned(range(1, 1001), values, 100) if one]
    assert len(bins) == 100 and max(one.high for one in bins) == 50.0 and bins[-1].step == 1000


def test_the_running_mean_is_the_mean_of_the_neighbours() -> None:
    values = [1.0, 2.0, 6.0, None, 5.0, 3.0]
    assert curves.running_mean(values, 1) == [1.0, 3.0, 4.0, 5.5, 4.0, 3.0]
    assert curves.running_mean([None, None], 1) == [None, None]


def test_the_pointer_strips_cover_the_chart_without_gap_or_overlap() -> None:
    steps = tuple(range(1, 501))
    chart = curves.charts(Curve(steps, {"loss": tuple(10 / step for step in steps)}))[0]
    ends = [strip.x + strip.width for strip in chart.hits]
    assert chart.hits[0].x == chart.left and math.isclose(ends[-1], chart.width - chart.right, abs_tol=0.2)
    assert all(math.isclose(end, strip.x, abs_tol=0.2) for end, strip in zip(ends, chart.hits[1:], strict=False))


def test_a_training_of_one_step_is_drawn() -> None:
    chart = curves.charts(Curve((1,), {"loss": (2.0,), "learning_rate": (1e-3,)}))
    assert [one.key for one in chart] == ["loss", "learning_rate"]


def test_a_curve_without_a_finite_value_is_left_out() -> None:
    assert curves.charts(Curve((1, 2), {"loss": (None, None)})) == ()


def test_every_stage_stands_below_its_inputs_and_on_no_other() -> None:
    inputs = inputs_of_all_stages()
    rows = lineage.layers(inputs)
    columns = lineage.lanes(inputs, rows)
    assert all(rows[before] < rows[name] for name in inputs for before in inputs[name])
    assert len({(rows[name], columns[name]) for name in inputs}) == len(inputs)


def test_edges_round_other_nodes_have_a_track_of_their_own() -> None:
    inputs = inputs_of_all_stages()
    rows = lineage.layers(inputs)
    made = lineage.tracks(inputs, rows, lineage.lanes(inputs, rows))
    assert len(set(made.values())) == len(made) > 0
    assert all(rows[after] - rows[before] > 1 for before, after in made)


@pytest.mark.parametrize(("kind", "value", "text"), [
    ("count", 1234567, "1,234,567"), ("short", 1827456, f"1.83{NB}M"), ("short", 999, "999"), ("short", 999_600, f"1.00{NB}M"),
    ("size", 8_000_000, f"8.00{NB}MB"), ("size", 12, f"12{NB}B"), ("loss", 2.03314, "2.0331"), ("loss", 1e-7, "1.0e-7"),
    ("loss", -0.5, "−0.5000"), ("share", 0.4333, f"43.3{NB}%"), ("points", -0.0001, "0.0"), ("rate", 1e-3, "1.0e-3"),
])  # fmt: skip
def test_numbers_read_alike_everywhere(kind: str, value: float, text: str) -> None:
    assert formatting.FORMATS[kind](value) == text


def test_a_difference_has_a_sign_unless_it_is_zero() -> None:
    assert [formatting.signed(text) for text in ("1.2", "−1.2", "0.0")] == ["+1.2", "−1.2", "0.0"]


def test_what_html_forbids_becomes_visible() -> None:
    shown = formatting.visible("a\x00\x1b\x7f\x85\ud800\ufffe\U0001ffff中\n\t")
    assert shown == "a␀␛␡����中\n\t"
    assert not re.search(r"[\x00-\x08\x0b-\x1f]", shown)
