"""A dialogue as one row of ids and labels: what of it is trained, and what gives way where it is too long."""

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import orjson

from runtime.contracts.format import Format
from runtime.data.chat import IGNORED, Message, Renderer, Segment
from runtime.data.encoding import Vocabulary
from runtime.data.instructions import ANSWER
from runtime.data.ordering import digest, folded
from runtime.data.tokenizers.backend import Ids

EMPTY_ANSWER, TOO_LONG, ANSWER_TOO_LONG, NO_TRAINED_TOKEN = "empty_answer", "too_long", "answer_too_long", "no_trained_token"
QUESTION_TOO_LONG = "question_too_long"
DROPPED = (EMPTY_ANSWER, TOO_LONG, ANSWER_TOO_LONG, QUESTION_TOO_LONG, NO_TRAINED_TOKEN)  # why a dialogue is
KEPT = 16  # ids of a message whose middle is cut, at least: half of them its head, half its tail
LABELLED = (b"\0", b"\1")  # the mark of an id without and with a label


class Unusable(Exception):
    """A row that is dropped; its argument is the reason that is counted."""


@dataclass(frozen=True)
class Row:
    """A dialogue as ids of 32 bits; marks: one byte an id, 1 where it has a label; length: ids before anything was cut.

    trained: ids with a label; the first id of a row can have none.
    """

    ids: bytes
    marks: bytes
    length: int
    trained: int

    @property
    def input_ids(self) -> list[int]:
        """The ids as numbers."""
        return array("i", self.ids).tolist()

    @property
    def labels(self) -> list[int]:
        """The labels, IGNORED where not trained."""
        return [id if mark else IGNORED for id, mark in zip(self.input_ids, self.marks, strict=True)]

    @property
    def truncated(self) -> bool:
        """Whether something was cut."""
        return len(self.marks) < self.length


def keys_of(messages: Sequence[Message]) -> tuple[str, str]:
    """(whole dialogue, what precedes its first answer), as fingerprints that ignore case, width and white space."""
    turns = [folded(f"{message.role}:{message.content}{_tools_of(message)}") for message in messages]
    answer = next(index for index, message in enumerate(messages) if message.role == ANSWER)
    return digest("\0".join(turns)), digest("\0".join(turns[:answer]))


def _tools_of(message: Message) -> str:
    if not message.tools and not message.calls:
        return ""
    return orjson.dumps([message.tools, [(call.name, call.arguments) for call in message.calls]]).decode()


@dataclass(frozen=True)
class Encoder:
    """Turns dialogues into rows of at most seq_length + 1 ids."""

    renderer: Renderer
    parameters: Format

    @property
    def limit(self) -> int:
        """Ids of the longest row."""
        return self.parameters.seq_length + 1

    def encode(self, messages: Sequence[Message], where: str) -> Row:
        """The row of a dialogue. Raises Unusable with the reason for which it is dropped, StageFault as `chat.render`."""
        if messages[-1].is_empty:
            raise Unusable(EMPTY_ANSWER)
        segments = self._render(messages, where)
        marks = _marks(segments)
        if (length := len(marks)) > self.limit:
            segments = self._shortened(messages, segments, where)
            marks = _marks(segments)
        trained = marks.count(LABELLED[True]) - marks.startswith(LABELLED[True])
        if not trained:
            raise Unusable(NO_TRAINED_TOKEN)
        return Row(b"".join([segment[0].data for segment in segments]), marks, length, trained)

    def _render(self, messages: Sequence[Message], where: str) -> list[Segment]:
        segments = self.renderer.render(messages, where=where)
        if self.parameters.train_on == "last":
            last = max(segment.turn for segment in segments)
            return [segment if segment.turn == last else segment._replace(trained=False) for segment in segments]
        return segments

    def _shortened(self, messages: Sequence[Message], segments: list[Segment], where: str) -> list[Segment]:
        if self.parameters.truncation == "none":
            raise Unusable(TOO_LONG)
        if self.parameters.truncation == "oldest":
            segments = self._without_oldest(messages, segments, where)
        return truncate_middle(segments, self.limit, self.renderer.vocabulary)

    def _without_oldest(self, messages: Sequence[Message], segments: list[Segment], where: str) -> list[Segment]:
        """The dialogue without as few of its first exchanges as let it fit; with the last one alone where that is not enough.

        Fewer exchanges are never longer, so the number is searched by halves: a dialogue of thousands of turns is not rendered as often.
        """
        asked = exchanges(messages)
        dropped = range(1, len(asked))
        if not dropped:
            return segments
        rendered = partial(self._from, messages, asked, where)
        fewest = bisect_left(dropped, True, key=lambda count: _size(rendered(count)) <= self.limit)
        return rendered(dropped[min(fewest, len(dropped) - 1)])

    def _from(self, messages: Sequence[Message], asked: Sequence[int], where: str, dropped: int) -> list[Segment]:
        return self._render([*messages[: asked[0]], *messages[asked[dropped] :]], where)


def _marks(segments: Iterable[Segment]) -> bytes:
    return b"".join([LABELLED[trained] * len(ids) for ids, trained, _, _ in segments])


def _size(segments: Iterable[Segment]) -> int:
    return sum([len(segment[0]) for segment in segments])


def exchanges(messages: Sequence[Message]) -> list[int]:
    """Where each exchange begins: at its question."""
    return [index for index, message in enumerate(messages) if message.role == "user"]


def truncate_middle(segments: Sequence[Segment], limit: int, vocabulary: Vocabulary) -> list[Segment]:
    """Shorten a row to `limit` ids by cutting the middle of what people asked, the longest message first.

    All of the template and all answers stay, and of a message that is cut its head and tail, KEPT ids. Raises Unusable where that is
    not enough, by what is too long: the questions, or all that stands around them.
    """
    cut, excess = list(segments), _size(segments) - limit
    asked = [index for index, segment in enumerate(cut) if segment.content and not segment.trained]
    if excess > sum(len(cut[index].ids) for index in asked):
        raise Unusable(ANSWER_TOO_LONG)
    for index in sorted(asked, key=lambda index: (-len(cut[index].ids), index)):
        if excess <= 0:
            break
        whole = cut[index].ids
        cut[index] = cut[index]._replace(ids=without_middle(whole, max(len(whole) - excess, KEPT), vocabulary))
        excess -= len(whole) - len(cut[index].ids)
    if excess > 0:
        raise Unusable(QUESTION_TOO_LONG)
    return cut


def without_middle(ids: Ids, kept: int, vocabulary: Vocabulary) -> Ids:
    """At most `kept` ids, the first and the last ones; a character that is spelt in bytes is kept whole or not at all."""
    if len(ids) <= kept:
        return ids
    head, tail = (kept + 1) // 2, len(ids) - kept // 2
    while head > 0 and vocabulary.continues_character(int(ids[head])):
        head -= 1
    while tail < len(ids) and vocabulary.continues_character(int(ids[tail])):
        tail += 1
    return np.concatenate([ids[:head], ids[tail:]])
