"""Numbers of the data spec that are out of their range, field by field, and limits of quality rules by what they measure."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from compiler.diagnostics import Faults
from compiler.parse import load
from compiler.spec import fields
from compiler.validate import review, validate
from compiler.validate.rules.limits import range_of
from runtime.contracts.rules import RULE_SETS

CLEAN, DEDUP, MIX = "data.pretrain.clean", "data.pretrain.dedup", "data.pretrain.mix"
RECIPE = "{kind: instruct, seeds: {path: data/raw/dialogues.jsonl}, prompt: specs/prompt/write.yaml, count: 9, generator: {%s}, %s}"
ENDPOINT = "base_url: https://llm.example.com/v1, model: m"


def codes(root: Path, *overrides: str) -> set[str]:
    try:
        validate(load(root, "good", list(overrides)))
    except Faults as faults:
        return {one.code for one in faults.diagnostics if one.severity == "error"}
    return set()


def of_recipe(endpoint: str = "", more: str = "score: null") -> str:
    return f"+data.synthetic.made={RECIPE % (f'{ENDPOINT}, {endpoint}' if endpoint else ENDPOINT, more)}"


@pytest.mark.parametrize(
    "override",
    [
        "data.pretrain.sources.handbook.weight=1e300",
        "data.instruct.sources.dialogues.weight=-1",
        "data.pretrain.ingest.bad_rows_max=1.5",
        f"+{CLEAN}.perplexity={{reference: data/raw/handbook, percentile: 90}}",
        f"+{CLEAN}.perplexity={{reference: data/raw/handbook, limit: 1}}",
        f"{DEDUP}.lines.min_length=0",
        f"{DEDUP}.documents.near.threshold=80",
        f"{DEDUP}.documents.near.threshold=0.01",
        f"{DEDUP}.documents.near.permutations=4",
        f"{DEDUP}.documents.near.ngram=1000",
        f"+{DEDUP}.decontaminate={{ngram: 1000}}",
        "+data.instruct.decontaminate={ngram: 1}",
        "+data.instruct.decontaminate={ngram: 1000}",
        "data.pretrain.split.overlap.ngram=2000",
        "data.pretrain.split.overlap.limit=10",
        "data.pretrain.split.validation=1",
        f"{MIX}.synthetic_max=75",
        f"{MIX}.epochs_max=0",
        "pack.shards=100000",
        of_recipe("timeout_seconds: 1.0e-9"),
        of_recipe("input_price: 1.0e+300"),
        of_recipe("temperature: -1"),
        of_recipe(more="budget: 1.0e+300"),
        of_recipe(more="sieve: {near: 0.001}"),
        of_recipe(more="sieve: {ngram: 1000}"),
    ],
)
def test_a_number_out_of_range_is_refused(override: str, project: Callable[..., Path]) -> None:
    assert codes(project(), override) == {"MS0205"}


def test_what_the_cases_change_is_sound_as_it_is(project: Callable[..., Path]) -> None:
    assert codes(project(), "pack.shards=1000", f"{DEDUP}.documents.near.ngram=100", "data.pretrain.sources.handbook.weight=1e12") == set()


def test_no_field_has_two_limits_on_one_side() -> None:
    """Of two, pydantic and the schema each take one, and not the same."""
    for path, _, info in fields():
        count = Counter(type(one).__name__ for one in info.metadata)
        assert all(count[side] < 2 for side in ("Ge", "Gt", "Le", "Lt")), path


def test_every_rule_has_a_range_that_holds_its_own_limit() -> None:
    for name, known in RULE_SETS.items():
        for rule, bound in {**known.lines, **known.documents}.items():
            assert range_of(rule, bound).holds(bound.limit), (name, rule)


@pytest.mark.parametrize(
    ("rules", "limits", "refused"),
    [
        ("gopher", "too_few_words: 0", False),
        ("gopher", "too_few_words: -5", True),
        ("gopher", "too_few_words: 30.5", True),
        ("gopher", "too_few_words: 3000000, too_many_words: null", True),
        ("gopher", "too_many_words: 0", True),
        ("gopher", "too_few_words: 200000", True),
        ("gopher", "too_few_words: 200000, too_many_words: 1.0e+12", False),
        ("gopher", "short_words: 3.5", False),
        ("gopher", "long_words: 2.5", True),
        ("gopher", "long_words: 2.5, short_words: null", False),
        ("gopher", "stop_words: 9", True),
        ("gopher", "bullet_lines: 90", True),
        ("gopher", "symbols_per_word: 3", False),
        ("gopher", "top_4_words: 1", False),
        ("c4", "line_end: 0", False),
        ("c4", "line_end: 2", True),
        ("c4", "curly_brackets: 3", False),
        ("c4", "line_words: -1", True),
        ("code", "alphanumeric_share: 25", True),
        ("code", "generated: null", False),
    ],
)
def test_a_limit_is_one_of_its_measure(rules: str, limits: str, refused: bool, project: Callable[..., Path]) -> None:
    root = project(f"data: {{pretrain: {{clean: {{rules: {{en: {rules}}}, limits: {{en: {{{limits}}}}}}}}}}}\n")
    try:
        validate(load(root, "try"))
        found = set[str]()
    except Faults as faults:
        found = {one.code for one in faults.diagnostics if one.severity == "error"}
    assert found == ({"MS0418"} if refused else set())


def test_text_that_the_tokenizer_is_trained_on_counts_where_it_is_less_than_the_mix(project: Callable[..., Path]) -> None:
    (fault,) = (one for one in review(load(project(), "good", ["tokenizer.training_bytes=9kB"])).warnings if one.code == "MS0394")
    assert "9000 bytes" in fault.message and "tokenizer.training_bytes" in fault.fix
