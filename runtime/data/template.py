"""A chat template: data that says which special pieces and which texts stand around the messages of a dialogue."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Literal

import yaml
from pydantic import TypeAdapter, ValidationError

from runtime.contracts.base import parameters
from runtime.data.encoding import Vocabulary
from runtime.faults import StageFault

START = "start"


@parameters
class Piece:
    """A special piece of the tokenizer, where a text could stand as well."""

    piece: str


Parts = str | tuple[str | Piece, ...]


@parameters
class Role:
    """The turn of one role: open, header, content, footer, close, and `after` before the next turn; `open` and `close` may be None.

    between: role before -> all that stands between its content and the content of this turn, in place of the usual.
    trained: content, footer and close have labels. follows: roles that may come right before, START for the first turn.
    trim: content loses the white space around it; after a turn with `between`, that at its end.
    """

    open: str | None
    header: Parts
    close: str | None
    after: Parts
    trained: bool
    follows: tuple[str, ...]
    footer: Parts = ""
    between: Mapping[str, Parts] = field(default_factory=dict[str, Parts])
    trim: bool = False


@parameters
class Tools:
    """What of the tools that may be called stands in the system turn: `before`, one JSON text each, `after`.

    place: behind or before the system text; separator: between the tools; indent: of the JSON text, None for one line.
    """

    before: Parts
    after: Parts
    separator: str = "\n"
    place: Literal["behind", "before"] = "behind"
    indent: int | None = None


@parameters
class Calls:
    """How an answer calls tools: before, {"name": ..., `arguments`: ...} as JSON, after; `separator` between text and calls."""

    before: Parts
    after: Parts
    separator: Parts = "\n"
    arguments: str = "arguments"


@parameters
class Template:
    """`begin`: the piece every row begins with, the tokenizer's bos, or None; `instruction_input`: text between the two fields.

    default_system: the system text of rows that have none; None gives them no system turn. tools, calls: None where there are none.
    """

    begin: str | None
    roles: dict[str, Role]
    instruction_input: str
    default_system: str | None = None
    tools: Tools | None = None
    calls: Calls | None = None


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


def _contradictions(template: Template) -> Iterator[str]:
    for name, role in template.roles.items():
        yield from (
            f"roles.{name}.follows: {other} is no role, and not {START}" for other in role.follows if other not in (*template.roles, START)
        )
        yield from (
            f"roles.{name}.between: {other} is no role without labels"
            for other in role.between
            if other not in template.roles or template.roles[other].trained
        )
        inside = [role.open, role.close, *pieces_of(role.header), *pieces_of(role.footer)]
        if template.begin is not None and template.begin in inside:
            yield f"roles.{name}: {template.begin} begins the row and must not stand inside it"
        if role.trained and role.close is None:
            yield f"roles.{name}.close: an answer needs a piece that ends it"
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
    unknown = sorted({piece for piece in all_pieces(template) if piece not in vocabulary.special})
    if unknown:
        raise StageFault(
            f"{', '.join(unknown)}: no special piece of the tokenizer",
            where=where,
            reason="as text they would be cut into ordinary pieces, and an answer would have no end",
            fix=f"add them to tokenizer.special_tokens.user; the tokenizer has {', '.join(vocabulary.special)}",
        )
    if spelt := sorted({piece for text in _texts(template) for piece in vocabulary.special if piece in text}):
        raise StageFault(
            f"a text of the template spells {', '.join(spelt)}",
            where=where,
            reason="as text it is cut into ordinary pieces: the row has no marker there, and whatever people write could look the same",
            fix=f'write it apart from the text, as {{piece: "{spelt[0]}"}}, or as `open` or `close` of the role',
        )
    if template.begin is not None and vocabulary.special[template.begin] != vocabulary.bos:
        raise StageFault(
            f"begin is {template.begin}, not the tokenizer's bos",
            where=where,
            reason="the model was pre-trained on documents that begin with bos",
            fix="use the text of bos",
        )


def pieces_of(parts: Parts) -> list[str]:
    """The special pieces among the parts, in order."""
    return [] if isinstance(parts, str) else [part.piece for part in parts if isinstance(part, Piece)]


def _texts(template: Template) -> Iterator[str]:
    """Every text that stands around the turns."""
    for role in template.roles.values():
        for parts in (role.header, role.footer, role.after, *role.between.values()):
            yield from (part for part in ((parts,) if isinstance(parts, str) else parts) if isinstance(part, str))


def all_pieces(template: Template) -> Iterable[str]:
    """Every special piece that the template names."""
    if template.begin is not None:
        yield template.begin
    for role in template.roles.values():
        yield from (piece for piece in (role.open, role.close) if piece is not None)
        for parts in (role.header, role.footer, role.after, *role.between.values()):
            yield from pieces_of(parts)
    for around in (template.tools, template.calls):
        yield from (pieces_of(around.before) + pieces_of(around.after) if around else [])
    yield from (pieces_of(template.calls.separator) if template.calls else [])
