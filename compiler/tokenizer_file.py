"""A given tokenizer as the compiler sees it: its size and special pieces, read without its library."""

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from compiler.spec import Spec
from compiler.spec.tokenizer import Tokenizer
from runtime.contracts import vocabulary_file
from runtime.contracts.vocabulary_file import Pieces, Resolved


def pieces(spec: Spec, root: Path) -> Pieces | None:
    """What the given file holds; None where a tokenizer is trained, or the file is not there. Raises NoVocabulary where it is none."""
    settings = spec.tokenizer
    path = root / settings.path if settings.path else None
    if path is None or not path.is_file():
        return None
    stat = path.stat()
    return _read(settings.kind, path, stat.st_mtime_ns, stat.st_size)


def resolved(settings: Tokenizer, found: Pieces) -> Resolved:
    """The special pieces that a spec names, in a given file."""
    special = settings.special_tokens
    return vocabulary_file.resolve(found, (special.pad, special.bos, special.eos, *special.user), special.ids)


@dataclass(frozen=True)
class Numbering:
    """`ids`: numbers for the pieces that a given file has not, and for those whose number is taken, behind its last id.

    `now`: how many ids there are without them; `size`: with them. `text`: what to write for all of it.
    """

    ids: Mapping[str, int]
    now: int
    size: int
    text: str


def numbering(settings: Tokenizer, found: Pieces, also: Collection[str] = ()) -> Numbering:
    """Consecutive numbers for all pieces that lack one; `also`: further pieces that are needed, those of a chat template."""
    known, special = resolved(settings, found), settings.special_tokens
    taken = [text for text, _ in known.taken if text not in found.special]
    wrong = dict(known.taken)
    stated = {text: id for text, id in special.ids.items() if text not in wrong}
    now = max([found.size, *(id + 1 for text, id in known.ids.items() if text not in wrong)])
    new = dict.fromkeys([*taken, *known.missing, *(text for text in also if text not in found.special and text not in known.ids)])
    ids = {text: now + index for index, text in enumerate(new)}
    user = [f"user: [{', '.join(map(in_flow, [*special.user, *also]))}]"] if also else []
    written = {} if found.appends and not taken else {**stated, **ids}
    numbers = [f"ids: {{{', '.join(f'{in_flow(text)}: {id}' for text, id in written.items())}}}"] if written else []
    parts = [f"vocab_size: {now + len(ids)}", *([f"special_tokens: {{{', '.join([*user, *numbers])}}}"] if user or numbers else [])]
    return Numbering(ids, now, now + len(ids), f"tokenizer: {{{', '.join(parts)}}}")


def in_flow(text: str) -> str:
    """A piece as it is written in a list or mapping of YAML in brackets."""
    return text if re.fullmatch(r"<[\w|/<>.-]*>", text) else json.dumps(text, ensure_ascii=False)


@cache
def _read(kind: str, path: Path, _changed: int, _size: int) -> Pieces:
    return vocabulary_file.read(kind, path.read_bytes())
