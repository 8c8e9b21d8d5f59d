"""One recipe, from seeds to rows: ask, read, sieve, judge, until there are enough rows or nothing more may be asked.

Rows are made in rounds: as many requests as rows are missing, then the judgement on what passed the sieve, which costs nothing
and so comes first. Which requests are sent follows from the settings and the answers alone. Memory: all rows of the recipe.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from runtime.contracts import synthesize
from runtime.data.ordering import rank
from runtime.data.synthetic import judgement, prompts, rows
from runtime.data.synthetic.asking import Asker
from runtime.data.synthetic.checkpoint import LocalAsker
from runtime.data.synthetic.exchange import BILLION, Answer, Price, Request, question
from runtime.data.synthetic.prompts import Prompt
from runtime.data.synthetic.seeds import Row, drawn
from runtime.data.synthetic.sieve import Candidate, Gate
from runtime.terminal import Bar

ROUND = 1000  # requests of one round, at most
SEEDS = 2**31  # endpoints take a seed of 32 bits, some a signed one
LOW_SCORE, NOT_SCORED, SURPLUS = "low_score", "not_scored", "surplus"
EXAMPLES, SHOWN = 20, 200  # dropped rows that are shown for each reason, and characters of each


@dataclass(frozen=True)
class Made:
    """A row of the result."""

    candidate: Candidate
    score: float | None


@dataclass
class Batch:
    """What a recipe made, and everything that it asked. `ended`: count, requests, budget or replay."""

    made: list[Made] = field(default_factory=list)
    written: list[tuple[Request, Answer]] = field(default_factory=list)
    judged: list[tuple[Request, Answer]] = field(default_factory=list)
    steps: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)
    examples: list[dict[str, Any]] = field(default_factory=list)
    ended: str = "count"

    def drop(self, reason: str, name: str, text: str, **more: float) -> None:
        """Count a row, or an answer, that gives none, and keep the first few of each reason to look at; `more`: figures of the row."""
        self.dropped[reason] += 1
        if self.dropped[reason] <= EXAMPLES:
            self.examples.append({"id": name, "reason": reason, **more, "text": text[:SHOWN]})


@dataclass(frozen=True)
class Kitchen:
    """A recipe with everything that it needs. `seed`: of the experiment."""

    name: str
    recipe: synthesize.Recipe
    seeds: list[Row]
    writing: Prompt
    judging: Prompt | None
    writer: Asker | LocalAsker
    judge: Asker | LocalAsker
    seed: int

    def cook(self, bar: Bar) -> Batch:
        """Ask until there are enough rows. Raises StageFault where the model cannot be asked."""
        batch, gate = Batch(), Gate(self.recipe.sieve, self.seeds)
        while len(batch.made) < self.recipe.count and batch.ended == "count":
            self._round(batch, gate, bar)
        return batch

    def _round(self, batch: Batch, gate: Gate, bar: Bar) -> None:
        start, missing = len(batch.written), self.recipe.count - len(batch.made)
        numbers = range(start, min(start + min(missing, ROUND), self.recipe.requests_max))
        if not numbers:
            batch.ended = "requests"
            return
        requests = [self.question(number) for number in numbers]
        answers, ended = self.writer.ask(requests, bar)
        batch.written += zip(requests, answers, strict=False)
        passed = [one for one in self._read(batch, start) if self._passes(one, gate, batch)]
        judged, unjudged = self._judged(passed, batch, bar)
        batch.ended = ended or unjudged or "count"
        for one in judged:
            if len(batch.made) < self.recipe.count:
                batch.made.append(one)
            else:
                self._drop(batch, SURPLUS, one.candidate)
        bar.note(f"{len(batch.made):,} of {self.recipe.count:,} rows")

    def question(self, number: int) -> Request:
        """The request `number`: its seeds, and its own seed, follow from the number."""
        shown = [self.seeds[index] for index in self.shown(number)]
        seed = rank(self.seed, "write", self.name, number) % SEEDS
        return question(self.recipe.generator, self.writing.filled(prompts.examples(shown)), seed, number)

    def shown(self, number: int) -> list[int]:
        """Numbers of the seeds that a request shows."""
        return drawn(len(self.seeds), self.recipe.examples, self.seed, "seeds", self.name, number)

    def _read(self, batch: Batch, start: int) -> Iterator[Candidate]:
        """The rows in the answers from `start` on."""
        for number, (request, answer) in enumerate(batch.written[start:], start):
            batch.steps["answers"] += 1
            if answer.content is None:
                batch.drop(answer.trouble or "no_text", str(number), "")
                continue
            found, reasons = rows.parsed(self.recipe.kind, answer.content)
            for reason in reasons:
                batch.drop(reason, str(number), answer.content)
            prompt = "\n".join(message["content"] for message in request.body["messages"])
            for place, row in enumerate(found):
                batch.steps["parsed"] += 1
                yield Candidate(row, number, place, request.key, tuple(self.shown(number)), prompt)

    def _passes(self, candidate: Candidate, gate: Gate, batch: Batch) -> bool:
        reason = gate.refusal(candidate)
        if reason:
            self._drop(batch, reason, candidate)
        else:
            batch.steps["sieved"] += 1
        return reason is None

    def _judged(self, candidates: list[Candidate], batch: Batch, bar: Bar) -> tuple[list[Made], str | None]:
        """The rows that a judge lets pass, all where there is none; and why not all were judged."""
        score = self.recipe.score
        if score is None or self.judging is None:
            return [Made(one, None) for one in candidates], None
        requests = [self.verdict(one, self.judging) for one in candidates]
        answers, ended = self.judge.ask(requests, bar)
        batch.judged += zip(requests, answers, strict=False)
        made = list[Made]()
        for one, answer in zip(candidates, answers, strict=False):
            batch.steps["judged"] += 1
            value = judgement.score_of(answer.content) if answer.content is not None else None
            if value is None:
                self._drop(batch, NOT_SCORED, one)
            elif value < score.threshold:
                self._drop(batch, LOW_SCORE, one, score=value, threshold=score.threshold)
            else:
                made.append(Made(one, value))
        for one in candidates[len(answers) :]:
            self._drop(batch, NOT_SCORED, one)
        return made, ended

    def verdict(self, candidate: Candidate, judging: Prompt) -> Request:
        """The question what a row is worth."""
        settings = (self.recipe.score and self.recipe.score.generator) or self.recipe.generator
        values = {"row": prompts.shown(candidate.row), **candidate.row}
        seed = rank(self.seed, "judge", self.name, candidate.name) % SEEDS
        return question(settings, judging.filled(values), seed, 0, sampled=False)

    def _drop(self, batch: Batch, reason: str, candidate: Candidate, **more: float) -> None:
        batch.drop(reason, candidate.name, rows.whole(candidate.row), **more)


def summary(recipe: synthesize.Recipe, batch: Batch) -> dict[str, Any]:
    """The metrics of a recipe: a function of the answers, whatever this run had to ask for them.

    `tokens.not_counted`: answers whose tokens the endpoint did not tell; `cost` is in the currency of the prices, None without prices.
    """
    judge = (recipe.score and recipe.score.generator) or recipe.generator
    parts = ((batch.written, recipe.generator), (batch.judged, judge))
    answers = [answer for exchanges, _ in parts for _, answer in exchanges]
    scores = [one.score for one in batch.made if one.score is not None]
    return {
        "wanted": recipe.count,
        "rows": len(batch.made),
        "ended": batch.ended,
        "requests": {"write": len(batch.written), "judge": len(batch.judged)},
        "steps": {step: batch.steps[step] for step in ("answers", "parsed", "sieved", "judged")},
        "dropped": dict(sorted(batch.dropped.items())),
        "tokens": {
            "input": sum(answer.input_tokens or 0 for answer in answers),
            "output": sum(answer.output_tokens or 0 for answer in answers),
            "not_counted": sum(answer.input_tokens is None or answer.output_tokens is None for answer in answers),
        },
        "cost": _cost(parts),
        "score_mean": round(sum(scores) / len(scores), 4) if scores else None,
    }


def _cost(parts: tuple[tuple[list[tuple[Request, Answer]], synthesize.Endpoint], ...]) -> float | None:
    if any(settings.input_price is None or settings.output_price is None for exchanges, settings in parts if exchanges):
        return None
    paid = {
        request.key: Price(settings.input_price, settings.output_price).of(request, answer, settings.max_tokens)
        for exchanges, settings in parts
        for request, answer in exchanges
    }
    return sum(paid.values()) / BILLION
