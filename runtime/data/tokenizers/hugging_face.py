"""Hugging Face's `tokenizer.json`, in the library `tokenizers`."""

import json
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import tokenizers

from runtime.data.tokenizers.backend import Ids

BLANK = "\u2581"
NO_CHARACTER = "\ufdd0"  # no text has it: Unicode keeps it for the use inside of programs
BYTE = re.compile(r"<0x([0-9A-F]{2})>")

os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # stages work in processes: more threads would only compete


class HuggingFaceModel:
    """A tokenizer.json without its special pieces: nothing but text is left to be found in a text.

    Added pieces that are not special, such as long runs of blanks, are text; those that are in `named` are not. The library numbers
    added pieces anew, one behind the other: those behind a special piece that was taken out get the ids of the file back.
    """

    def __init__(self, data: bytes, named: Collection[str]) -> None:
        file = json.loads(data)
        added = file.get("added_tokens") or []
        apart = {piece["content"]: piece["id"] for piece in added if piece.get("special") or piece["content"] in named}
        listed = file["model"]["vocab"]
        pieces = listed if isinstance(listed, dict) else {piece[0]: id for id, piece in enumerate(listed)}
        self._texts = {id: text for text, id in (*pieces.items(), *((piece["content"], piece["id"]) for piece in added))}
        self.size = max(self._texts) + 1
        self.special = frozenset(apart.values())
        self._added = {piece["id"] for piece in added}
        self._data = json.dumps(file, sort_keys=True, ensure_ascii=False).encode()
        kept = [piece for piece in added if piece["content"] not in apart]
        plain = {**file, "added_tokens": kept, "post_processor": None, "truncation": None, "padding": None}
        if isinstance(listed, dict):
            chance = {"dropout": None} if file["model"].get("dropout") else {}  # of its training: texts would get other ids each time
            plain["model"] = {**file["model"], "vocab": _without_holes(listed), **chance}
        self._tokenizer = tokenizers.Tokenizer.from_str(json.dumps(plain, ensure_ascii=False))
        self._renumbered = {self._tokenizer.token_to_id(piece["content"]): piece["id"] for piece in kept}
        self._renumbered = {theirs: ours for theirs, ours in self._renumbered.items() if theirs != ours}
        self._theirs = {ours: theirs for theirs, ours in self._renumbered.items()}
        self._byte_level = "ByteLevel" in _types(file.get("decoder"))
        self._spells = bool(file["model"].get("byte_fallback"))
        unknown = file["model"].get("unk_token")
        self.unknown: int | None = None if self._byte_level or unknown is None else pieces.get(unknown)
        if isinstance(file["model"].get("unk_id"), int):  # Unigram gives the number
            self.unknown = file["model"]["unk_id"]
        self.prefix = len(self.decode_raw("a")) - 1

    def decode_raw(self, text: str) -> bytes:
        """What the pieces of a text stand for, one behind the other."""
        contents = self.contents()
        return b"".join(contents[id] for id in self.encode(text))

    def encode(self, text: str) -> Ids:
        """Ids, without what a post-processor would put around them."""
        return self.encode_all([text])[0]

    def encode_all(self, texts: Sequence[str]) -> list[Ids]:
        """Ids of several texts."""
        found = [encoded.ids for encoded in self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)]
        if self._renumbered:
            found = [[self._renumbered.get(id, id) for id in ids] for ids in found]
        return [np.asarray(ids, np.int32) for ids in found]

    def decode(self, ids: Sequence[int]) -> str:
        """Text of ids: their bytes where pieces are bytes, else by the file's own decoder."""
        if self._byte_level:
            contents = self.contents()
            return b"".join(contents[id] for id in ids).decode(errors="replace")
        return self._tokenizer.decode([self._theirs.get(id, id) for id in ids], skip_special_tokens=False)

    def contents(self) -> list[bytes]:
        """Bytes by id."""
        if not hasattr(self, "_contents"):
            self._contents = [self._content(id) for id in range(self.size)]
        return self._contents

    def is_byte(self, id: int) -> bool:
        """Whether an id is bytes that are no whole characters."""
        content = self.contents()[id]
        if self._spells and BYTE.fullmatch(self.piece(id)):
            return True
        return bool(content) and _is_partial(content)

    def ends(self, text: str) -> list[int]:
        """From the library's alignment with the text before it was normalised."""
        return [end for _, end in self._tokenizer.encode(text, add_special_tokens=False).offsets]

    def piece(self, id: int) -> str:
        """How the file writes a piece: bytes as printable characters where pieces are bytes."""
        return self._texts.get(id, "")

    def fingerprint(self) -> Iterator[bytes]:
        """The whole file, whatever the order of its keys."""
        yield self._data

    def _content(self, id: int) -> bytes:
        if id in self.special or id == self.unknown or id not in self._texts:
            return b""
        text = self._texts[id]
        if self._byte_level and id not in self._added:
            return bytes(BYTE_OF[character] for character in text) if all(map(BYTE_OF.__contains__, text)) else text.encode()
        if self._spells and (match := BYTE.fullmatch(text)):
            return bytes([int(match[1], 16)])
        return text.replace(BLANK, " ").encode()


def _without_holes(vocabulary: Mapping[str, int]) -> dict[str, int]:
    """A vocabulary in which each id up to the largest has a piece: the library counts the pieces to number those that are added."""
    used = set(vocabulary.values())
    return {**vocabulary, **{f"{NO_CHARACTER}{id}": id for id in range(max(used, default=-1) + 1) if id not in used}}


def _types(part: Mapping[str, Any] | None) -> set[str]:
    """The types of a decoder and of those it is a sequence of."""
    if not part:
        return set()
    return {part["type"]}.union(*(_types(one) for one in part.get("decoders", ())))


def _is_partial(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return True
    return False


def _byte_characters() -> dict[str, int]:
    """Character -> byte of byte-level BPE: a byte that prints in Latin-1 is itself, the others are U+0100 onwards (GPT-2)."""
    printed = [*range(ord("!"), ord("~") + 1), *range(ord("\u00a1"), ord("\u00ac") + 1), *range(ord("\u00ae"), ord("\u00ff") + 1)]
    others = [byte for byte in range(256) if byte not in printed]
    return {chr(byte): byte for byte in printed} | {chr(256 + index): byte for index, byte in enumerate(others)}


BYTE_OF = _byte_characters()
