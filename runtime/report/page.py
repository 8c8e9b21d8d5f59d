"""The HTML page: what is read from the experiment, put through the templates."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from runtime.report import curves, examples, formatting, funnel, histograms, lineage, rows, scores, texts
from runtime.report.evidence import CURVES, Evidence, Quantity
from runtime.report.record import tokens_seen
from runtime.report.training import training
from runtime.stage import JSON

TEMPLATES = Path(__file__).parent / "templates"
COLOURS = 16
SECTIONS = ("results", "training", "data", "tokenizer", "evaluation", "settings", "lineage", "environment", "record")


def render(evidence: Evidence, record: JSON) -> str:
    """The whole page. It refers to nothing outside itself, and the same experiment gives the same bytes."""
    words = texts.Texts(evidence.presentation.get("languages") or tuple(texts.LANGUAGES))
    return environment(words).get_template("report.html.j2").render(content(evidence, record))


def environment(words: texts.Texts) -> Environment:
    """Jinja that escapes everything, knows no undefined name, and makes foreign text fit for HTML."""
    made = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        keep_trailing_newline=True, finalize=_fit,
    )  # fmt: skip
    made.globals.update(t=words, languages=[(code, texts.TAGS[code], texts.LANGUAGES[code]) for code in words.languages], colours=COLOURS)
    made.filters.update({name: _number_filter(name, words) for name in formatting.FORMATS}, signed=formatting.signed)
    return made


def _fit(value: Any) -> Any:
    return type(value)(formatting.visible(str(value))) if isinstance(value, str) else value


def _number_filter(kind: str, words: texts.Texts) -> Any:
    """A filter for a Quantity, a number or None."""

    def show(value: Quantity | float | None) -> str | Markup:
        found = value if isinstance(value, Quantity) else Quantity(value)
        if found.value is not None:
            return formatting.FORMATS[kind](found.value)
        missing = words.reason(found.reason) if found.reason else words("not_computed")
        return Markup('<span class="missing">{}</span>').format(missing)

    return show


def content(evidence: Evidence, record: JSON) -> dict[str, Any]:
    """What the templates are given."""
    told = {stage: training(evidence, stage) for stage in CURVES}
    made = funnel.funnel(evidence)
    return {
        "sections": SECTIONS,
        "experiment": evidence.experiment,
        "title": evidence.presentation.get("title") or evidence.experiment,
        "description": evidence.presentation.get("description") or "",
        "evaluated": "evaluate" in evidence.metrics,
        "headline": scores.headlines(evidence),
        "facts": facts(evidence),
        "trainings": told,
        "tokens": {stage: tokens_seen(evidence, stage) for stage in told},
        "charts": {stage: curves.charts(curve) for stage, curve in evidence.curves.items()},
        "steps": {stage: len(curve.step) for stage, curve in evidence.curves.items()},
        "funnel": made,
        "funnel_drawing": funnel.drawing(made),
        "mixed": "mix" in evidence.metrics,
        "mix": funnel.mix(evidence),
        "histograms": histograms.histograms(evidence),
        "dropped_examples": examples.dropped(evidence),
        "duplicate_groups": examples.groups(evidence),
        "warnings": rows.warnings(evidence),
        "packed": rows.packed(evidence),
        "instructions": rows.instructions(evidence),
        "sources": record["data_version"]["sources"],
        "instruct_sources": record["data_version"]["instruct_sources"],
        "tokenizer": tokenizer_facts(evidence),
        "scores": scores.rows(evidence),
        "groups": scores.groups(evidence),
        "examples": scores.examples(evidence),
        "identity": {key: evidence.metric("evaluate", key) for key in ("evaluator", "prompt_sha256", "dtype")},
        "architecture": record["model_version"],
        "lineage": lineage.lineage(evidence),
        "versions": record["environment"],
        "numerics": record["numerics"],
        "record": json.dumps(record, ensure_ascii=False, allow_nan=False, indent=2),
        "metrics": {stage: tuple(flat(tree)) for stage, tree in evidence.metrics.items()},
    }


def facts(evidence: Evidence) -> list[tuple[str, Quantity, str]]:
    """The figures under the headline: text, number, format."""
    steps = [evidence.quantity(stage, "steps").value for stage in CURVES]
    tokens = [tokens_seen(evidence, stage) for stage in CURVES]
    return [
        ("parameters", evidence.quantity("pretrain", "parameters"), "short"),
        ("tokens_trained", _sum(tokens), "short"),
        ("steps", _sum(steps), "count"),
        ("vocabulary", Quantity(evidence.setting("tokenizer", "vocab_size")), "count"),
        ("corpus", evidence.quantity("mix", "bytes_out"), "size"),
    ]


def tokenizer_facts(evidence: Evidence) -> JSON:
    """Settings of the tokenizer; bytes of held-out text that one token stands for; tokens of each source that are trained on."""
    by_source = evidence.metric("tokenizer", "validation_by_source") or {}
    packed = evidence.metric("pack-pretrain", "train_by_source") or {}
    return {
        **{key: evidence.setting("tokenizer", key) for key in ("kind", "model_type", "vocab_size", "character_coverage", "byte_fallback")},
        "special_tokens": _special(evidence.setting("tokenizer", "special_tokens")),
        "bytes_per_token": evidence.quantity("tokenizer", "validation", "bytes_per_token"),
        "byte_fallback_rate": evidence.quantity("tokenizer", "validation", "byte_fallback_rate"),
        "without_piece": evidence.quantity("tokenizer", "characters", "without_piece"),
        "missing_characters": evidence.metric("tokenizer", "characters", "most_frequent_without_piece") or "",
        "sources": {
            name: (
                evidence.quantity("tokenizer", "validation_by_source", name, "bytes_per_token"),
                evidence.quantity("pack-pretrain", "train_by_source", name, "tokens"),
            )
            for name in dict.fromkeys((*by_source, *packed))
        },
    }


def _special(tokens: Mapping[str, Any] | None) -> list[str]:
    told = tokens or {}
    named = [str(value) for key, value in told.items() if key not in ("user", "ids")]
    return list(dict.fromkeys([*named, *told.get("user", ()), *told.get("ids", ())]))


def flat(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Every leaf of a metrics file under its dotted name, as JSON writes it."""
    for key, value in tree.items():
        if isinstance(value, Mapping):
            yield from flat(cast(Mapping[str, Any], value), f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _sum(values: list[float | int | None]) -> Quantity:
    present = [value for value in values if value is not None]
    return Quantity(sum(present)) if present else Quantity()
