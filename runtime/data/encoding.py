"""From text to token ids and back, with the tokenizer folder that the stage `tokenizer` wrote.

Special pieces (pad, bos, eos, chat markers) are control symbols of the SentencePiece model: no text encodes to them, they
decode to nothing, and only code that asks for their ids puts them into a row.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, groupby, pairwise
from pathlib import Path
from typing import Any

from sentencepiece import SentencePieceProcessor

from runtime.faults import StageFault

MODEL = "tokenizer.model"
PIECES = "tokenizer.vocab"
SPECIAL = "special_tokens.json"
BLANK = "\u2581"  # SentencePiece writes a blank as this character, and reads this character back as a blank


@dataclass(frozen=True)
class Vocabulary:
    """A SentencePiece model and its special pieces.

    special: text of a special piece -> id. `pad`, `bos`, `eos`: ids. `markers`: texts of the chat markers.
    """

    processor: SentencePieceProcessor
    special: Mapping[str, int]
    pad: int
    bos: int
    eos: int
    markers: tuple[str, ...]

    @property
    def size(self) -> int:
        """Number of pieces; ids are 0 ... size - 1."""
        return self.processor.get_piece_size()

    def encode(self, text: str) -> list[int]:
        """Ids of a text; never one of a special piece, whatever the text says."""
        if not self._blank_sign:
            return self.processor.encode(text)
        first, *others = (self.processor.encode(part) for part in text.split(BLANK))
        return first + [id for part in others for id in (*self._blank_sign, *part)]

    def decode(self, ids: Sequence[int]) -> str:
        """Text of ids; special pieces give nothing, bytes that are not UTF-8 give U+FFFD."""
        return self.processor.decode(list(ids))

    def show(self, ids: Sequence[int]) -> str:
        """Text of ids with the special pieces visible, for people."""
        runs = groupby(ids, key=self.processor.is_control)
        return "".join("".join(map(self.processor.id_to_piece, run)) if special else self.decode(list(run)) for special, run in runs)

    def sizes(self, text: str, ids: Sequence[int]) -> list[int]:
        """UTF-8 bytes of `text` that each of its `ids` (from `encode`) stands for; they sum to the size of the text."""
        if self.processor.unk_id() not in ids:
            return [self._bytes_of[id] for id in ids]
        pieces = self.processor.encode(text, out_type=str)  # an unknown piece comes as the characters it stands for
        ends = list(accumulate(map(len, pieces)))
        return [len(text[start:end].encode()) for start, end in pairwise([0, *ends])]

    def is_unknown(self, id: int) -> bool:
        """Whether an id stands for characters that have no piece."""
        return id == self.processor.unk_id()

    def is_byte(self, id: int) -> bool:
        """Whether an id is one byte of a character that has no piece."""
        return self.processor.is_byte(id)

    def continues_character(self, id: int) -> bool:
        """Whether an id is the second or a later byte of a character: a text must not be cut before it."""
        return self.is_byte(id) and 0x80 <= int(self.processor.id_to_piece(id)[1:-1], 16) < 0xC0

    @cached_property
    def identity(self) -> str:
        """SHA-256 over all pieces, their kinds and scores, and the normaliser: equal identity, equal ids for every text.

        The bytes of the model file also hold settings of the trainer that change no id.
        """
        digest = hashlib.sha256(json.dumps(dict(self.special), sort_keys=True).encode())
        for id in range(self.size):
            digest.update(f"{self.processor.id_to_piece(id)}\0{_kind(self.processor, id)}\0{self.processor.get_score(id)!r}\n".encode())
        for probe in ("\uff21\uff0c\ufe30", " a  b ", "a\tb\n\nc"):  # shows width folding, added or removed blanks
            digest.update(" ".join(self.processor.encode(probe, out_type=str)).encode())
        return digest.hexdigest()

    @cached_property
    def _blank_sign(self) -> list[int]:
        """Byte pieces of the character U+2581 itself; empty without byte fallback."""
        ids = [self.processor.piece_to_id(f"<0x{byte:02X}>") for byte in BLANK.encode()]
        return ids if all(map(self.processor.is_byte, ids)) else []

    @cached_property
    def _bytes_of(self) -> list[int]:
        return [_bytes_of(self.processor, id) for id in range(self.size)]


def _kind(processor: SentencePieceProcessor, id: int) -> str:
    kinds = {"unknown": processor.is_unknown, "control": processor.is_control, "byte": processor.is_byte, "unused": processor.is_unused}
    return next((name for name, holds in kinds.items() if holds(id)), "text")


def _bytes_of(processor: SentencePieceProcessor, id: int) -> int:
    kind = _kind(processor, id)
    if kind == "text":
        return len(processor.id_to_piece(id).replace(BLANK, " ").encode())
    return 1 if kind == "byte" else 0


def load(folder: Path) -> Vocabulary:
    """Load a tokenizer folder. Raises StageFault where the model and `special_tokens.json` contradict each other."""
    stated = json.loads((folder / SPECIAL).read_text("utf-8"))
    processor = SentencePieceProcessor(model_file=str(folder / MODEL))
    return from_parts(processor, stated, str(folder / SPECIAL))


def from_parts(processor: SentencePieceProcessor, stated: Mapping[str, Any], where: str) -> Vocabulary:
    """A model with the special pieces that `special_tokens.json` states. Raises StageFault where they differ."""
    named = [(stated[name]["text"], stated[name]["id"]) for name in ("pad", "bos", "eos")]
    special = dict([*named, *stated["user"].items()])
    wrong = [
        f"{text} is said to be {id}, is {processor.piece_to_id(text)}"
        for text, id in special.items()
        if not _is_special(processor, text, id)
    ]
    if stated["vocab_size"] != processor.get_piece_size():
        wrong.append(f"vocab_size is said to be {stated['vocab_size']}, is {processor.get_piece_size()}")
    if wrong:
        raise StageFault(
            "; ".join(wrong), where=where, reason="rows would hold wrong ids", fix="delete the tokenizer folder and run `dvc repro`"
        )
    pad, bos, eos = (id for _, id in named)
    return Vocabulary(processor, special, pad, bos, eos, tuple(stated["user"]))


def _is_special(processor: SentencePieceProcessor, text: str, id: int) -> bool:
    return 0 <= id < processor.get_piece_size() and processor.piece_to_id(text) == id and processor.is_control(id)
