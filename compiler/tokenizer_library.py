"""What the library of a given tokenizer says of its file and its pattern; none is imported unless a spec names such a file."""

import importlib
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from compiler.spec.tokenizer import Tokenizer
from runtime.contracts.tokenizer import PATTERNS

_LARGEST = 1 << 26  # bytes of a file that is read in less than a second
_LONGEST = 300  # characters of what a library says


def refusal(settings: Tokenizer, root: Path) -> str | None:
    """Why the library does not take the file; None where it does, is not installed, or the file is large or not there."""
    path = root / settings.path if settings.path else None
    if path is None or settings.kind not in _READERS or not path.is_file() or path.stat().st_size > _LARGEST:
        return None
    stat = path.stat()
    return _refused(settings.kind, path, stat.st_mtime_ns, stat.st_size)


@cache
def pattern_refusal(pattern: str) -> str | None:
    """Why tiktoken does not take a regular expression; the names of PATTERNS are none."""
    ranks = {bytes([byte]): byte for byte in range(256)}
    return None if pattern in PATTERNS else _told("tiktoken", lambda library: _split(library, pattern, ranks))


def _split(library: Any, pattern: str, ranks: dict[bytes, int]) -> object:
    return library.Encoding("checked", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})


@cache
def _refused(kind: str, path: Path, _changed: int, _size: int) -> str | None:
    name, read = _READERS[kind]
    data = path.read_bytes()
    return _told(name, lambda library: read(library, data))


def _told(name: str, read: Callable[[Any], object]) -> str | None:
    try:
        library = importlib.import_module(name)
    except ImportError:
        return None
    try:
        read(library)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # libraries in Rust end in an exception of their own, which is no Exception
        return (" ".join(str(error).split()) or type(error).__name__)[:_LONGEST]
    return None


def _hugging_face(library: Any, data: bytes) -> object:
    """Without what the stage takes out of the file."""
    file: dict[str, Any] = json.loads(data)
    pieces: list[dict[str, Any]] = file.get("added_tokens") or []
    added = [piece for piece in pieces if not piece.get("special")]
    plain: dict[str, Any] = {**file, "added_tokens": added, "post_processor": None, "truncation": None, "padding": None}
    return library.Tokenizer.from_str(json.dumps(plain, ensure_ascii=False))


def _sentencepiece(library: Any, data: bytes) -> object:
    return library.SentencePieceProcessor(model_proto=data)


_READERS: dict[str, tuple[str, Callable[[Any, bytes], object]]] = {
    "hf": ("tokenizers", _hugging_face),
    "sentencepiece": ("sentencepiece", _sentencepiece),
}
