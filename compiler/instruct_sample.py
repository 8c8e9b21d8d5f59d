"""The first instruction rows of a source, for what a check can say before hours of stages; whatever cannot be read is passed over."""

import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, cast

from compiler.spec.data.instruct import InstructSource

_READ, _ROWS = 64 * 1024, 100  # bytes and rows that are looked at
_SUFFIXES = (".jsonl", ".json", ".jsonl.gz", ".json.gz")
_OFFERED, _CALLED = ("tools", "functions"), ("tool_calls", "function_call")  # fields of a row, and of a turn
_CALLING = ("tool", "function", "function_call", "observation")
_BYTES_A_TOKEN = 3  # of the small vocabulary of a twin, about
_FRAME = 400  # bytes that a template writes around the tools of a row, about


@dataclass(frozen=True)
class Sample:
    """`calls`: how many of the rows have tools or turns of tools; `tokens`: of what cannot be cut in each row, at the least."""

    calls: int
    tokens: tuple[int, ...]


def sample(source: InstructSource, root: Path) -> Sample:
    """What the first rows of a source are like."""
    names, tags = {theirs: ours for ours, theirs in source.fields.items()}, {tag: str(role) for tag, role in source.roles.items()}
    rows = [_named(row, names) for row in _rows(root / source.path)]
    return Sample(sum(_calls(row, tags) for row in rows), tuple(_uncut(row, tags) // _BYTES_A_TOKEN for row in rows))


def _rows(path: Path) -> tuple[Mapping[str, Any], ...]:
    try:
        file = next((one for one in sorted(path.rglob("*")) if one.name.endswith(_SUFFIXES)), path) if path.is_dir() else path
        stat = file.stat()
    except OSError:
        return ()
    return _parsed(file, stat.st_mtime_ns, stat.st_size) if file.name.endswith(_SUFFIXES) else ()


@cache
def _parsed(file: Path, _changed: int, _size: int) -> tuple[Mapping[str, Any], ...]:
    try:
        with gzip.open(file) if file.suffix == ".gz" else file.open("rb") as opened:
            text = opened.read(_READ).decode("utf-8", "ignore")
    except (OSError, EOFError):
        return ()
    return tuple(islice((cast(Mapping[str, Any], row) for row in _objects(text.lstrip("\ufeff \t\r\n[")) if isinstance(row, dict)), _ROWS))


def _objects(text: str) -> Iterator[Any]:
    """JSON values one after the other, up to the first that is broken or cut off."""
    decoder = json.JSONDecoder()
    while text:
        try:
            value, end = decoder.raw_decode(text)
        except (ValueError, RecursionError):
            return
        yield value
        text = text[end:].lstrip(", \t\r\n")


def _named(row: Mapping[str, Any], names: Mapping[str, str]) -> Mapping[str, Any]:
    return {names.get(name, name): value for name, value in row.items()}


def _turns(row: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    listed = row.get("messages") or row.get("conversations")
    return [turn for turn in cast(list[Any], listed) if isinstance(turn, dict)] if isinstance(listed, list) else []


def _tag(turn: Mapping[str, Any], tags: Mapping[str, str]) -> str:
    written = str(turn.get("role", turn.get("from", "")))
    return tags.get(written, written)


def _calls(row: Mapping[str, Any], tags: Mapping[str, str]) -> bool:
    written = [row.get(name) for name in _OFFERED] + [turn.get(name) for turn in _turns(row) for name in _CALLED]
    return any(written) or any(_tag(turn, tags) in _CALLING for turn in _turns(row))


def _uncut(row: Mapping[str, Any], tags: Mapping[str, str]) -> int:
    """Bytes of a row but for its questions, of which the middle may be cut."""
    kept: list[Any] = [turn.get("content", turn.get("value")) for turn in _turns(row) if _tag(turn, tags) not in ("user", "human")]
    kept += [turn.get(name) for turn in _turns(row) for name in _CALLED] + [row.get(name) for name in (*_OFFERED, "system")]
    kept += [row.get("output")] if "output" in row else []
    return sum(len(_text(part).encode("utf-8", "ignore")) for part in kept if part) + _FRAME * any(row.get(name) for name in _OFFERED)


def _text(part: Any) -> str:
    return part if isinstance(part, str) else json.dumps(part, ensure_ascii=False)
