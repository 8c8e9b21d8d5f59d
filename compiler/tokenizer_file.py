"""A given tokenizer as the compiler sees it: its size and special pieces, read without its library."""

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


@cache
def _read(kind: str, path: Path, _changed: int, _size: int) -> Pieces:
    return vocabulary_file.read(kind, path.read_bytes())
