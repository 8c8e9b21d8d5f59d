"""Core cases as token ids: prompts through the one chat template, answers with the labels of training."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from runtime.data import chat
from runtime.data.chat import IGNORED, Message, Template
from runtime.data.encoding import Vocabulary
from runtime.evaluation.cases import Case
from runtime.evaluation.scoring import NORMALISATION, normalise
from runtime.faults import StageFault


@dataclass(frozen=True)
class Question:
    """`prompt`: ids up to where the model answers; `ids`, `labels`: prompt, reference and end marker as a training row.

    Without a reference they are the prompt, none of which counts.
    """

    case: Case
    text: str
    prompt: tuple[int, ...]
    ids: tuple[int, ...]
    labels: tuple[int, ...]


def ask(cases: Sequence[Case], template: Template, vocabulary: Vocabulary, seq_length: int, shown: str) -> list[Question]:
    """All cases as questions. Raises StageFault at file:line for one that a row of `seq_length` + 1 ids cannot hold."""
    return [_question(case, template, vocabulary, seq_length, f"{shown}:{case.line}") for case in cases]


def _question(case: Case, template: Template, vocabulary: Vocabulary, seq_length: int, where: str) -> Question:
    asked = chat.prompt_messages(template, case.instruction, case.input)
    answer = next(name for name, role in template.roles.items() if role.trained)
    prompt = chat.ids_of(chat.render(template, vocabulary, asked, generation_prompt=True, where=where))
    ids, labels = prompt, [IGNORED] * len(prompt)
    if case.reference:
        segments = chat.render(template, vocabulary, [*asked, Message(answer, case.reference)], where=where)
        ids, labels = _up_to_the_end(chat.ids_of(segments), chat.labels_of(segments))
    if len(ids) > seq_length + 1:
        raise StageFault(
            f"prompt and reference are {len(ids)} tokens, the model takes {seq_length + 1}",
            where=where,
            reason="a case that is cut is another question",
            fix="shorten the case, or set a larger model.seq_length",
        )
    return Question(case, vocabulary.show(prompt), tuple(prompt), tuple(ids), tuple(labels))


def _up_to_the_end(ids: Sequence[int], labels: Sequence[int]) -> tuple[Sequence[int], Sequence[int]]:
    """What stands behind the last label is not part of an answer."""
    end = max(index for index, label in enumerate(labels) if label != IGNORED) + 1
    return ids[:end], labels[:end]


def document(questions: Sequence[Question], limit: int, vocabulary: Vocabulary, ends: Iterable[int]) -> dict[str, Any]:
    """The content of `prompts.json`: everything that decides what is asked and what counts as right.

    It holds texts and no ids, so experiments with different tokenizers have the same one when they ask the same.
    """
    return {
        "max_new_tokens": limit,
        "decoding": "greedy",
        "ends": [vocabulary.show([end]) for end in ends],
        "normalisation": NORMALISATION,
        "prompts": [
            {"id": question.case.id, "group": question.case.group, "text": question.text, "reference": question.case.reference}
            for question in questions
        ],
    }


def overlap(
    questions: Sequence[Question],
    training: Iterable[tuple[Sequence[int], Sequence[int]]],
    vocabulary: Vocabulary,
    *,
    several: bool = False,
) -> list[Question]:
    """The questions whose prompt is also that of a training row (ids, labels); case and blanks do not count.

    several: rows hold several dialogues; then whatever stands before an answer counts as a prompt.
    """
    trained = {_key(prompt, vocabulary) for ids, labels in training for prompt in _prompts_of(ids, labels, several)}
    return [question for question in questions if _key(question.prompt, vocabulary) in trained]


def _prompts_of(ids: Sequence[int], labels: Sequence[int], several: bool) -> Iterator[Sequence[int]]:
    """The ids before the first label, or before every run of labels."""
    start = 0
    for trained, run in groupby(range(len(ids)), key=lambda index: labels[index] != IGNORED):
        end = start + sum(1 for _ in run)
        if not trained and (several or start == 0):
            yield ids[start:end]
        start = end


def _key(ids: Sequence[int], vocabulary: Vocabulary) -> str:
    return normalise(vocabulary.decode(ids)).casefold()


def refuse_overlap(found: Sequence[Question], shown: str) -> None:
    """Raise StageFault where a question was trained on."""
    if found:
        names = ", ".join(question.case.id for question in found[:5]) + (", ..." if len(found) > 5 else "")
        raise StageFault(
            f"{len(found)} core cases have the prompt of a training row: {names}",
            where=f"{shown}:{found[0].case.line}",
            reason="the model has seen the questions, so its score says nothing",
            fix="take those rows out of the instruction data, or the cases out of the file",
        )
