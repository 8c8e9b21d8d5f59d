"""What the evaluation says, arranged for reading: metrics of both models, groups of core cases, example answers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from runtime.report.evidence import Evidence, Quantity

EXAMPLES_PER_GROUP = 2
MODELS = ("base", "merged")


@dataclass(frozen=True)
class Metric:
    """How a metric is read. `path`: where the scores of a model keep it; `headline`: shown even where it was not computed."""

    key: str
    kind: str
    lower_is_better: bool
    path: tuple[str, ...]
    headline: bool = False


METRICS = (
    Metric("bits_per_byte", "loss", True, ("bits_per_byte",), headline=True),
    Metric("perplexity", "loss", True, ("perplexity",)),
    Metric("answer_loss", "loss", True, ("answer_loss",), headline=True),
    Metric("core_answer_loss", "loss", True, ("core", "answer_loss")),
    Metric("core_answer_bits_per_byte", "loss", True, ("core", "answer_bits_per_byte")),
    Metric("exact_match", "share", False, ("exact_match",), headline=True),
)


@dataclass(frozen=True)
class Row:
    """One metric of the unigram baseline, the base and the merged model; `name` is a metric's key or a group's name."""

    name: str
    kind: str
    lower_is_better: bool
    unigram: Quantity
    base: Quantity
    merged: Quantity

    @property
    def difference(self) -> Quantity:
        """Merged minus base."""
        if self.base.value is None or self.merged.value is None:
            return Quantity()
        return Quantity(self.merged.value - self.base.value)

    @property
    def scale(self) -> float:
        """The value that a full bar stands for: 1 for a share, else the greatest of the three."""
        values = [one.value for one in (self.unigram, self.base, self.merged) if one.value is not None]
        return 1.0 if self.kind == "share" else max(values, default=0) or 1.0

    @property
    def margin(self) -> Quantity:
        """How far the base model is below the unigram baseline, as a share of the baseline."""
        if self.base.value is None or not self.unigram.value:
            return Quantity()
        return Quantity(1 - self.base.value / self.unigram.value)

    @property
    def verdict(self) -> str:
        """better | worse | same, from base to merged; empty where either is missing."""
        change = self.difference.value
        if change is None:
            return ""
        return "same" if change == 0 else "better" if (change < 0) == self.lower_is_better else "worse"


@dataclass(frozen=True)
class Group:
    """One group of core cases."""

    name: str
    cases: Quantity
    exact_match: Row
    answer_loss: Row


@dataclass(frozen=True)
class Answer:
    """What a model answered, whether that is the reference, and whether it ended by itself; None where it was not asked."""

    text: str | None
    correct: bool | None
    ended: bool | None


@dataclass(frozen=True)
class Example:
    """One core case with the answers of both models."""

    id: str
    group: str
    prompt: str
    reference: str
    base: Answer
    merged: Answer


def rows(evidence: Evidence) -> tuple[Row, ...]:
    """The metrics of the whole evaluation; of those that no model has, only the headline ones."""
    made = ((metric, row(evidence, metric)) for metric in METRICS)
    return tuple(one for metric, one in made if metric.headline or any(found or found.reason for found in (one.base, one.merged)))


def headlines(evidence: Evidence) -> dict[str, Row]:
    """The rows that stand at the top of the page, by the key of their metric."""
    return {metric.key: row(evidence, metric) for metric in METRICS if metric.headline}


def row(evidence: Evidence, metric: Metric) -> Row:
    """One metric, read for the baseline and both models."""
    base, merged = (evidence.quantity("evaluate", model, *metric.path) for model in MODELS)
    return Row(metric.key, metric.kind, metric.lower_is_better, unigram(evidence, metric.key), base, merged)


def unigram(evidence: Evidence, key: str) -> Quantity:
    """The baseline that knows frequencies alone, as the evaluation repeats it or as packing measured it."""
    repeated = evidence.quantity("evaluate", "unigram", key)
    return repeated if repeated or repeated.reason else evidence.quantity("pack-pretrain", "unigram", key)


def groups(evidence: Evidence) -> tuple[Group, ...]:
    """Core cases by group, in the order of the evaluation."""
    names = dict.fromkeys(name for model in MODELS for name in evidence.metric("evaluate", model, "core", "groups") or {})
    return tuple(_group(evidence, name) for name in names)


def _group(evidence: Evidence, name: str) -> Group:
    def both(key: str) -> list[Quantity]:
        return [evidence.quantity("evaluate", model, "core", "groups", name, key) for model in MODELS]

    match = Row(name, "share", False, Quantity(), *both("exact_match"))
    return Group(name, both("cases")[0], match, Row(name, "loss", True, Quantity(), *both("answer_loss")))


def examples(evidence: Evidence) -> tuple[Example, ...]:
    """Two cases of every group: one that the merged model answers right and one it does not, where there are both."""
    by_group: dict[str, list[Example]] = {}
    for case in evidence.predictions:
        by_group.setdefault(str(case["group"]), []).append(_example(case))
    return tuple(example for cases in by_group.values() for example in _chosen(cases))


def _chosen(cases: list[Example]) -> list[Example]:
    right = [case for case in cases if case.merged.correct]
    wrong = [case for case in cases if not case.merged.correct]
    mixed = right[:1] + wrong[:1] if right and wrong else cases[:EXAMPLES_PER_GROUP]
    return sorted(mixed, key=cases.index)


def _example(case: Mapping[str, Any]) -> Example:
    base, merged = (_answer(case.get(model) or {}) for model in MODELS)
    return Example(str(case["id"]), str(case["group"]), str(case.get("prompt", "")), str(case.get("reference", "")), base, merged)


def _answer(told: Mapping[str, Any]) -> Answer:
    return Answer(told.get("answer"), told.get("exact_match"), told.get("ended"))
