"""The chat template at work: the one function that turns messages into ids, for training rows and for prompts alike.

Rows are put together from ids, never from text: what people write is encoded apart from the markers, so no text can forge a
marker, and a prompt is a prefix of its row, id by id.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from runtime.data.encoding import Vocabulary
from runtime.data.template import START, Parts, Piece, Role, Template, check_pieces, load_template
from runtime.faults import StageFault

__all__ = ["Piece", "Role", "Template", "check_pieces", "load_template"]

IGNORED = -100  # a label that mindformers' loss leaves out (`ignore_token_id`)
SYSTEM = "system"


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


@dataclass(frozen=True)
class Segment:
    """Ids that belong together. trained: they have labels; content: they are the text of a message, not of the template.

    turn: index of the message they stand at, -1 before the first one.
    """

    ids: tuple[int, ...]
    trained: bool = False
    content: bool = False
    turn: int = -1


@dataclass
class Renderer:
    """A template with a vocabulary; the ids of the template's own texts are encoded once."""

    template: Template
    vocabulary: Vocabulary
    _known: dict[Parts, tuple[int, ...]] = field(default_factory=dict[Parts, tuple[int, ...]])
    _heads: dict[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])
    _ends: dict[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])

    def __post_init__(self) -> None:
        for name, role in self.template.roles.items():
            opening, closing = (() if piece is None else (Piece(piece=piece),) for piece in (role.open, role.close))
            self._heads[name] = self._ids(opening) + self._ids(role.header)
            self._ends[name] = self._ids(role.footer) + self._ids(closing)

    def render(self, messages: Sequence[Message], *, generation_prompt: bool = False, where: str = "") -> list[Segment]:
        """As the function `render`."""
        turns = check_order(self.template, with_system(self.template, messages), where)
        segments = [] if self.template.begin is None else [Segment(self._ids((Piece(piece=self.template.begin),)))]
        for index, message in enumerate(turns):
            role, before = self.template.roles[message.role], turns[index - 1].role if index else START
            joint = role.between.get(before)
            segments.append(Segment(self._heads[message.role] if joint is None else self._ids(joint), turn=index))
            trained = role.trained and not message.context
            segments += self._body(message, trained, index, where)
            following = turns[index + 1].role if index + 1 < len(turns) else None
            if following is None or message.role not in self.template.roles[following].between:
                segments.append(Segment(self._ends[message.role], trained, turn=index))
                if following is not None or generation_prompt:
                    segments.append(Segment(self._ids(role.after), turn=index))
        if generation_prompt:
            segments.append(Segment(self._heads[answering_role(self.template)], turn=len(turns)))
        return segments

    def _body(self, message: Message, trained: bool, turn: int, where: str) -> list[Segment]:
        """What a message says: its text, and the tools that it offers or calls."""
        said = Segment(tuple(self.vocabulary.encode(message.content)), trained, content=True, turn=turn)
        if message.tools:
            offered = Segment(self._offered(message.tools, where), trained, turn=turn)
            tools = self.template.tools
            return [offered, said] if tools is not None and tools.place == "before" else [said, offered]
        return [said, Segment(self._called(message, where), trained, turn=turn)] if message.calls else [said]

    def _offered(self, offered: Sequence[Mapping[str, Any]], where: str) -> tuple[int, ...]:
        tools = self.template.tools
        if tools is None:
            raise _speaks_no_tools("tools", where)
        texts = tools.separator.join(json.dumps(tool, ensure_ascii=False, indent=tools.indent) for tool in offered)
        return self._ids(tools.before) + tuple(self.vocabulary.encode(texts)) + self._ids(tools.after)

    def _called(self, message: Message, where: str) -> tuple[int, ...]:
        calls, ids = self.template.calls, list[int]()
        if calls is None:
            raise _speaks_no_tools("calls", where)
        for number, call in enumerate(message.calls):
            if message.content or number:
                ids += self._ids(calls.separator)
            text = json.dumps({"name": call.name, calls.arguments: call.arguments}, ensure_ascii=False)
            ids += [*self._ids(calls.before), *self.vocabulary.encode(text), *self._ids(calls.after)]
        return tuple(ids)

    def _ids(self, parts: Parts) -> tuple[int, ...]:
        """Ids of a part of the template, which is encoded apart from what people write."""
        if parts not in self._known:
            self._known[parts] = tuple(self._encoded(parts))
        return self._known[parts]

    def _encoded(self, parts: Parts) -> Iterator[int]:
        for part in (parts,) if isinstance(parts, str) else parts:
            if isinstance(part, Piece):
                yield self.vocabulary.special[part.piece]
            else:
                yield from self.vocabulary.encode(part)


def _speaks_no_tools(name: str, where: str) -> StageFault:
    return StageFault(
        "the row has tools, and the template does not say how they are written",
        where=where,
        reason=f"the template has no `{name}`",
        fix="use a template that has them, such as qwen, or take the rows out",
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
    content = f"{instruction}{template.instruction_input}{input}" if input else instruction
    return [*([Message(SYSTEM, system)] if system else []), Message("user", content)]


def ids_of(segments: Iterable[Segment]) -> list[int]:
    """All ids in order."""
    return list(chain.from_iterable(segment.ids for segment in segments))


def labels_of(segments: Iterable[Segment]) -> list[int]:
    """One label an id, at the id's own position (mindformers shifts them): the id where it is trained, else IGNORED."""
    return list(chain.from_iterable(segment.ids if segment.trained else (IGNORED,) * len(segment.ids) for segment in segments))


def prompt_ids(template: Template, vocabulary: Vocabulary, instruction: str, input: str = "", system: str = "") -> list[int]:
    """Ids of a prompt, up to where the model has to answer."""
    return ids_of(render(template, vocabulary, prompt_messages(template, instruction, input, system), generation_prompt=True))
