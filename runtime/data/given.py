"""A tokenizer that is given as a file: taken over as it is, after its special pieces were found in it.

The file is copied into the tokenizer folder, so that every later stage reads the copy. What the file's own settings would put
around a text, such as a begin piece, is left out: rows get their special pieces from this project alone.
"""

import json
from pathlib import Path
from typing import Any

from runtime.contracts import vocabulary_file
from runtime.contracts.counting import counted
from runtime.contracts.tokenizer import Tokenizer
from runtime.contracts.vocabulary_file import Pieces, Resolved
from runtime.data import encoding
from runtime.data.coverage import Coverage
from runtime.data.encoding import FILES, PIECES, SPECIAL, Vocabulary
from runtime.faults import StageFault
from runtime.raw_file import content_of

SHOWN = 30
WHERE = "config/tokenizer.yaml"
CHANGED_LIMIT = 0.01
LOSS_SHOWN = 50


def take(folder: Path, root: Path, parameters: Tokenizer) -> Vocabulary:
    """Write the tokenizer folder for a given file. Raises StageFault where the file is none, or is not what the spec says."""
    assert parameters.path is not None, "only a given tokenizer is taken"
    data = _content(root, parameters.path)
    stated = special_tokens(_pieces(data, parameters), parameters)
    try:
        backend = encoding.backend(data, stated)
    except Exception as error:  # the libraries raise their own kinds, `tokenizers` plain exceptions
        raise StageFault(
            f"{parameters.kind} does not read the file: {error}", where=str(parameters.path), fix="give another file"
        ) from None
    vocabulary = encoding.from_parts(backend, stated, WHERE)
    (folder / FILES[parameters.kind]).write_bytes(data)
    pieces = (json.dumps([backend.piece(id), id], ensure_ascii=False) for id in range(backend.size))
    (folder / PIECES).write_text("".join(f"{piece}\n" for piece in pieces), "utf-8", newline="\n")
    (folder / SPECIAL).write_text(json.dumps(stated, ensure_ascii=False, indent=1) + "\n", "utf-8", newline="\n")
    return vocabulary


def _content(root: Path, path: str) -> bytes:
    return content_of(root / path, path, "give the file, or correct tokenizer.path")


def _pieces(data: bytes, parameters: Tokenizer) -> Pieces:
    try:
        return vocabulary_file.read(parameters.kind, data)
    except ValueError as error:
        raise StageFault(
            f"no {parameters.kind} vocabulary: {error}", where=str(parameters.path), fix="name the right file and its tokenizer.kind"
        ) from None


def special_tokens(pieces: Pieces, parameters: Tokenizer) -> dict[str, Any]:
    """The content of `special_tokens.json`. Raises StageFault for pieces that are not there, and for another size than was asked for."""
    special = parameters.special_tokens
    found = vocabulary_file.resolve(pieces, (special.pad, special.bos, special.eos, *special.user), special.ids)
    _check(pieces, found, parameters)
    named = {name: getattr(special, name) for name in ("pad", "bos", "eos")}
    stated: dict[str, Any] = {"kind": parameters.kind, "vocab_size": found.size}
    if parameters.kind == "tiktoken":
        stated["pattern"] = parameters.pattern
    stated |= {name: {"text": text, "id": found.ids[text]} for name, text in named.items()}
    stated["user"] = {text: found.ids[text] for text in special.user}
    told = {*named.values(), *special.user}
    return {**stated, "further": {text: id for text, id in found.ids.items() if text not in told}}


def _check(pieces: Pieces, found: Resolved, parameters: Tokenizer) -> None:
    if found.missing:
        known = [vocabulary_file.visible(text) for text in pieces.special]
        there = ", ".join(known[:SHOWN]) + (f" and {len(known) - SHOWN} more" if len(known) > SHOWN else "")
        raise StageFault(
            f"{', '.join(found.missing)}: no special piece of the tokenizer",
            where=str(parameters.path),
            reason=f"it has {there or 'none'}",
            fix="use one of those, or give a new piece a number of its own in tokenizer.special_tokens.ids",
        )
    if found.taken:
        shown = ", ".join(f"{text}: {id}" for text, id in found.taken)
        raise StageFault(f"tokenizer.special_tokens.ids: {shown} is taken by another piece", where=WHERE, fix=f"count from {pieces.size}")
    if found.size != parameters.vocab_size:
        raise StageFault(
            f"the tokenizer has {counted(found.size, 'id')}, vocab_size is {parameters.vocab_size}",
            where=WHERE,
            reason="the embedding of the language model would not match",
            fix=f"set tokenizer.vocab_size to {found.size}",
        )


def warnings(held_out: Coverage, probes: list[str]) -> list[str]:
    """What a person should know of a tokenizer that rewrites text."""
    found = list[str]()
    if held_out.changed:
        lost, all = held_out.lost.total(), held_out.characters
        shown = held_out.most_lost(LOSS_SHOWN)
        changed, characters = counted(held_out.changed, "validation document"), counted(all, "character")
        found.append(f"changed: {changed}; {lost} of {characters} do not come back: {shown!r}")
    if probes:
        found.append(f"these texts change when they are encoded and decoded: {', '.join(map(repr, probes))}")
    return found


def check_losses(held_out: Coverage, parameters: Tokenizer) -> None:
    """Raise StageFault where a given tokenizer rewrites too much of the held-out text."""
    if held_out.lost.total() > CHANGED_LIMIT * held_out.characters:
        raise StageFault(
            f"{held_out.lost.total()} of {counted(held_out.characters, 'validation character')} do not come back: "
            f"{held_out.most_lost(LOSS_SHOWN)!r}",
            where=str(parameters.path),
            reason=f"the tokenizer rewrites more than {CHANGED_LIMIT:.0%} of the text, and a model would never learn to write it",
            fix="give a tokenizer without such a normaliser, or normalise the text in data.pretrain.clean",
        )
