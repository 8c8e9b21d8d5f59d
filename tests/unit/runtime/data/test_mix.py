"""Mixing by weight and budget: shares, repeats, limits, order, and what is refused."""

from collections import Counter
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from corpora import Project, source
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from runtime import records
from runtime.contracts.mix import Mix, MixSource
from runtime.data.drawing import Counts, Documents, choose, draw
from runtime.data.mix import estimated_tokens
from runtime.data.ordering import rank
from runtime.data.realised import refuse_empty, refuse_short, refuse_undrawn, report
from runtime.faults import StageFault
from runtime.records import Limit, Record

Corpus = dict[str, list[Record]]
Enter = Callable[[Mapping[str, Any], Corpus], Project]


def rows(source: str, count: int, size: int = 10) -> list[Record]:
    return [Record(f"{source}-{n}", f"{n:0{size}d}", source) for n in range(count)]


def mix(weights: Mapping[str, float], budget: int, synthetic: tuple[str, ...] = (), **more: Any) -> Mix:
    own = more.pop("own", {})
    sources = {name: MixSource(weight=weight, synthetic=name in synthetic, **own.get(name, {})) for name, weight in weights.items()}
    unit = {} if "budget_tokens" in more else {"budget_bytes": budget}
    return Mix(**{"epochs_max": 10, "synthetic_max": 1.0, "seed": 42, **unit, **more}, sources=sources)


def documents_of(asked: Mix, corpus: Corpus) -> Documents:
    every = [record for part in corpus.values() for record in part]
    names = tuple(asked.sources)
    sizes = np.asarray([record.size for record in every], np.int64)
    tokens = np.asarray([estimated_tokens(asked, record.language, record.size) for record in every], np.int64)
    return Documents(names, np.asarray([names.index(record.source) for record in every], np.int32), sizes, tokens)


def ranks_of(asked: Mix, corpus: Corpus) -> Callable[[Mapping[str, int]], NDArray[np.uint64]]:
    every = [record for part in corpus.values() for record in part]
    return lambda epochs: np.asarray([rank(asked.seed, "draw", epochs.get(one.source, 0), one.id) for one in every], np.uint64)


def mixed(asked: Mix, corpus: Corpus) -> tuple[Documents, Counts]:
    documents = documents_of(asked, corpus)
    return documents, choose(asked, documents, ranks_of(asked, corpus))


def sizes_of(asked: Mix, corpus: Corpus) -> dict[str, int]:
    documents, uses = mixed(asked, corpus)
    return {name: part.bytes for name, part in documents.held(uses).items()}


def told_of(asked: Mix, corpus: Corpus) -> dict[str, Any]:
    return report(asked, *mixed(asked, corpus))


def test_a_small_source_is_repeated_and_reported() -> None:
    asked, corpus = mix({"a": 0.5, "b": 0.5}, 1000), {"a": rows("a", 10), "b": rows("b", 1000)}
    documents, uses = mixed(asked, corpus)
    assert uses[documents.of("a")].tolist() == [5] * 10
    assert Counter(uses[documents.of("b")].tolist()) == {1: 50, 0: 950}
    told = report(asked, documents, uses)
    assert told["mix"]["a"] == {
        "target_share": 0.5,
        "share": 0.5,
        "deviation": 0.0,
        "natural_share": 0.009901,
        "sampling": 50.5,
        "documents_available": 10,
        "documents": 10,
        "rows": 50,
        "bytes_available": 100,
        "bytes": 500,
        "tokens_estimated": 100,
        "repeats": 5.0,
        "epochs": 5,
    }
    assert (told["missing_bytes"], told["warnings"]) == (0, [])


def test_nothing_is_repeated_unless_the_limit_was_raised_for_it() -> None:
    asked, corpus = mix({"a": 0.5, "b": 0.5}, 1000, epochs_max=1), {"a": rows("a", 10), "b": rows("b", 1000)}
    told = told_of(asked, corpus)
    assert (told["mix"]["a"]["repeats"], told["mix"]["a"]["rows"]) == (1.0, 10)
    assert any(warning.startswith("a is 16.7% of the mix, not 50%: all of a, 100 bytes, is used 1 times") for warning in told["warnings"])


def test_repeats_end_at_the_limit_and_the_shortage_is_told_with_the_budget_that_would_fit() -> None:
    asked, corpus = mix({"a": 0.5, "b": 0.5}, 1000, epochs_max=2), {"a": rows("a", 10), "b": rows("b", 1000)}
    told = told_of(asked, corpus)
    assert (told["mix"]["a"]["bytes"], told["mix"]["b"]["bytes"], told["missing_bytes"]) == (200, 500, 300)
    assert any("budget_bytes=400" in warning and "too little text in a;" in warning for warning in told["warnings"])
    assert told_of(mix({"a": 0.5, "b": 0.5}, 400, epochs_max=2), corpus)["warnings"] == []


@pytest.mark.parametrize("large", [10_000, 1_000_000])
def test_a_source_that_misses_its_own_share_is_named_however_small_the_share_is(large: int) -> None:
    weights, corpus = {"a": 0.01, "b": 0.99}, {"a": rows("a", 2), "b": rows("b", 40, large)}
    told = told_of(mix(weights, 20 * large, epochs_max=1), corpus)
    assert [warning.split(":")[0] for warning in told["warnings"] if warning.startswith("a is")]


def test_the_other_sources_take_over_in_proportion_where_asked_to() -> None:
    corpus = {"a": rows("a", 10), "b": rows("b", 1000), "c": rows("c", 1000)}
    asked = mix({"a": 0.5, "b": 0.375, "c": 0.125}, 2100, epochs_max=1, exhausted="rebalance")
    assert sizes_of(asked, corpus) == {"a": 100, "b": 1500, "c": 500}
    told = told_of(asked, corpus)
    assert told["missing_bytes"] == 0
    assert [warning.split(" ")[0] for warning in told["warnings"]] == ["a", "b", "c"]


def test_a_source_that_gives_less_than_it_is_to_is_refused_where_asked_to() -> None:
    corpus = {"a": rows("a", 10), "b": rows("b", 1000)}
    asked = mix({"a": 0.5, "b": 0.5}, 1000, epochs_max=2, exhausted="refuse")
    with pytest.raises(StageFault, match="a gives 200 of 500 bytes") as fault:
        refuse_short(asked, *mixed(asked, corpus))
    assert "budget_bytes=400" in fault.value.fix
    enough = mix({"a": 0.5, "b": 0.5}, 1000, epochs_max=5, exhausted="refuse")
    refuse_short(enough, *mixed(enough, corpus))


def test_amounts_of_a_source_come_first_and_the_others_share_the_rest_by_weight() -> None:
    corpus = {name: rows(name, 100) for name in "abcd"}
    own = {"a": {"epochs": 1.5}, "b": {"bytes": 300}, "c": {"tokens": 50}}
    asked = mix(dict.fromkeys("abcd", 1.0), 3000, own=own, bytes_per_token=5.0)
    assert sizes_of(asked, corpus) == {"a": 1500, "b": 300, "c": 250, "d": 950}
    assert told_of(asked, corpus)["missing_bytes"] == 0


def test_a_mix_of_amounts_alone_is_their_sum() -> None:
    corpus = {"a": rows("a", 100), "b": rows("b", 100)}
    told = told_of(mix({"a": 1.0, "b": 1.0}, 9999, own={"a": {"epochs": 2.0}, "b": {"bytes": 500}}), corpus)
    assert ({name: row["bytes"] for name, row in told["mix"].items()}, told["missing_bytes"]) == ({"a": 2000, "b": 500}, 0)
    assert told["warnings"] == []


def test_amounts_above_the_budget_are_refused_with_what_each_is() -> None:
    asked = mix({"a": 1.0, "b": 1.0}, 1000, own={"a": {"epochs": 2.0}})
    with pytest.raises(StageFault, match="more than the budget of 1000 bytes") as fault:
        mixed(asked, {"a": rows("a", 100), "b": rows("b", 100)})
    assert fault.value.reason == "in bytes, a: 2000"


def test_a_budget_of_tokens_makes_shares_of_tokens() -> None:
    corpus = {
        "en": [Record(f"e{n}", "word" * 10, "en", "en") for n in range(100)],
        "zh": [Record(f"z{n}", "字" * 10, "zh", "zh-Hant") for n in range(100)],
    }
    asked = mix({"en": 0.5, "zh": 0.5}, 0, budget_tokens=400, bytes_per_token=4.0, bytes_per_token_of={"zh": 1.5})
    told = told_of(asked, corpus)
    assert (told["unit"], told["budget_tokens"], told["missing_tokens"], told["tokens_estimated"]) == ("tokens", 400, 0, 400)
    assert [(row["share"], row["bytes"], row["tokens_estimated"]) for row in told["mix"].values()] == [(0.5, 800, 200), (0.5, 300, 200)]


@pytest.mark.parametrize(("temperature", "sizes"), [(1.0, {"a": 100, "b": 900}), (2.0, {"a": 250, "b": 750}), (1e12, {"a": 500, "b": 500})])
def test_a_temperature_lies_between_the_sizes_and_equal_shares(temperature: float, sizes: dict[str, int]) -> None:
    corpus = {"a": rows("a", 100), "b": rows("b", 900)}
    assert sizes_of(mix({"a": 1.0, "b": 1.0}, 1000, temperature=temperature), corpus) == sizes


def test_a_repeat_comes_after_a_whole_epoch_in_another_order() -> None:
    sizes = np.full(20, 10, np.int64)

    def ranks(epoch: int) -> NDArray[np.uint64]:
        return np.asarray([rank(42, "draw", epoch, f"a-{n}") for n in range(20)], np.uint64)

    assert Counter(draw(sizes, 500, ranks).tolist()) == {3: 10, 2: 10}
    parts = [np.flatnonzero(draw(sizes, 100 + 200 * epoch, ranks) > epoch).tolist() for epoch in range(3)]
    assert [len(part) for part in parts] == [10, 10, 10]
    assert parts[0] != parts[1] != parts[2]


@pytest.mark.parametrize(("largest", "bytes_"), [(1.0, 800), (0.5, 200), (0.25, 60), (0.0, 0)])
def test_synthetic_text_stays_below_its_limit(largest: float, bytes_: int) -> None:
    asked = mix({"web": 0.2, "made": 0.8}, 1000, ("made",), synthetic_max=largest)
    assert sizes_of(asked, {"web": rows("web", 100), "made": rows("made", 100)}) == {"web": 200, "made": bytes_}


def test_synthetic_text_is_measured_against_what_natural_sources_really_give() -> None:
    asked = mix({"web": 0.5, "made": 0.5}, 1000, ("made",), synthetic_max=0.5, epochs_max=1)
    told = told_of(asked, {"web": rows("web", 7), "made": rows("made", 100)})
    assert (told["synthetic_share"], told["real_share"], told["real_share_least"]) == (0.5, 0.5, 0.5)


def test_the_floor_of_real_text_holds_though_documents_are_taken_whole() -> None:
    corpus = {"web": rows("web", 9, 97), "made": rows("made", 1000, 7)}
    told = told_of(mix({"web": 0.25, "made": 0.75}, 1000, ("made",), synthetic_max=0.75), corpus)
    assert told["mix"]["web"]["bytes"] == 194
    assert 0.25 <= told["real_share"] < 0.26


sizes = st.lists(st.integers(1, 60), min_size=1, max_size=12)
weights = st.floats(1e-9, 10)


@given(
    sizes=st.tuples(sizes, sizes),
    weights=st.tuples(weights, weights),
    budget=st.integers(1, 2000),
    limits=st.fixed_dictionaries(
        {"epochs_max": st.integers(1, 4), "synthetic_max": st.floats(0, 1), "exhausted": st.sampled_from(["shrink", "rebalance"])}
    ),
)
def test_no_limit_is_ever_exceeded(sizes: tuple[list[int], ...], weights: tuple[float, float], budget: int, limits: dict[str, Any]) -> None:
    corpus = {name: [Record(f"{name}{n}", "x" * size, name) for n, size in enumerate(part)] for name, part in zip("ab", sizes, strict=True)}
    documents, uses = mixed(mix(dict(zip("ab", weights, strict=True)), budget, ("b",), **limits), corpus)
    total, made = (int((documents.bytes * uses * part).sum()) for part in (1, documents.of("b")))
    assert total <= budget
    assert made <= limits["synthetic_max"] * total + 1e-9
    assert uses.min() >= 0
    assert uses.max() <= limits["epochs_max"]
    for name in "ab":
        assert np.ptp(uses[documents.of(name)]) <= 1


@given(st.lists(st.integers(1, 30), min_size=1, max_size=30), st.integers(0, 1000))
def test_a_draw_is_what_taking_one_after_the_other_gives(sizes: list[int], target: int) -> None:
    def ranks(epoch: int) -> NDArray[np.uint64]:
        return np.asarray([rank(7, epoch, n) for n in range(len(sizes))], np.uint64)

    uses, left, whole, epoch = [0] * len(sizes), target, True, 0
    while whole and left > 0:
        for index in np.argsort(ranks(epoch), kind="stable").tolist():
            whole = whole and sizes[index] <= left
            if sizes[index] <= left:
                uses[index] += 1
                left -= sizes[index]
        epoch += 1
    assert draw(np.asarray(sizes, np.int64), target, ranks).tolist() == uses


@pytest.mark.parametrize(
    ("weights", "corpus", "message"),
    [
        ({"a": 1.0, "b": 0.5}, {"a": rows("a", 3)}, "the source b has weight 0.5 and no document"),
        ({"a": 0.0}, {"a": rows("a", 3)}, "all weights are 0"),
        ({"a": 1.0, "b": 0.01}, {"a": rows("a", 3), "b": rows("b", 3)}, "no document of b fits"),
        ({"a": 1.0, "b": 1e-9}, {"a": rows("a", 3), "b": rows("b", 3)}, "no document of b fits"),
        ({"a": 1.0}, {"a": rows("a", 1, 31)}, "no document of a fits into its part of the budget of 30 bytes"),
    ],
)
def test_a_source_that_gives_nothing_is_refused_by_name(weights: dict[str, float], corpus: Corpus, message: str) -> None:
    asked = mix(weights, 30)
    with pytest.raises(StageFault, match=message) as fault:
        refuse_empty(asked, documents_of(asked, corpus).held())
        refuse_undrawn(asked, *mixed(asked, corpus))
    assert fault.value.where == "config/mix.yaml"
    assert fault.value.fix


def test_an_amount_of_its_own_that_is_too_small_is_what_is_to_be_raised() -> None:
    corpus = {"a": rows("a", 3), "b": rows("b", 3)}
    asked = Mix(
        sources={"a": MixSource(weight=1.0, synthetic=False), "b": MixSource(weight=1.0, synthetic=False, bytes=1)},
        budget_bytes=30,
        epochs_max=1,
        synthetic_max=1.0,
        seed=1,
    )
    with pytest.raises(StageFault, match="no document of b fits") as fault:
        refuse_undrawn(asked, *mixed(asked, corpus))
    assert fault.value.fix == "raise data.pretrain.mix.sources.b, or take the source out"


def test_weight_zero_leaves_a_source_out() -> None:
    asked, corpus = mix({"a": 1.0, "b": 0.0}, 30), {"a": rows("a", 3)}
    refuse_empty(asked, documents_of(asked, corpus).held())
    assert sizes_of(asked, corpus) == {"a": 30, "b": 0}


@pytest.fixture
def enter(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Enter:
    """Makes an experiment whose filtered corpus is the given one, and enters it."""

    def make(settings: Mapping[str, Any], corpus: Corpus) -> Project:
        project = Project(tmp_path / str(len(list(tmp_path.iterdir()))), {name: source("none", "text") for name in corpus})
        project.config["mix"].update(settings)
        if "budget_bytes" in settings:
            project.tracked("mix.budget_bytes", settings["budget_bytes"])
        project.made("filter", (record for part in corpus.values() for record in part))
        monkeypatch.chdir(project.folder)
        return project

    return make


def test_the_order_depends_on_the_seed_and_not_on_the_order_of_the_input(enter: Enter) -> None:
    corpus = {"一": rows("一", 30), "b": rows("b", 30)}
    turned = {name: part[::-1] for name, part in reversed(corpus.items())}

    def ids(corpus: Corpus, seed: int) -> list[str]:
        project = enter({"budget_bytes": 400, "seed": seed}, corpus)
        project.run("mix")
        return [record.id for record in project.records("corpus/mix")]

    assert ids(corpus, 42) == ids(turned, 42) != ids(corpus, 43)
    assert {name.split("-")[0] for name in ids(corpus, 2**32 - 1)[:10]} == {"一", "b"}


def test_repeats_are_marked(enter: Enter) -> None:
    project = enter({"budget_bytes": 60}, {"a": rows("a", 3)})
    project.run("mix")
    assert Counter(record.meta.get("epoch", 0) for record in project.records("corpus/mix")) == {0: 3, 1: 3}


@pytest.mark.parametrize("limit", [Limit(7, 1 << 20), Limit(1 << 20, 900)])
def test_parts_are_bounded_and_their_number_does_not_change_the_order(enter: Enter, monkeypatch: pytest.MonkeyPatch, limit: Limit) -> None:
    corpus = {"a": rows("a", 40), "b": rows("b", 200)}
    whole = enter({"budget_bytes": 1000, "epochs_max": 3}, corpus)
    whole.run("mix")
    monkeypatch.setattr(records, "PART", limit)
    divided = enter({"budget_bytes": 1000, "epochs_max": 3}, corpus)
    divided.run("mix")
    assert divided.records("corpus/mix") == whole.records("corpus/mix")
    assert divided.metrics("mix") == whole.metrics("mix")
    parts = [list(records.read_part(path)) for path in records.parts(divided.folder / "corpus/mix")]
    assert len(parts) > 3
    assert all(0 < len(part) <= limit.rows for part in parts)


def test_workers_change_no_byte_of_a_mix_of_many_parts(enter: Enter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "PART", Limit(50, 1 << 20))
    results: list[dict[str, bytes]] = []
    for workers in (1, 2):
        project = enter({"budget_bytes": 2000, "epochs_max": 3}, {"a": rows("a", 60), "b": rows("b", 120)})
        (project.folder / "placement.yaml").write_text(f"workers: {workers}\n")
        project.run("mix")
        results.append(project.results())
    assert results[0] == results[1]


def test_all_that_is_left_out_has_a_reason_and_all_that_is_used_is_counted(enter: Enter) -> None:
    corpus = {"a": rows("a", 40), "b": rows("b", 7), "c": [Record("x", "same", "c", "en"), Record("y", "same", "c", "en")]}
    project = enter(
        {
            "budget_bytes": 120,
            "sources": {
                "a": {"weight": 1.0, "synthetic": False},
                "b": {"weight": 0.0, "synthetic": False},
                "c": {"weight": 1.0, "synthetic": False, "epochs": 1.0},
            },
        },
        corpus,
    )
    project.run("mix")
    told = project.metrics("mix")
    assert told["dropped"] == {"no_weight": 7, "over_budget": 29}
    assert (told["sources"]["a"]["bytes_out"], told["sources"]["c"]["documents_out"], told["documents_out"]) == (110, 2, 13)
    assert told["language_bytes"] == {"en": 8, "und": 110}
    ordered = project.records("corpus/mix")
    assert all(left != right for left, right in pairwise(ordered))
