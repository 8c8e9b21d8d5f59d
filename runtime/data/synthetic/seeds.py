"""The rows that people wrote, which show a model what to write; all of them are held in memory."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import orjson

from runtime.contracts.synthesize import Seeds
from runtime.data.ordering import rank
from runtime.data.synthetic.exchange import JSON
from runtime.faults import StageFault
from runtime.raw_file import content_of

Row = dict[str, str]
MARK = b"\xef\xbb\xbf"


def files_of(root: Path, seeds: Seeds) -> list[tuple[str, Path]]:
    """Names relative to the project root, and where they lie. Raises StageFault where there is none."""
    place = root / seeds.path
    files = sorted(place.rglob("*.jsonl"), key=lambda file: file.relative_to(place).as_posix()) if place.is_dir() else [place]
    if not files or not files[0].is_file():
        fix = "mend the path of the seeds (relative to the project root), or fetch the data with `dvc pull`"
        raise StageFault(f"{seeds.path} is neither a file nor a folder with *.jsonl", where="config/synthesize.yaml", fix=fix)
    return [(file.relative_to(root).as_posix(), file) for file in files]


def read(root: Path, seeds: Seeds) -> list[Row]:
    """The seeds in the order of files and lines: `instruction`, `input` and `output`, or `text`. Raises StageFault at file:line."""
    rows = [_row(row, seeds, where) for name, file in files_of(root, seeds) for where, row in _lines(name, file)]
    if not rows:
        raise StageFault(f"{seeds.path} has no row", where="config/synthesize.yaml", fix="write some rows by hand: a model imitates them")
    return rows


def drawn(count: int, wanted: int, seed: int, *parts: object) -> list[int]:
    """`wanted` different numbers below `count`, or all of them in another order; a function of seed and parts alone."""
    left = list(range(count))
    for place in range(min(wanted, count)):
        other = place + rank(seed, *parts, place) % (count - place)
        left[place], left[other] = left[other], left[place]
    return left[: min(wanted, count)]


def _lines(name: str, file: Path) -> Iterator[tuple[str, JSON]]:
    for number, line in enumerate(content_of(file, name).split(b"\n"), 1):
        content = line.removeprefix(MARK).strip()
        if not content:
            continue
        try:
            row = orjson.loads(content)
        except orjson.JSONDecodeError as error:
            raise StageFault(f"not JSON: {error.msg}", where=f"{name}:{number}", fix="one JSON object a line, in UTF-8") from None
        if not isinstance(row, dict):
            raise StageFault("not a JSON object", where=f"{name}:{number}", fix="one JSON object a line")
        yield f"{name}:{number}", row


def _row(row: JSON, seeds: Seeds, where: str) -> Row:
    if seeds.format == "jsonl":
        return {"text": _text(row, seeds.field or "text", where)}
    if seeds.format == "messages":
        return _of_messages(row, where)
    input = row.get("input")
    return {
        "instruction": _text(row, "instruction", where),
        "input": input if isinstance(input, str) else "",
        "output": _text(row, "output", where),
    }


def _of_messages(row: JSON, where: str) -> Row:
    """The first question and the answer that follows it."""
    messages: Any = row.get("messages")
    turns = [turn for turn in messages if isinstance(turn, dict)] if isinstance(messages, list) else []
    for question, answer in pairwise(turns):
        if (question.get("role"), answer.get("role")) == ("user", "assistant"):
            return {"instruction": _text(question, "content", where), "input": "", "output": _text(answer, "content", where)}
    raise StageFault("no question that an answer follows", where=where, fix="give `messages` with roles user and assistant, in turn")


def _text(row: JSON, name: str, where: str) -> str:
    value = row.get(name)
    if not isinstance(value, str) or not value.strip():
        have = ", ".join(sorted(row)) or "none"
        raise StageFault(f"no text in {name!r}; the row has: {have}", where=where, fix=f"add {name!r}, or set the seeds' format or field")
    return value
