"""SentencePiece models."""

from collections.abc import Iterator, Sequence
from functools import cached_property

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
        kinds = range(self.size)
        spelt = sum(map(processor.is_byte, kinds)) == 256
        self.unknown: int | None = None if spelt else processor.unk_id()
        self.special = frozenset(id for id in kinds if processor.is_control(id) or (spelt and processor.is_unknown(id)))
        first = processor.encode("a", out_type=str)
        self.prefix = int(bool(first) and first[0].startswith(BLANK))

    def encode(self, text: str) -> Ids:
        """Ids; where bytes have pieces, U+2581 is spelt in them, since SentencePiece would make a blank of it."""
        if BLANK not in text or not self._blank_sign:
            return self.processor.encode_as_numpy(text)
        parts = [self.processor.encode_as_numpy(part) for part in text.split(BLANK)]
        sign = np.asarray(self._blank_sign, np.int32)
        return np.concatenate([parts[0], *(array for part in parts[1:] for array in (sign, part))]).astype(np.int32)

    def decode(self, ids: Sequence[int]) -> str:
        """Text of ids."""
        return self.processor.decode(list(ids))

    def contents(self) -> list[bytes]:
        """Bytes by id, a blank for U+2581."""
        return [self._content(id) for id in range(self.size)]

    def is_byte(self, id: int) -> bool:
        """Whether an id is one byte of a character that has no piece."""
        return self.processor.is_byte(id)

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
        return self.processor.id_to_piece(id)

    def fingerprint(self) -> Iterator[bytes]:
        """Pieces, their kinds and scores, and what the normaliser does. The file also holds settings of the trainer."""
        for id in range(self.size):
            yield f"{self.piece(id)}\0{self._kind(id)}\0{self.processor.get_score(id)!r}\n".encode()
        for probe in PROBES:
            yield " ".join(self.processor.encode(probe, out_type=str)).encode()

    @cached_property
    def _blank_sign(self) -> list[int]:
        """Byte pieces of U+2581 itself; empty without byte fallback, and where each part of a text would get a blank before it."""
        ids = [self.processor.piece_to_id(f"<0x{byte:02X}>") for byte in BLANK.encode()]
        return ids if not self.prefix and all(map(self.processor.is_byte, ids)) else []

    def _kind(self, id: int) -> str:
        asked = self.processor
        kinds = {"unknown": asked.is_unknown, "control": asked.is_control, "byte": asked.is_byte, "unused": asked.is_unused}
        return next((name for name, holds in kinds.items() if holds(id)), "text")

    def _content(self, id: int) -> bytes:
        kind, piece = self._kind(id), self.piece(id)
        if kind == "text":
            return piece.replace(BLANK, " ").encode()
        return bytes([int(piece[1:-1], 16)]) if kind == "byte" else b""
