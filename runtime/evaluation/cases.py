"""Core cases: the fixed questions that every model answers."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runtime.faults import StageFault
from runtime.raw_file import content_of

REQUIRED, SCORED = ("id", "group", "instruction"), "reference"
OPTIONAL = ("input", "language")


@dataclass(frozen=True)
class Case:
    """One question. `input` is the text that the instruction is about, often empty; `line`: where it stands.

    `reference`: the right answer; a case that has none is answered, and not scored.
    """

    id: str
    group: str
    instruction: str
    reference: str = ""
    input: str = ""
    language: str = ""
    line: int = 0


def read(path: Path, shown: str) -> list[Case]:
    """All cases of a JSONL file in its order; `shown` is the path as messages name it.

    Raises StageFault at file:line for a line that is no case, has an empty reference or repeats an id, and for no cases.
    """
    if not path.is_file():
        raise StageFault(
            "the file does not exist", where=shown, fix="write the cases, or name another file in evaluation.suites.core.cases"
        )
    cases = list(_cases(path, shown))
    if not cases:
        raise StageFault("the file holds no case", where=shown, reason="every score would be undefined", fix="write at least one case")
    return cases


def _cases(path: Path, shown: str) -> Iterator[Case]:
    first: dict[str, int] = {}
    for number, line in enumerate(content_of(path, shown).removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if not line.strip():
            continue
        case = Case(**_fields(line, f"{shown}:{number}"), line=number)
        if case.id in first:
            raise StageFault(
                f"id {case.id!r} was used in line {first[case.id]}", where=f"{shown}:{number}", fix="give every case its own id"
            )
        first[case.id] = number
        yield case


def _fields(line: bytes, where: str) -> dict[str, str]:
    try:
        content: Any = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise StageFault(f"not JSON: {error}", where=where, fix="write one JSON object a line, in UTF-8") from None
    if not isinstance(content, dict):
        raise StageFault("not a JSON object", where=where, fix=f"write an object with {', '.join(REQUIRED)}")
    for key in (*REQUIRED, *([SCORED] if SCORED in content else [])):
        if not isinstance(content.get(key), str) or not content[key].strip():
            reason = "every answer to it would count as wrong" if key == SCORED else ""
            fix = f"add a text for {key!r}, or " + ("leave it out: the case is then not scored" if key == SCORED else "remove the case")
            raise StageFault(f"{key} is missing or empty", where=where, reason=reason, fix=fix)
    unknown = sorted(set(content) - {*REQUIRED, SCORED, *OPTIONAL})
    if unknown:
        raise StageFault(f"unknown keys {', '.join(unknown)}", where=where, fix=f"known are {', '.join((*REQUIRED, SCORED, *OPTIONAL))}")
    wrong = [key for key in OPTIONAL if not isinstance(content.get(key, ""), str)]
    if wrong:
        raise StageFault(f"{wrong[0]} is not a text", where=where, fix="write it in quotes")
    _check_characters(content, where)
    return content


def _check_characters(content: dict[str, str], where: str) -> None:
    """JSON can name half of a surrogate pair, which no encoder accepts."""
    for key, value in content.items():
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise StageFault(
                f"{key} holds half a character at position {error.start}", where=where, fix="write the whole character"
            ) from None
