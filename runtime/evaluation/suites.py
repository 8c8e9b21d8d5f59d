"""What one model is asked, and the scores it gets. The questions are the same for every model."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from runtime.evaluation import generation, perplexity
from runtime.evaluation.generation import Answer, Window
from runtime.evaluation.held_out import Rows
from runtime.evaluation.perplexity import Loss, total
from runtime.evaluation.questions import Question
from runtime.evaluation.scoring import exact_match

ROWS = 16
WIDTH_STEP = 16  # windows of few different widths, so that a slightly longer case compiles no other graph
DIGITS = 6
NOT_COMPUTED = "not computed: no case has a reference"
JSON = dict[str, Any]


class Model(Protocol):
    """What a suite needs of a language model."""

    def logits(self, ids: NDArray[np.integer]) -> NDArray[np.floating]:
        """ids (rows, length) -> logits (rows, length, vocabulary)."""
        ...

    def next_logits(self, ids: NDArray[np.int32], lengths: NDArray[np.int32]) -> NDArray[np.floating]:
        """ids (rows, width), lengths (rows,) -> logits (rows, vocabulary) after each row's last id."""
        ...


@dataclass(frozen=True)
class Text:
    """Held-out text: `size` is the UTF-8 bytes that the counted targets stand for."""

    rows: Rows
    size: int

    def score(self, model: Model, advance: Callable[[], None], metrics: Sequence[str]) -> JSON:
        """Perplexity and bits per byte, whichever is asked for."""
        loss = total(losses(model, self.rows, advance))
        values = {"perplexity": loss.perplexity, "bits_per_byte": loss.bits_per_byte(self.size)}
        return {name: round(value, DIGITS) for name, value in values.items() if name in metrics}


@dataclass(frozen=True)
class HeldOut:
    """Held-out instruction rows."""

    rows: Rows

    def score(self, model: Model, advance: Callable[[], None]) -> JSON:
        """Nats per trained token of the answers."""
        return {"answer_loss": round(total(losses(model, self.rows, advance)).mean, DIGITS)}


@dataclass(frozen=True)
class Core:
    """Core cases: `rows` hold prompt and reference, `ends` close an answer, `limit` is its most tokens."""

    questions: Sequence[Question]
    rows: Rows
    ends: frozenset[int]
    limit: int
    window: Window
    decode: Callable[[Sequence[int]], str]

    def results(self, model: Model, advance: Callable[[], None], metrics: Sequence[str]) -> list[JSON]:
        """What the model did with each case: its greedy answer, the loss of the reference."""
        found: list[JSON] = [{} for _ in self.questions]
        if "exact_match" in metrics:
            prompts = [question.prompt for question in self.questions]
            answers = generation.greedy(model.next_logits, prompts, self.ends, self.limit, self.window, finished=advance)
            found = [self._answered(question, answer) for question, answer in zip(self.questions, answers, strict=True)]
        if "answer_loss" in metrics:
            scored = losses(model, self.rows, advance)
            found = [
                {**one, "answer_nats": round(loss.nats, DIGITS) if question.case.reference else None, "answer_tokens": loss.tokens}
                for question, one, loss in zip(self.questions, found, scored, strict=True)
            ]
        return found

    def _answered(self, question: Question, answer: Answer) -> JSON:
        text = self.decode(answer.ids)
        reference = question.case.reference
        return {"answer": text, "ended": answer.ended, "exact_match": exact_match(text, reference) if reference else None}


def units(text: Text | None, held_out: HeldOut | None, core: Core | None, metrics: Sequence[str]) -> int:
    """Rows and answers that one model has to work through, for a progress bar."""
    rows = [len(suite.rows.ids) for suite in (text, held_out) if suite]
    passes = sum(metric in metrics for metric in ("exact_match", "answer_loss"))
    return sum(rows) + (passes * len(core.questions) if core else 0)


def losses(model: Model, rows: Rows, advance: Callable[[], None]) -> list[Loss]:
    """The loss of each row."""
    found = []
    for loss in perplexity.row_losses(model.logits, rows.ids, rows.targets, rows.counted, ROWS):
        found.append(loss)
        advance()
    return found


def window_for(prompts: Sequence[Sequence[int]], limit: int, seq_length: int, pad: int) -> Window:
    """A window that holds the longest prompt and its answer, as far as the model reaches."""
    wanted = max(map(len, prompts)) + limit
    return Window(ROWS, min(seq_length, -(-wanted // WIDTH_STEP) * WIDTH_STEP), pad)


def core_scores(questions: Sequence[Question], results: Sequence[Mapping[str, Any]]) -> JSON:
    """Scores over all core cases and over each group, in the order of first appearance."""
    groups: dict[str, list[tuple[Question, Mapping[str, Any]]]] = {}
    for question, result in zip(questions, results, strict=True):
        groups.setdefault(question.case.group, []).append((question, result))
    everything = list(zip(questions, results, strict=True))
    return {**_scores(everything), "groups": {name: _scores(members) for name, members in groups.items()}}


def _scores(members: Sequence[tuple[Question, Mapping[str, Any]]]) -> JSON:
    """`answer_loss`: nats per token of the references; `answer_bits_per_byte`: the same whatever the tokenizer.

    Cases without a reference count in none of them; where no case has one, the scores are null, with that reason.
    """
    results, scored = [result for _, result in members], [result for question, result in members if question.case.reference]
    scores: JSON = {"cases": len(members)} | ({"without_reference": len(members) - len(scored)} if len(scored) < len(members) else {})
    if "exact_match" in results[0]:
        scores |= _or_none("exact_match", lambda: sum(result["exact_match"] for result in scored) / len(scored), scored)
        scores["unfinished"] = sum(not result["ended"] for result in results)
    if "answer_nats" in results[0]:
        loss = total(Loss(result["answer_nats"], result["answer_tokens"]) for result in scored)
        size = sum(len(question.case.reference.encode()) for question, _ in members)
        scores |= _or_none("answer_loss", lambda: loss.mean, scored)
        scores |= _or_none("answer_bits_per_byte", lambda: loss.bits_per_byte(size), scored)
    return scores


def _or_none(name: str, value: Callable[[], float], scored: Sequence[object]) -> JSON:
    return {name: round(value(), DIGITS)} if scored else {name: None, f"{name}_reason": NOT_COMPUTED}
