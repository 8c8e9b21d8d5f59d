"""The rows that people wrote, which show a model what to write; all of them are held in memory."""

from itertools import pairwise
from pathlib import Path
from typing import Any

from runtime.contracts.ingest import ROW_ENDINGS
from runtime.contracts.synthesize import Seeds
from runtime.data.ordering import rank
from runtime.data.row_files import Range, RawRow, rows_of
from runtime.data.synthetic.exchange import JSON
from runtime.faults import StageFault, several

Row = dict[str, str]
TOLD = 10  # rows that cannot be read


def files_of(root: Path, seeds: Seeds) -> list[tuple[str, Path]]:
    """Names relative to the project root, and where they lie. Raises StageFault where there is none."""
    place = root / seeds.path
    found = (file for file in place.rglob("*") if file.name.lower().endswith(ROW_ENDINGS))
    files = sorted(found, key=lambda file: file.relative_to(place).as_posix()) if place.is_dir() else [place]
    if not files or not files[0].is_file():
        wanted = ", ".join(f"*{ending}" for ending in ROW_ENDINGS)
        fix = "mend the path of the seeds (relative to the project root), or fetch the data with `dvc pull`"
        raise StageFault(f"{seeds.path} is neither a file nor a folder with {wanted}", where="config/synthesize.yaml", fix=fix)
    return [(file.relative_to(root).as_posix(), file) for file in files]


def read(root: Path, seeds: Seeds) -> list[Row]:
    """The seeds in the order of files and lines: `instruction`, `input` and `output`, or `text`.

    Raises StageFault at file:line for all that cannot be read: without one of the seeds, every request would be another.
    """
    rows, faults = list[Row](), list[StageFault]()
    for name, file in files_of(root, seeds):
        for raw in rows_of(Range(name, file)):
            try:
                rows.append(_sound(raw, seeds))
            except StageFault as fault:
                faults.append(fault)
    if faults:
        raise several(faults[:TOLD], len(faults))
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


def _sound(raw: RawRow, seeds: Seeds) -> Row:
    if raw.fault:
        raise raw.fault
    return _row(raw.row, seeds, raw.where)


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
