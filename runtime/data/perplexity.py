"""Drop documents whose perplexity is high for their language.

The share of a language that is dropped is known when all of its documents are scored, so the parts are passed twice. The first
pass cleans and scores; the second drops. Between them stand the scores of each language as a histogram in steps of a
ten-thousandth of the logarithm to base 10: a few hundred kilobytes whatever the corpus, and the same for any number of
workers. A document on the threshold stays.
"""

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runtime import engine, records
from runtime.contracts.clean import Clean, Perplexity
from runtime.contracts.counting import counted
from runtime.data import language_model, parts
from runtime.data.funnel import Funnel
from runtime.data.language import primary
from runtime.data.parts import Keep
from runtime.records import Record
from runtime.stage import Stage

MODELS = "sieve"
REASON = "perplexity"
_STEPS = 10_000  # of one unit of the logarithm
_SCORE = "_surprise"  # of a record between the passes
_SCORES = "perplexity "  # and a language: the name of its scores among what is counted
_UNSCORED = "unscored"


@dataclass(frozen=True)
class Scored:
    """What the first pass knows: how documents are cleaned, and the models of the languages that have one."""

    parameters: Clean
    models: dict[str, Path]
    passed: "Keep[Clean]"


@dataclass(frozen=True)
class Second:
    """One part of the second pass. thresholds: of each language, in steps."""

    source: Path
    target: Path
    thresholds: dict[str, int]


def sifted(stage: Stage[Clean], folder: str, passed: "Keep[Clean]") -> tuple[Funnel, dict[str, Any]]:
    """Clean and sieve the parts of a folder; what was counted, and what to tell in the metrics.

    Raises EnvironmentFault where KenLM is not there.
    """
    settings = stage.parameters.perplexity
    assert settings
    models = {path.stem: path for path in sorted(stage.input(MODELS).glob(f"*{language_model.SUFFIX}"))}
    for path in models.values():
        language_model.load(path)
    between = stage.scratch / "scored"
    funnel = parts.sift(stage, folder, scored, between, Scored(stage.parameters, models, passed))
    thresholds = {name: _threshold(funnel.note(f"{_SCORES}{name}"), settings) for name in models}
    thresholds = {name: value for name, value in thresholds.items() if value is not None}
    tasks = [Second(path, stage.out / path.name, thresholds) for path in records.parts(between)]
    with stage.bar(funnel.total.documents_in - funnel.total.dropped.total(), "documents", f"{stage.contract.name} by perplexity") as bar:
        for more in engine.each(_second, tasks, stage.placement):
            bar.advance(more.total.documents_out + more.total.dropped.total())
            funnel.add(more)
    return funnel, _told(stage, funnel, thresholds)


def scored(documents: Iterator[Record], task: Scored, funnel: Funnel) -> Iterator[Record]:
    """The cleaned documents, each with its score in its meta where its language has a model."""
    for record in task.passed(documents, task.parameters, funnel):
        name = primary(record.language)
        surprise = language_model.load(task.models[name]).surprise(record.text) if name in task.models else None
        if surprise is None:
            funnel.note(_UNSCORED)[record.language or ""] += 1
            yield record
        else:
            step = round(surprise * _STEPS)
            funnel.note(f"{_SCORES}{name}")[step] += 1
            record.meta[_SCORE] = step
            yield record


def threshold(scores: Counter[int], share: float) -> int:
    """The lowest score that at least `share` of all scores do not exceed."""
    rank, below = math.ceil(share * scores.total()), 0
    for score in sorted(scores):
        below += scores[score]
        if below >= rank:
            return score
    raise ValueError("no scores")


def _threshold(scores: Counter[int], settings: Perplexity) -> int | None:
    """The lower one of percentile and limit; None where nothing is dropped."""
    of_share = threshold(scores, settings.percentile) if settings.percentile is not None and scores else None
    of_limit = math.floor(math.log10(settings.limit) * _STEPS) if settings.limit is not None else None
    return min((one for one in (of_share, of_limit) if one is not None), default=None)


def _second(task: Second) -> Funnel:
    funnel = Funnel()
    records.write_part(task.target, (vars(record) for record in _below(records.read_part(task.source), task.thresholds, funnel)))
    return funnel


def _below(documents: Iterator[Record], thresholds: dict[str, int], funnel: Funnel) -> Iterator[Record]:
    for record in documents:
        score, most = record.meta.pop(_SCORE, None), thresholds.get(primary(record.language))
        if score is not None and most is not None and score > most:
            funnel.drop(record, REASON)
        else:
            yield funnel.keep(record)


def _told(stage: Stage[Clean], funnel: Funnel, thresholds: dict[str, int]) -> dict[str, Any]:
    unscored = dict(sorted(funnel.note(_UNSCORED).items()))
    perplexity = {name: round(10 ** (step / _STEPS), 2) for name, step in thresholds.items()}
    warnings = _warnings(unscored)
    for warning in warnings:
        stage.terminal.say(f"warning: {warning}")
    return {"perplexity": {"thresholds": perplexity, _UNSCORED: unscored}, **({"warnings": warnings} if warnings else {})}


def _warnings(unscored: dict[str, int]) -> list[str]:
    """One sentence, however many languages the reference lacks."""
    if not unscored:
        return []
    names = ", ".join(name or "no known language" for name in unscored)
    lacks = "it" if len(unscored) == 1 else "them"
    return [f"not scored: {counted(sum(unscored.values()), 'document')} in {names}; the reference has no text in {lacks}"]
