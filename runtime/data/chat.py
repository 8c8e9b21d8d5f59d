"""The chat template at work: the one function that turns messages into ids, for training rows and for prompts alike.

Rows are put together from ids, never from text: what people write is encoded apart from the markers, so no text can forge a
marker, and a prompt is a prefix of its row, id by id.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from runtime.data.encoding import Vocabulary
from runtime.data.template import START, Parts, Piece, Role, Template, check_pieces, load_template
from runtime.data.tokenizers.backend import Ids
from runtime.faults import StageFault

__all__ = ["Piece", "Role", "Template", "check_pieces", "load_template"]

IGNORED = -100  # a label that mindformers' loss leaves out (`ignore_token_id`)
SYSTEM, TOOL = "system", "tool"
WITH_TOOLS = ("qwen", "llama3")  # of the templates in specs/template, those that write tools
NOTHING = re.compile("[\\s\u200b-\u200d\u2060\ufeff]*")  # white space, zero-width spaces and joiners, byte order marks
FRAMES, FRAMED = 1000, 16  # sequences of roles whose template ids are remembered, and turns of the longest of them


@dataclass(frozen=True)
class Call:
    """An answer's call of a tool; `arguments` is a JSON object."""

    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class Message:
    """One turn of a dialogue. calls: of an answer, behind its text; tools: of a system turn, JSON objects that may be called.

    context: the turn has no labels even where its role is trained.
    """

    role: str
    content: str
    calls: tuple[Call, ...] = ()
    tools: tuple[Mapping[str, Any], ...] = ()
    context: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether it says nothing: no text but white space and what is as invisible, and no call."""
        return not self.calls and NOTHING.fullmatch(self.content) is not None


class Segment(NamedTuple):
    """Ids that belong together. trained: they have labels; content: they are the text of a message, not of the template.

    turn: index of the message they stand at, -1 before the first one.
    """

    ids: Ids
    trained: bool = False
    content: bool = False
    turn: int = -1


class Frame(NamedTuple):
    """What the template puts around the text of a turn; trained: whether that text has labels; trim: what white space it loses."""

    before: tuple[Segment, ...]
    after: tuple[Segment, ...]
    trained: bool
    trim: Callable[[str], str]


Turns = tuple[tuple[str, bool], ...]  # role, and whether it has labels, of each turn


@dataclass
class Renderer:
    """A template with a vocabulary; the ids of the template's own texts are encoded once, and put together once for each order of roles."""

    template: Template
    vocabulary: Vocabulary
    _known: dict[Parts, Ids] = field(default_factory=dict[Parts, Ids])
    _heads: dict[str, Ids] = field(default_factory=dict[str, Ids])
    _ends: dict[str, Ids] = field(default_factory=dict[str, Ids])
    _frames: dict[Turns, tuple[Frame, ...]] = field(default_factory=dict[Turns, tuple[Frame, ...]])
    _said: dict[str, Ids] = field(default_factory=dict[str, Ids])

    def __post_init__(self) -> None:
        for name, role in self.template.roles.items():
            opening, closing = (() if piece is None else (Piece(piece=piece),) for piece in (role.open, role.close))
            self._heads[name] = np.concatenate([self._ids(opening), self._ids(role.header)])
            self._ends[name] = np.concatenate([self._ids(role.footer), self._ids(closing)])

    def render(self, messages: Sequence[Message], *, generation_prompt: bool = False, where: str = "") -> list[Segment]:
        """As the function `render`."""
        turns = with_system(self.template, messages)
        segments = list[Segment]()
        for index, (message, frame) in enumerate(zip(turns, self._around(turns, where), strict=True)):
            segments += frame.before
            segments += self._body(message, frame, index, where)
            segments += frame.after
        if generation_prompt:
            after = Segment(self._ids(self.template.roles[turns[-1].role].after), turn=len(turns) - 1)
            segments += [after, Segment(self._heads[answering_role(self.template)], turn=len(turns))]
        return segments

    def prepare(self, dialogues: Iterable[Sequence[Message]]) -> None:
        """Encode together what is said in dialogues that will be rendered, which saves time; until the next call of `prepare`."""
        texts = {} if self.template.default_system is None else {self.template.default_system: None}
        for dialogue in dialogues:
            for message in dialogue:
                role = self.template.roles.get(message.role)
                texts[message.content.strip() if role is not None and role.trim else message.content] = None
        self._said = self.vocabulary.arrays(texts)

    def _around(self, turns: Sequence[Message], where: str) -> tuple[Frame, ...]:
        """The frames of the turns. Raises StageFault for a wrong order."""
        order = tuple([(turn.role, self._is_trained(turn)) for turn in turns])
        if (found := self._frames.get(order)) is None:
            check_order(self.template, turns, where)
            begin = [] if self.template.begin is None else [Segment(self._ids((Piece(piece=self.template.begin),)))]
            found = joined(begin, [self._frame(order, index) for index in range(len(order))])
            if len(order) <= FRAMED and len(self._frames) < FRAMES:
                self._frames[order] = found
        return found

    def _is_trained(self, turn: Message) -> bool:
        """Whether a turn has labels: not an answer that says nothing, since all that is learned from it is to end."""
        role = self.template.roles.get(turn.role)
        return role is not None and role.trained and not turn.context and not turn.is_empty

    def _frame(self, order: Turns, index: int) -> Frame:
        (name, trained), before = order[index], order[index - 1][0] if index else START
        role, following = self.template.roles[name], order[index + 1][0] if index + 1 < len(order) else None
        joint, after = role.between.get(before), list[Segment]()
        if following is None or name not in self.template.roles[following].between:
            after.append(Segment(self._ends[name], trained, turn=index))
            if following is not None:
                after.append(Segment(self._ids(role.after), turn=index))
        trim = str if not role.trim else str.strip if joint is None else str.rstrip  # joined, it begins with the text before it
        return Frame((Segment(self._heads[name] if joint is None else self._ids(joint), turn=index),), tuple(after), trained, trim)

    def _body(self, message: Message, frame: Frame, turn: int, where: str) -> list[Segment]:
        """What a message says: its text, and the tools that it offers or calls."""
        trained, text = frame.trained, frame.trim(message.content)
        ids = self._said.get(text)
        said = Segment(self.vocabulary.array(text) if ids is None else ids, trained, content=True, turn=turn)
        if message.tools:
            offered = Segment(self._offered(message.tools, where), trained, turn=turn)
            tools = self.template.tools
            return [offered, said] if tools is not None and tools.place == "before" else [said, offered]
        return [said, Segment(self._called(message, where), trained, turn=turn)] if message.calls else [said]

    def _offered(self, offered: Sequence[Mapping[str, Any]], where: str) -> Ids:
        tools = self.template.tools
        if tools is None:
            raise _speaks_no_tools("tools", where)
        texts = tools.separator.join(json.dumps(tool, ensure_ascii=False, indent=tools.indent) for tool in offered)
        return np.concatenate([self._ids(tools.before), self.vocabulary.array(texts), self._ids(tools.after)])

    def _called(self, message: Message, where: str) -> Ids:
        calls, ids = self.template.calls, list[Ids]()
        if calls is None:
            raise _speaks_no_tools("calls", where)
        for number, call in enumerate(message.calls):
            if message.content or number:
                ids.append(self._ids(calls.separator))
            text = json.dumps({"name": call.name, calls.arguments: call.arguments}, ensure_ascii=False)
            ids += [self._ids(calls.before), self.vocabulary.array(text), self._ids(calls.after)]
        return np.concatenate(ids)

    def _ids(self, parts: Parts) -> Ids:
        """Ids of a part of the template, which is encoded apart from what people write."""
        if parts not in self._known:
            self._known[parts] = np.fromiter(self._encoded(parts), np.int32)
        return self._known[parts]

    def _encoded(self, parts: Parts) -> Iterator[int]:
        for part in (parts,) if isinstance(parts, str) else parts:
            if isinstance(part, Piece):
                yield self.vocabulary.special[part.piece]
            else:
                yield from self.vocabulary.encode(part)


def joined(begin: Sequence[Segment], frames: Iterable[Frame]) -> tuple[Frame, ...]:
    """The same frames, in which all that is between two texts and has no labels is one segment; `begin`: what stands before the first."""
    found, waiting = list[Frame](), list(begin)
    for frame in frames:
        waiting += frame.before
        before = Segment(np.concatenate([segment.ids for segment in waiting]), turn=waiting[-1].turn)
        kept = [segment for segment in frame.after if segment.trained]
        waiting = [segment for segment in frame.after if not segment.trained]
        found.append(frame._replace(before=(before,), after=tuple(kept)))
    if found:
        found[-1] = found[-1]._replace(after=(*found[-1].after, *waiting))
    return tuple(found)


def _speaks_no_tools(name: str, where: str) -> StageFault:
    return _cannot_say_tool("the row has tools", f"the template has no `{name}`", where)


def _cannot_say_tool(message: str, reason: str, where: str) -> StageFault:
    return StageFault(
        f"{message}, and the template cannot say {TOOL}",
        where=where,
        reason=reason,
        fix=f"set data.instruct.template to one that can ({', '.join(WITH_TOOLS)}), or take such rows out",
    )


def render(
    template: Template, vocabulary: Vocabulary, messages: Sequence[Message], *, generation_prompt: bool = False, where: str = ""
) -> list[Segment]:
    """The segments of a dialogue, from the begin piece to the last `close`; with `generation_prompt` on to the head of the answer to come.

    Raises StageFault (located by `where`) for unknown roles, for a wrong order of roles, and for tools that the template cannot write.
    """
    return Renderer(template, vocabulary).render(messages, generation_prompt=generation_prompt, where=where)


def with_system(template: Template, messages: Sequence[Message]) -> list[Message]:
    """The messages, with the template's own system text before those that have none."""
    first = messages[0] if messages and messages[0].role == SYSTEM else None
    if template.default_system is None or (first is not None and first.content):
        return list(messages)
    others = messages[1:] if first is not None else messages
    return [Message(SYSTEM, template.default_system, tools=first.tools if first is not None else ()), *others]


def answering_role(template: Template) -> str:
    """The role that a model speaks: the first trained one."""
    return next(name for name, role in template.roles.items() if role.trained)


def check_order(template: Template, messages: Sequence[Message], where: str = "") -> Sequence[Message]:
    """The same messages. Raises StageFault that shows the tags found and the tags expected."""
    found = [message.role for message in messages]
    expected = f"expected tags: {', '.join(template.roles)}"
    if unknown := sorted(set(found) - set(template.roles)):
        if unknown == [TOOL]:
            raise _cannot_say_tool("the row has a turn of a tool", f"the row has: {', '.join(found)}; {expected}", where)
        raise StageFault(
            f"unknown role {', '.join(unknown)}; {expected}",
            where=where,
            reason=f"the row has: {', '.join(found)}",
            fix="rename the roles, or set the source's format",
        )
    for before, role in zip([START, *found], found, strict=False):
        if before not in template.roles[role].follows:
            allowed = ", ".join(template.roles[role].follows)
            raise StageFault(
                f"{role} after {before}; the row has: {', '.join(found)}",
                where=where,
                reason=f"the template lets {role} follow {allowed} only",
                fix="mend the row; it is not repaired silently",
            )
    return messages


def stop_ids(template: Template, vocabulary: Vocabulary) -> tuple[int, ...]:
    """Ids that end an answer: what closes the trained turns, and the tokenizer's eos."""
    closing = [vocabulary.special[role.close] for role in template.roles.values() if role.trained and role.close is not None]
    return tuple(dict.fromkeys([*closing, vocabulary.eos]))


def prompt_messages(template: Template, instruction: str, input: str = "", system: str = "") -> list[Message]:
    """The messages before the answer of an instruction row."""
    content = f"{instruction}{template.instruction_input}{input}" if instruction and input else instruction or input
    return [*([Message(SYSTEM, system)] if system else []), Message("user", content)]


def ids_of(segments: Iterable[Segment]) -> list[int]:
    """All ids in order."""
    return [id for segment in segments for id in segment.ids.tolist()]


def labels_of(segments: Iterable[Segment]) -> list[int]:
    """One label an id, at the id's own position (mindformers shifts them): the id where it is trained, else IGNORED."""
    return [label for segment in segments for label in (segment.ids.tolist() if segment.trained else [IGNORED] * len(segment.ids))]


def prompt_ids(template: Template, vocabulary: Vocabulary, instruction: str, input: str = "", system: str = "") -> list[int]:
    """Ids of a prompt, up to where the model has to answer."""
    return ids_of(render(template, vocabulary, prompt_messages(template, instruction, input, system), generation_prompt=True))
