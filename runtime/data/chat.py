"""The chat template: the one function that turns messages into ids, for training rows and for prompts alike.

Rows are put together from ids, never from text: what people write is encoded apart from the markers, so no text can forge a
marker, and a prompt is a prefix of its row, id by id.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml
from pydantic import TypeAdapter, ValidationError

from runtime.contracts.base import parameters
from runtime.data.encoding import Vocabulary
from runtime.faults import StageFault

IGNORED = -100  # a label that mindformers' loss leaves out (`ignore_token_id`)
START = "start"


@parameters
class Role:
    """The turn of one role: open, header, content, close, and `after` before the next turn. `open` may be None."""

    open: str | None
    header: str
    close: str
    after: str
    trained: bool
    follows: tuple[str, ...]


@parameters
class Template:
    """`begin`: the piece every row begins with, the tokenizer's bos; `instruction_input`: text between the two fields."""

    begin: str
    roles: dict[str, Role]
    instruction_input: str


@dataclass(frozen=True)
class Message:
    """One turn of a dialogue."""

    role: str
    content: str


@dataclass(frozen=True)
class Segment:
    """Ids that belong together. trained: they have labels; content: they come from a message, not from the template."""

    ids: tuple[int, ...]
    trained: bool = False
    content: bool = False


def load_template(path: Path) -> Template:
    """Read a compiled template. Raises StageFault that lists every unknown, missing or contradictory entry."""
    try:
        template = TypeAdapter(Template).validate_json(json.dumps(yaml.safe_load(path.read_text("utf-8"))), strict=True)
    except ValidationError as error:
        raise _broken(path, [f"{'.'.join(map(str, fault['loc'])) or 'the file'}: {fault['msg']}" for fault in error.errors()]) from None
    except (OSError, yaml.YAMLError, TypeError, ValueError) as error:
        raise _broken(path, [str(error).replace("\n", " ")]) from None
    if wrong := [*_contradictions(template)]:
        raise _broken(path, wrong)
    return template


def _contradictions(template: Template) -> Iterable[str]:
    for name, role in template.roles.items():
        yield from (
            f"roles.{name}.follows: {other} is no role, and not {START}" for other in role.follows if other not in (*template.roles, START)
        )
        if template.begin in (role.open, role.close):
            yield f"roles.{name}: {template.begin} begins the row and must not stand inside it"
    if not any(role.trained for role in template.roles.values()):
        yield "roles: none is trained"


def _broken(path: Path, wrong: Sequence[str]) -> StageFault:
    return StageFault(
        "; ".join(wrong),
        where=str(path),
        reason="rows would differ between training and evaluation",
        fix="mend the file in specs/template/ and compile again",
    )


def check_pieces(template: Template, vocabulary: Vocabulary, where: str = "config/template.yaml") -> None:
    """Raise StageFault unless all markers of the template are special pieces, and `begin` is the tokenizer's bos."""
    used = [template.begin, *(piece for role in template.roles.values() for piece in (role.open, role.close) if piece is not None)]
    unknown = sorted({piece for piece in used if piece not in vocabulary.special})
    if unknown:
        raise StageFault(
            f"{', '.join(unknown)}: no special piece of the tokenizer",
            where=where,
            reason="as text they would be cut into ordinary pieces, and an answer would have no end",
            fix=f"add them to tokenizer.special_tokens.user; the tokenizer has {', '.join(vocabulary.special)}",
        )
    if vocabulary.special[template.begin] != vocabulary.bos:
        raise StageFault(
            f"begin is {template.begin}, not the tokenizer's bos",
            where=where,
            reason="the model was pre-trained on documents that begin with bos",
            fix="use the text of bos",
        )


def render(
    template: Template, vocabulary: Vocabulary, messages: Sequence[Message], *, generation_prompt: bool = False, where: str = ""
) -> list[Segment]:
    """The segments of a dialogue, from the begin piece to the last `close`; with `generation_prompt` on to the head of the answer to come.

    Raises StageFault (located by `where`) for unknown roles and for a wrong order of roles.
    """
    check_order(template, messages, where)
    segments = [Segment((vocabulary.special[template.begin],))]
    for index, message in enumerate(messages):
        role = template.roles[message.role]
        segments += [
            _head(role, vocabulary),
            Segment(tuple(vocabulary.encode(message.content)), role.trained, content=True),
            Segment((vocabulary.special[role.close],), role.trained),
        ]
        if generation_prompt or index + 1 < len(messages):
            segments.append(Segment(tuple(vocabulary.encode(role.after))))
    return [*segments, _head(answering_role(template), vocabulary)] if generation_prompt else segments


def _head(role: Role, vocabulary: Vocabulary) -> Segment:
    opening = () if role.open is None else (vocabulary.special[role.open],)
    return Segment((*opening, *vocabulary.encode(role.header)))


def answering_role(template: Template) -> Role:
    """The role that a model speaks: the first trained one."""
    return next(role for role in template.roles.values() if role.trained)


def check_order(template: Template, messages: Sequence[Message], where: str = "") -> None:
    """Raise StageFault that shows the tags found and the tags expected."""
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


def stop_ids(template: Template, vocabulary: Vocabulary) -> tuple[int, ...]:
    """Ids that end an answer: what closes the trained turns, and the tokenizer's eos."""
    closing = [vocabulary.special[role.close] for role in template.roles.values() if role.trained]
    return tuple(dict.fromkeys([*closing, vocabulary.eos]))


def prompt_messages(template: Template, instruction: str, input: str = "", system: str = "") -> list[Message]:
    """The messages before the answer of an instruction row."""
    content = f"{instruction}{template.instruction_input}{input}" if input else instruction
    return [*([Message("system", system)] if system else []), Message("user", content)]


def ids_of(segments: Iterable[Segment]) -> list[int]:
    """All ids in order."""
    return [id for segment in segments for id in segment.ids]


def labels_of(segments: Iterable[Segment]) -> list[int]:
    """One label an id, at the id's own position (mindformers shifts them): the id where it is trained, else IGNORED."""
    return [id if segment.trained else IGNORED for segment in segments for id in segment.ids]


def prompt_ids(template: Template, vocabulary: Vocabulary, instruction: str, input: str = "", system: str = "") -> list[int]:
    """Ids of a prompt, up to where the model has to answer."""
    return ids_of(render(template, vocabulary, prompt_messages(template, instruction, input, system), generation_prompt=True))
