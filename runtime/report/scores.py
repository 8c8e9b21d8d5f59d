"""What the evaluation says, arranged for reading: metrics of both models, groups of core cases, example answers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from runtime.report.evidence import Evidence, Quantity, quantity, value_at

EXAMPLES_PER_GROUP = 2
NOT_GROUPS = ("all", "overall", "total")


@dataclass(frozen=True)
class Metric:
    """How a metric is found and read. `paths`: where evaluations keep it, the first that is there counts."""

    key: str
    kind: str
    lower_is_better: bool
    paths: tuple[tuple[str, ...], ...]


METRICS = (
    Metric("bits_per_byte", "loss", True, (("bits_per_byte",),)),
    Metric("perplexity", "loss", True, (("perplexity",),)),
    Metric("answer_loss", "loss", True, (("answer_loss",),)),
    Metric("core_answer_loss", "loss", True, (("core", "answer_loss"), ("core_answer_loss",))),
    Metric("core_answer_bits_per_byte", "loss", True, (("core", "answer_bits_per_byte"), ("core_answer_bits_per_byte",))),
    Metric("exact_match", "share", False, (("exact_match",),)),
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
    """What a model answered; `correct` None where the evaluation does not say."""

    text: str | None
    correct: bool | None


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
    """The metrics of the whole evaluation; those that no model has are left out, but for the headline ones."""
    made = (row(evidence, metric) for metric in METRICS)
    return tuple(one for one in made if one.base or one.merged or one.name in ("bits_per_byte", "answer_loss", "exact_match"))


def row(evidence: Evidence, metric: Metric) -> Row:
    """One metric, read for the three models."""
    models = (find(evidence, model, metric.paths) for model in ("base", "merged"))
    return Row(metric.key, metric.kind, metric.lower_is_better, unigram(evidence, metric.key), *models)


def headline(evidence: Evidence, key: str) -> Row:
    """The row of one metric by its key."""
    return row(evidence, next(metric for metric in METRICS if metric.key == key))


def find(evidence: Evidence, model: str, paths: tuple[tuple[str, ...], ...]) -> Quantity:
    """A metric of one model, at the first path where it was measured."""
    found = [evidence.quantity("evaluate", model, *path) for path in paths]
    return next((one for one in found if one or one.reason), Quantity())


def unigram(evidence: Evidence, key: str) -> Quantity:
    """The baseline that knows frequencies alone, as the evaluation repeats it or as packing measured it."""
    repeated = evidence.quantity("evaluate", "unigram", key)
    return repeated if repeated or repeated.reason else evidence.quantity("pack-pretrain", "unigram", key)


def groups(evidence: Evidence) -> tuple[Group, ...]:
    """Core cases by group, in the order of the evaluation."""
    names = dict.fromkeys(name for model in ("merged", "base") for name in _group_table(evidence, model) if name not in NOT_GROUPS)
    return tuple(_group(evidence, name) for name in names)


def _group_table(evidence: Evidence, model: str) -> Mapping[str, Any]:
    tables = (evidence.metric("evaluate", model, *path) for path in (("groups",), ("core", "groups"), ("core", "exact_match")))
    return next((table for table in tables if isinstance(table, Mapping)), {})


def _group(evidence: Evidence, name: str) -> Group:
    entries = {model: _group_table(evidence, model).get(name) for model in ("base", "merged")}
    cases = next((found for model in entries for key in ("cases", "count") if (found := _number(entries[model], key))), Quantity())
    counted = sum(1 for case in evidence.predictions if case.get("group") == name)
    matches = [_number(entry, "exact_match") if isinstance(entry, Mapping) else _plain(entry) for entry in entries.values()]
    losses = [_number(entry, "answer_loss") for entry in entries.values()]
    return Group(
        name,
        cases or Quantity(counted or None),
        Row(name, "share", False, Quantity(), *matches),
        Row(name, "loss", True, Quantity(), *losses),
    )


def _number(entry: Any, key: str) -> Quantity:
    return quantity(entry, key)


def _plain(value: Any) -> Quantity:
    return Quantity(value) if isinstance(value, int | float) and not isinstance(value, bool) else Quantity()


def examples(evidence: Evidence) -> tuple[Example, ...]:
    """The first cases of every group, one that the merged model answers right and one it does not, where there are both."""
    by_group: dict[str, list[Example]] = {}
    for case in evidence.predictions:
        by_group.setdefault(str(case.get("group", "")), []).append(_example(case))
    return tuple(example for cases in by_group.values() for example in _chosen(cases))


def _chosen(cases: list[Example]) -> list[Example]:
    right = [case for case in cases if case.merged.correct]
    wrong = [case for case in cases if not case.merged.correct]
    mixed = right[:1] + wrong[:1] if right and wrong else cases[:EXAMPLES_PER_GROUP]
    return sorted(mixed, key=lambda case: cases.index(case))


def _example(case: Mapping[str, Any]) -> Example:
    reference = str(case.get("reference", ""))
    prompt = case.get("prompt", case.get("instruction", ""))
    return Example(str(case.get("id", "")), str(case.get("group", "")), str(prompt), reference, _answer(case, "base"), _answer(case, "merged"))


def _answer(case: Mapping[str, Any], model: str) -> Answer:
    told = case.get(model, case.get(f"{model}_answer"))
    if isinstance(told, Mapping):
        text, correct = value_at(told, "answer"), told.get("exact_match", told.get("correct"))
    else:
        text, correct = told, case.get(f"{model}_exact_match", case.get(f"{model}_correct"))
    return Answer(None if text is None else str(text), None if correct is None else bool(correct))
