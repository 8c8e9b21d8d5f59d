"""Budgets, amounts of sources, topics: what contradicts itself is refused where it stands, and what holds is compiled."""

import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from compiler.diagnostics import Diagnostic, Faults
from compiler.lower.graph import plain, stated
from compiler.lower.parameters import BUILDERS
from compiler.parse import load
from compiler.source import dotted
from compiler.spec import Spec
from compiler.validate import review, validate
from compiler.validate.rules.data import repeated

ROOT = Path(__file__).parents[4]
MIX, FILTER = "data.pretrain.mix", "data.pretrain.filter"


def faults(*overrides: str) -> Iterable[Diagnostic]:
    with pytest.raises(Faults) as caught:
        review(load(ROOT, "demo", overrides))
    return caught.value.diagnostics


def spec(*overrides: str) -> Spec:
    return review(load(ROOT, "demo", overrides)).spec


@pytest.mark.parametrize(
    ("overrides", "code", "path"),
    [
        ([f"{MIX}.budget_tokens=1000000"], "MS0431", f"{MIX}.budget_tokens"),
        ([f"{MIX}.budget_bytes=null"], "MS0431", MIX),
        ([f"{MIX}.sources.poem.epochs=1"], "MS0432", f"{MIX}.sources.poem"),
        ([f"{MIX}.sources.poems={{epochs: 1, bytes: 1MB}}"], "MS0433", f"{MIX}.sources.poems"),
        ([f"{MIX}.sources.poems={{}}"], "MS0433", f"{MIX}.sources.poems"),
        ([f"{MIX}.sources.poems.epochs=2.5"], "MS0433", f"{MIX}.sources.poems"),
        ([f"{MIX}.sources.poems.epochs=1", "data.pretrain.sources.poems.weight=0"], "MS0433", f"{MIX}.sources.poems"),
        ([f"{MIX}.sources.poems.bytes=5MB", f"{MIX}.sources.handbook_en.bytes=1MB"], "MS0433", f"{MIX}.sources"),
        ([f"{FILTER}.keep_topics=[trade]"], "MS0434", f"{FILTER}.keep_topics[0]"),
        ([f"{FILTER}.topics.trade.none=[river]"], "MS0434", f"{FILTER}.topics.trade"),
        ([f"{FILTER}.topics.trade.any=[bank, ' ']"], "MS0434", f"{FILTER}.topics.trade"),
        (
            [f"{FILTER}.topics.trade.any=[bank]", f"{FILTER}.keep_topics=[trade]", f"{FILTER}.drop_topics=[trade]"],
            "MS0434",
            f"{FILTER}.drop_topics[0]",
        ),
        ([f"{FILTER}.topics.trade.patterns=['(open']"], "MS0326", f"{FILTER}.topics.trade.patterns[0]"),
        ([f"{FILTER}.deny=['a{{99999999999}}']"], "MS0326", f"{FILTER}.deny[0]"),
        ([f"{MIX}.temperature=0.001"], "MS0205", f"{MIX}.temperature"),
        ([f"{MIX}.budget_bytes=null", f"{MIX}.budget_tokens=1000000", f"{MIX}.bytes_per_token=1e-300"], "MS0205", f"{MIX}.bytes_per_token"),
        ([f"{MIX}.bytes_per_token_of.zh=1e300"], "MS0205", f"{MIX}.bytes_per_token_of.zh"),
        ([f"{FILTER}.topics.trade.any=[Bank, bank]"], "MS0330", f"{FILTER}.topics.trade.any[1]"),
        ([f"{FILTER}.classifier={{rows: data/none.jsonl, keep: [good]}}"], "MS0322", f"{FILTER}.classifier.rows"),
        ([f"{MIX}.budget_bytes=null", f"{MIX}.budget_tokens=100"], "MS0393", f"{MIX}.budget_tokens"),
    ],
)
def test_what_contradicts_itself_is_refused_where_it_stands(overrides: list[str], code: str, path: str) -> None:
    assert (code, path) in {(one.code, dotted(one.path)) for one in faults(*overrides)}


def test_a_filter_that_keeps_chinese_keeps_traditional_chinese() -> None:
    spec(f"{FILTER}.languages=[zh, en]", "data.pretrain.sources.poems.language=zh-Hant")
    with pytest.raises(Faults, match="MS0333"):
        spec(f"{FILTER}.languages=[zh-Hant, en]", "data.pretrain.sources.poems.language=zh-TW")


def test_a_list_of_very_many_keywords_is_looked_through_once() -> None:
    begun = time.process_time()
    assert len(list(repeated([*map(str, range(100_000)), "7"], ()))) == 1
    assert time.process_time() - begun < 1


def test_a_name_that_was_nearly_right_is_suggested() -> None:
    (fault,) = faults(f"{MIX}.sources.poem.epochs=1")
    assert fault.suggestion == "poems"


def compiled(stage: str, *overrides: str) -> dict[str, Any]:
    return plain(stated(BUILDERS[stage](spec(*overrides))))


def test_what_an_older_spec_says_compiles_to_what_it_did() -> None:
    assert set(compiled("mix")) == {"sources", "budget_bytes", "epochs_max", "synthetic_max", "seed"}
    assert set(compiled("filter")) == {"languages", "deny", "allow"}
    assert set(compiled("split")) == {"validation", "by", "seed"}


def test_amounts_and_topics_reach_their_stages() -> None:
    made = compiled("mix", f"{MIX}.sources.poems.tokens=1000", f"{MIX}.exhausted=rebalance")
    assert (made["sources"]["poems"]["tokens"], made["exhausted"]) == (1000, "rebalance")
    topics = compiled("filter", f"{FILTER}.topics.trade.any=[bank]", f"{FILTER}.keep_topics=[trade]")
    assert (topics["topics"], topics["keep_topics"]) == ({"trade": {"any": ["bank"]}}, ["trade"])


def test_the_small_twin_has_a_small_budget_of_tokens_and_no_amounts(project: Callable[[str], Path]) -> None:
    mix = "{budget_bytes: null, budget_tokens: 2000000000, sources: {handbook: {tokens: 1000000}}}"
    root = project(f"smoke: true\ndata: {{pretrain: {{mix: {mix}}}}}\n")
    small = validate(load(root, "try")).data.pretrain.mix
    assert (small.budget_tokens, small.sources) == (150_000, {})
