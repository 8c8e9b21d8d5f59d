"""Mixing by weight and budget: shares, repeats, limits, and what is refused."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.contracts.mix import Mix, MixSource
from runtime.data.mix import draw, in_order, mixed, refuse_empty, refuse_undrawn, report, size_of
from runtime.faults import StageFault
from runtime.records import Record


def rows(source: str, count: int, size: int = 10) -> list[Record]:
    return [Record(f"{source}-{n}", f"{n:0{size}d}", source) for n in range(count)]


def mix(weights: dict[str, float], budget: int, synthetic: tuple[str, ...] = (), **more: Any) -> Mix:
    sources = {name: MixSource(weight=weight, synthetic=name in synthetic) for name, weight in weights.items()}
    return Mix(**{"epochs_max": 10, "synthetic_max": 1.0, "seed": 42, **more}, sources=sources, budget_bytes=budget)


def test_a_small_source_is_repeated_and_reported() -> None:
    asked, corpus = mix({"a": 0.5, "b": 0.5}, 1000), {"a": rows("a", 10), "b": rows("b", 1000)}
    drawn = mixed(corpus, asked)
    told = report(asked, drawn, corpus)
    assert {name: len(uses) for name, uses in drawn.items()} == {"a": 50, "b": 50}
    assert Counter(use.index for use in drawn["a"]) == dict.fromkeys(range(10), 5)
    assert told["mix"]["a"] == {
        "target_share": 0.5,
        "share": 0.5,
        "deviation": 0.0,
        "bytes_available": 100,
        "bytes": 500,
        "repeats": 5.0,
        "epochs": 5,
    }
    assert (told["missing_bytes"], told["warnings"]) == (0, [])


def test_repeats_end_at_the_limit_and_the_shortage_is_told_with_the_budget_that_would_fit() -> None:
    asked, corpus = mix({"a": 0.5, "b": 0.5}, 1000, epochs_max=2), {"a": rows("a", 10), "b": rows("b", 1000)}
    told = report(asked, mixed(corpus, asked), corpus)
    assert (told["mix"]["a"]["bytes"], told["mix"]["b"]["bytes"], told["missing_bytes"]) == (200, 500, 300)
    assert any("budget_bytes=400" in warning and "too little text in a;" in warning for warning in told["warnings"])
    exact = mix({"a": 0.5, "b": 0.5}, 400, epochs_max=2)
    assert report(exact, mixed(corpus, exact), corpus)["warnings"] == []


def test_a_repeat_comes_after_a_whole_epoch_in_another_order() -> None:
    drawn = draw(rows("a", 20), 500, 42)
    first, second = [use.index for use in drawn if use.epoch == 0], [use.index for use in drawn if use.epoch == 1]
    assert sorted(first) == sorted(second) == list(range(20))
    assert first != second
    assert sum(use.epoch == 2 for use in drawn) == 10


def test_the_order_depends_on_the_seed_and_not_on_the_order_of_the_input() -> None:
    corpus = {"a": rows("a", 30), "b": rows("b", 30)}
    turned = {name: part[::-1] for name, part in reversed(corpus.items())}
    asked = mix({"a": 1.0, "b": 1.0}, 400)

    def ids(by_source: dict[str, list[Record]], seed: int) -> list[str]:
        return [record.id for record in in_order(mixed(by_source, asked), by_source, seed)]

    assert ids(corpus, 42) == ids(turned, 42) != ids(corpus, 43)
    assert {name.split("-")[0] for name in ids(corpus, 42)[:10]} == {"a", "b"}


def test_repeats_are_marked() -> None:
    corpus = {"a": rows("a", 3)}
    marked = in_order(mixed(corpus, mix({"a": 1.0}, 60)), corpus, 42)
    assert Counter(record.meta.get("epoch", 0) for record in marked) == {0: 3, 1: 3}


@pytest.mark.parametrize(("largest", "bytes_"), [(1.0, 800), (0.5, 200), (0.25, 60), (0.0, 0)])
def test_synthetic_text_stays_below_its_limit(largest: float, bytes_: int) -> None:
    asked = mix({"web": 0.2, "made": 0.8}, 1000, ("made",), synthetic_max=largest)
    drawn = mixed({"web": rows("web", 100), "made": rows("made", 100)}, asked)
    assert (len(drawn["web"]) * 10, len(drawn["made"]) * 10) == (200, bytes_)


def test_synthetic_text_is_measured_against_what_natural_sources_really_give() -> None:
    asked = mix({"web": 0.5, "made": 0.5}, 1000, ("made",), synthetic_max=0.5, epochs_max=1)
    corpus = {"web": rows("web", 7), "made": rows("made", 100)}
    assert report(asked, mixed(corpus, asked), corpus)["synthetic_share"] == 0.5


sizes = st.lists(st.integers(1, 60), min_size=1, max_size=12)
weights = st.floats(0.01, 10)


@given(
    sizes=st.tuples(sizes, sizes),
    weights=st.tuples(weights, weights),
    budget=st.integers(1, 2000),
    epochs=st.integers(1, 4),
    largest=st.floats(0, 1),
)
def test_no_limit_is_ever_exceeded(
    sizes: tuple[list[int], ...], weights: tuple[float, float], budget: int, epochs: int, largest: float
) -> None:
    corpus = {name: [Record(f"{name}{n}", "x" * size, name) for n, size in enumerate(part)] for name, part in zip("ab", sizes, strict=True)}
    asked = mix(dict(zip("ab", weights, strict=True)), budget, ("b",), epochs_max=epochs, synthetic_max=largest)
    drawn = mixed(corpus, asked)
    total, made = size_of(drawn, corpus), size_of({"b": drawn["b"]}, corpus)
    assert total <= budget
    assert made <= largest * total + 1e-9
    assert all(count <= epochs for uses in drawn.values() for count in Counter(use.index for use in uses).values())
    assert all(len(set(uses)) == len(uses) for uses in drawn.values())


@pytest.mark.parametrize(
    ("weights", "corpus", "message"),
    [
        ({"a": 1.0, "b": 0.5}, {"a": rows("a", 3)}, "the source b has weight 0.5 and no document"),
        ({"a": 0.0}, {"a": rows("a", 3)}, "all weights are 0"),
        ({"a": 1.0, "b": 0.01}, {"a": rows("a", 3), "b": rows("b", 3)}, "no document of b fits"),
    ],
)
def test_a_source_that_gives_nothing_is_refused_by_name(weights: dict[str, float], corpus: dict[str, list[Record]], message: str) -> None:
    asked = mix(weights, 30)
    with pytest.raises(StageFault, match=message) as fault:
        refuse_empty(asked, corpus)
        refuse_undrawn(asked, mixed(corpus, asked), corpus)
    assert fault.value.where == "config/mix.yaml"
    assert fault.value.fix


def test_weight_zero_leaves_a_source_out() -> None:
    asked, corpus = mix({"a": 1.0, "b": 0.0}, 30), {"a": rows("a", 3)}
    refuse_empty(asked, corpus)
    assert {name: len(uses) for name, uses in mixed(corpus, asked).items()} == {"a": 3, "b": 0}
