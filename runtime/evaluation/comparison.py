"""Comparing experiments with their baselines: pure functions over scores that were already read.

    Scores           what one experiment's evaluation says: values, and what each value depends on
    compare(...)     Scores x baselines x tolerances -> Comparison (one Row an experiment, one Cell a metric)

A difference is only shown where it means something. Values that other prompts, another evaluator, dtype, tokenizer or
text produced are 'not comparable', with the reason. Nats per token depend on the tokenizer; bits per byte do not.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

SLACK = 1e-9  # the difference of two decimals is not exact: 0.62 - 0.61 is more than 0.01

LOWER = ("perplexity", "bits_per_byte", "answer_loss", "core.answer_loss", "core.answer_bits_per_byte")
HIGHER = ("exact_match",)

ALWAYS = ("evaluator", "dtype")
NEEDS: Mapping[str, tuple[str, ...]] = {
    "perplexity": ("text_sha256", "tokenizer_sha256"),
    "bits_per_byte": ("text_sha256",),
    "answer_loss": ("held_out_sha256", "tokenizer_sha256"),
    "core.answer_loss": ("prompt_sha256", "tokenizer_sha256"),
    "core.answer_bits_per_byte": ("prompt_sha256",),
    "exact_match": ("prompt_sha256",),
}
REASONS = {
    "evaluator": "another evaluator version",
    "dtype": "another compute dtype",
    "prompt_sha256": "other prompts, template, references or answer limit",
    "tokenizer_sha256": "another tokenizer (per-token values; use bits per byte)",
    "text_sha256": "other held-out text",
    "held_out_sha256": "other held-out instruction rows",
}


class Verdict(StrEnum):
    """What a cell says. WORSE, UNDECIDED: a metric with a tolerance fails it, or cannot be judged by it."""

    BETTER = "better"
    SAME = "same"
    WORSE = "worse"
    UNDECIDED = "undecided"
    NOT_COMPARABLE = "not comparable"
    NOT_JUDGED = "not judged"
    NO_BASELINE = "no baseline"


@dataclass(frozen=True)
class Tolerance:
    """How much worse a metric may get: a share of the baseline, or in its own unit; the wider of the two holds."""

    relative: float | None = None
    absolute: float | None = None

    def allowance(self, baseline: float) -> float:
        """The largest loss that is still within the tolerance, in the metric's unit."""
        return max((self.relative or 0.0) * abs(baseline), self.absolute or 0.0)


@dataclass(frozen=True)
class Scores:
    """`values`: metric name -> number, None where it is not finite (`reasons` says why).

    `identity`: what the values depend on. `data_version`, `model_version`: of the experiment's record.
    """

    name: str
    values: Mapping[str, float | None]
    identity: Mapping[str, Any]
    reasons: Mapping[str, str] = field(default_factory=dict)
    data_version: Any = None
    model_version: Any = None


@dataclass(frozen=True)
class Settings:
    """How one experiment is judged. `baseline`: a name, or None for no comparison; `gate`: whether WORSE fails."""

    baseline: str | None = None
    gate: bool = False
    tolerance: Mapping[str, Tolerance] = field(default_factory=dict)


@dataclass(frozen=True)
class Cell:
    """One metric of one experiment; `delta` = value - baseline and `relative` = delta / |baseline| where they mean something."""

    metric: str
    direction: str
    value: float | None
    verdict: Verdict
    baseline: float | None = None
    delta: float | None = None
    relative: float | None = None
    allowed: float | None = None
    reason: str = ""


@dataclass(frozen=True)
class Row:
    """One experiment against its baseline."""

    scores: Scores
    settings: Settings
    cells: tuple[Cell, ...]

    @property
    def failing(self) -> tuple[Cell, ...]:
        """The cells that a gate does not let through."""
        return tuple(cell for cell in self.cells if cell.verdict in (Verdict.WORSE, Verdict.UNDECIDED))


@dataclass(frozen=True)
class Comparison:
    """All selected experiments, in the order of their selection."""

    rows: tuple[Row, ...]

    @property
    def metrics(self) -> tuple[str, ...]:
        """Every metric of some row, in the order of first appearance."""
        return tuple(dict.fromkeys(cell.metric for row in self.rows for cell in row.cells))

    @property
    def passes(self) -> bool:
        """Whether no experiment with a gate fails it."""
        return not any(row.failing for row in self.rows if row.settings.gate)


def direction(metric: str) -> str:
    """'lower' or 'higher' is better, also for a metric of the base model (`base.<metric>`). KeyError if unknown."""
    plain = metric.removeprefix("base.")
    if plain in LOWER:
        return "lower"
    if plain in HIGHER or plain.startswith("core.exact_match."):
        return "higher"
    raise KeyError(metric)


def needs(metric: str) -> tuple[str, ...]:
    """What must be equal in two experiments before their values of a metric may be compared."""
    plain = metric.removeprefix("base.")
    return (*ALWAYS, *NEEDS["exact_match" if plain.startswith("core.exact_match.") else plain])


def compare(selected: Sequence[Scores], baselines: Mapping[str, Scores], settings: Mapping[str, Settings]) -> Comparison:
    """Judge every selected experiment by its own settings; `baselines` holds every baseline that a setting names."""
    return Comparison(tuple(_row(scores, settings.get(scores.name, Settings()), baselines) for scores in selected))


def _row(scores: Scores, settings: Settings, baselines: Mapping[str, Scores]) -> Row:
    if settings.baseline == scores.name:
        settings = replace(settings, baseline=None)
    reference = None if settings.baseline is None else baselines[settings.baseline]
    absent = [metric for metric in settings.tolerance if metric not in scores.values] if reference else []
    cells = tuple(judge(metric, scores, reference, settings.tolerance.get(metric)) for metric in (*scores.values, *absent))
    return Row(scores, settings, cells)


def judge(metric: str, scores: Scores, reference: Scores | None, tolerance: Tolerance | None) -> Cell:
    """One metric against the baseline. A metric with a tolerance that cannot be compared is UNDECIDED, never passed over."""
    value, better = scores.values.get(metric), direction(metric)
    if reference is None:
        return Cell(metric, better, value, Verdict.NO_BASELINE, reason=scores.reasons.get(metric, ""))
    base = reference.values.get(metric)
    reason = _obstacle(metric, scores, reference)
    if value is None or base is None or reason:
        verdict = Verdict.NOT_COMPARABLE if tolerance is None else Verdict.UNDECIDED
        return Cell(metric, better, value, verdict, base, reason=reason)
    delta = value - base
    relative = delta / abs(base) if base else None
    allowed = None if tolerance is None else tolerance.allowance(base)
    return Cell(
        metric,
        better,
        value,
        _verdict(delta if better == "lower" else -delta, allowed, max(abs(value), abs(base))),
        base,
        delta,
        relative,
        allowed,
    )


def _verdict(loss: float, allowed: float | None, scale: float) -> Verdict:
    """`loss`: by how much the value is worse than the baseline; negative where it is better."""
    slack = SLACK * scale
    if allowed is None:
        return Verdict.NOT_JUDGED
    if loss > allowed + slack:
        return Verdict.WORSE
    return Verdict.BETTER if loss < -allowed - slack else Verdict.SAME


def _obstacle(metric: str, scores: Scores, reference: Scores) -> str:
    """Why two values must not be compared; empty where they may."""
    for side in (scores, reference):
        if metric not in side.values:
            return f"{side.name} has no such metric"
        if side.values[metric] is None:
            return f"not finite in {side.name}: {side.reasons.get(metric, 'no reason given')}"
    differing = [key for key in needs(metric) if scores.identity.get(key) != reference.identity.get(key)]
    return "; ".join(REASONS[key] for key in differing)


def as_dict(comparison: Comparison) -> dict[str, Any]:
    """The comparison as the content of `comparison.json`."""
    return {
        "passes": comparison.passes,
        "experiments": [
            {
                "name": row.scores.name,
                "baseline": row.settings.baseline,
                "gate": row.settings.gate,
                "data_version": row.scores.data_version,
                "model_version": row.scores.model_version,
                "identity": dict(row.scores.identity),
                "metrics": {cell.metric: _cell_dict(cell) for cell in row.cells},
            }
            for row in comparison.rows
        ],
    }


def _cell_dict(cell: Cell) -> dict[str, Any]:
    return {key: value for key, value in vars(cell).items() if (key != "metric" and value not in (None, "")) or key == "value"}


def from_dict(content: Mapping[str, Any]) -> Comparison:
    """The comparison that `as_dict` described. KeyError, TypeError or ValueError where it is not one."""
    rows = []
    for entry in content["experiments"]:
        cells = tuple(Cell(metric, **{**cell, "verdict": Verdict(cell["verdict"])}) for metric, cell in entry["metrics"].items())
        scores = Scores(
            entry["name"], {cell.metric: cell.value for cell in cells}, entry["identity"], {}, entry["data_version"], entry["model_version"]
        )
        rows.append(Row(scores, Settings(entry["baseline"], entry["gate"]), cells))
    return Comparison(tuple(rows))
