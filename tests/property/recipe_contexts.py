"""What fields of a recipe need to take another value: a recipe, and a source that uses it."""

from collections.abc import Mapping
from typing import Any

from compiler.spec import fields
from compiler.spec.data.synthetic import Recipe
from tests.property.mutation import Context

Values = dict[str, Any]

HERE = "data.synthetic.*"
_ENDPOINT: Values = {"base_url": "https://llm.example.com/v1", "model": "writer", "input_price": 1.0, "output_price": 2.0}
_RECIPE: Values = {
    "kind": "instruct",
    "seeds": {"path": "data/second.jsonl"},
    "prompt": "specs/prompt/write-instructions.yaml",
    "count": 100,
    "generator": _ENDPOINT,
    "score": {"prompt": "specs/prompt/judge-instructions.yaml", "generator": _ENDPOINT},
    "budget": 5.0,
    "transcript": "data/evaluation/core.jsonl",
}
_LOCAL: Values = {"kind": "checkpoint", "base_url": None, "model": None, "checkpoint": "data/raw/poems"}
_TEXTS: Values = {**_RECIPE, "kind": "text", "seeds": {"path": "data/second.jsonl", "format": "jsonl", "field": "text"}}


def _given(recipe: Values, corpus: str, source: Values) -> Values:
    made = Recipe.model_validate(recipe).model_dump(mode="json")
    return {"data.synthetic": {"made": made}, f"data.{corpus}.sources": {"made": {"path": "recipe:made", **source}}}


ROWS = _given(_RECIPE, "instruct", {"format": "alpaca"})
TEXTS = _given(_TEXTS, "pretrain", {"format": "jsonl", "text_field": "text", "synthetic": True, "weight": 0.01})
OTHERS: Values = {
    "seeds.path": "data/raw/instruct",
    "seeds.format": "messages",
    "prompt": "specs/prompt/write-texts.yaml",
    "score.prompt": "specs/prompt/judge-texts.yaml",
    "sieve.languages": ["de"],
    "transcript": "data/raw/instruct/poems.jsonl",
}

RECIPES: Mapping[str, Context] = {
    **{one.path: Context(given=ROWS) for one in fields() if one.path.startswith(f"{HERE}.")},
    **{f"{HERE}.{name}": Context(given=ROWS, to=value) for name, value in OTHERS.items()},
    f"{HERE}.seeds.field": Context(given=TEXTS, to="body"),
    **{
        f"{HERE}.{model}.checkpoint": Context(
            given={**ROWS, **{f"{HERE}.{model}.{name}": value for name, value in _LOCAL.items()}}, to="data/raw/instruct"
        )
        for model in ("generator", "score.generator")
    },
}

# Another kind needs another source, or another way to name a model.
ALONE = (f"{HERE}.kind", f"{HERE}.generator.kind", f"{HERE}.score.generator.kind")
