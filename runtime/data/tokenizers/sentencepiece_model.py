"""SentencePiece models."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import compress

import numpy as np
from sentencepiece import SentencePieceProcessor

from runtime.data.tokenizers.backend import Ids

BLANK = "\u2581"  # SentencePiece writes a blank as this character, and reads this character back as a blank
PROBES = ("\uff21\uff0c\ufe30", " a  b ", "a\tb\n\nc")  # show width folding, added or removed blanks


class SentencePieceModel:
    """A model in its library; `processor` is the library's own object."""

    def __init__(self, processor: SentencePieceProcessor) -> None:
        self.processor = processor
        self.size: int = processor.get_piece_size()
        spelt = self._kinds.count("byte") == 256
        self.unknown: int | None = None if spelt else processor.unk_id()
        beside = ("control", "unknown") if spelt else ("control",)
        self.special = frozenset(id for id, kind in enumerate(self._kinds) if kind in beside)
        first = processor.encode("a", out_type=str)
        self.prefix = int(bool(first) and first[0].startswith(BLANK))

    def encode(self, text: str) -> Ids:
        """Ids; where bytes have pieces, U+2581 is spelt in them, since SentencePiece would make a blank of it."""
        if BLANK not in text or not self._blank_sign:
            return self.processor.encode_as_numpy(text)
        parts = [self.processor.encode_as_numpy(part) for part in text.split(BLANK)]
        sign = np.asarray(self._blank_sign, np.int32)
        return np.concatenate([parts[0], *(array for part in parts[1:] for array in (sign, part))]).astype(np.int32)

    def encode_all(self, texts: Sequence[str]) -> list[Ids]:
        """By `encode` where one of the texts has U+2581."""
        if self._blank_sign and any(BLANK in text for text in texts):
            return [self.encode(text) for text in texts]
        return self.processor.encode_as_numpy(list(texts), num_threads=1)

    def decode(self, ids: Sequence[int]) -> str:
        """Text of ids."""
        return self.processor.decode(list(ids))

    def contents(self) -> list[bytes]:
        """Bytes by id, a blank for U+2581."""
        return [_content(kind, piece) for kind, piece in zip(self._kinds, self._pieces, strict=True)]

    def is_byte(self, id: int) -> bool:
        """Whether an id is one byte of a character that has no piece."""
        return self._kinds[id] == "byte"

    def ends(self, text: str) -> list[int]:
        """From SentencePiece's own alignment with the text before it was normalised."""
        found, before = list[int](), 0
        for index, part in enumerate(text.split(BLANK) if self._blank_sign else [text]):
            if index:
                found += [before, before, before + 1]
                before += 1
            found += [before + end for _, end in self.processor.encode_as_offset_mapping(part)["offsets"]]
            before += len(part)
        return found

    def piece(self, id: int) -> str:
        """The text of a piece, with U+2581 for a blank."""
        return self._pieces[id]

    def fingerprint(self) -> Iterator[bytes]:
        """Pieces, their kinds and scores, and what the normaliser does. The file also holds settings of the trainer."""
        scores = self.processor.get_score(list(range(self.size)))
        for piece, kind, score in zip(self._pieces, self._kinds, scores, strict=True):
            yield f"{piece}\0{kind}\0{score!r}\n".encode()
        for probe in PROBES:
            yield " ".join(self.processor.encode(probe, out_type=str)).encode()

    @cached_property
    def _blank_sign(self) -> list[int]:
        """Byte pieces of U+2581 itself; empty without byte fallback, and where each part of a text would get a blank before it."""
        ids = [self.processor.piece_to_id(f"<0x{byte:02X}>") for byte in BLANK.encode()]
        return ids if not self.prefix and all(map(self.processor.is_byte, ids)) else []

    @cached_property
    def _pieces(self) -> list[str]:
        """By id. The library is asked for all at once here and below: one by one, they would take longer than to encode a megabyte."""
        return self.processor.id_to_piece(list(range(self.size)))

    @cached_property
    def _kinds(self) -> list[str]:
        """By id; of two that hold, the later one counts."""
        asked, ids, kinds = self.processor, list(range(self.size)), ["text"] * self.size
        for name, holds in (
            ("unused", asked.is_unused),
            ("byte", asked.is_byte),
            ("control", asked.is_control),
            ("unknown", asked.is_unknown),
        ):
            for id in compress(ids, holds(ids)):
                kinds[id] = name
        return kinds


def _content(kind: str, piece: str) -> bytes:
    if kind == "text":
        return piece.replace(BLANK, " ").encode()
    return bytes([int(piece[1:-1], 16)]) if kind == "byte" else b""
