"""From text to token ids and back, with the tokenizer folder that the stage `tokenizer` wrote, whatever its library.

Special pieces (pad, bos, eos, chat markers, and all others that the file calls special) are apart from text: no text encodes
to them, they decode to nothing, and only code that asks for their ids puts them into a row.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from runtime.contracts.vocabulary_file import as_control
from runtime.data.tokenizers.backend import Backend, Ids
from runtime.faults import StageFault

FILES = {"sentencepiece": "tokenizer.model", "hf": "tokenizer.json", "tiktoken": "tokenizer.tiktoken"}
MODEL = FILES["sentencepiece"]
PIECES = "tokenizer.vocab"
SPECIAL = "special_tokens.json"


@dataclass(frozen=True)
class Vocabulary:
    """A vocabulary and its special pieces.

    special: text of a special piece -> id. `pad`, `bos`, `eos`: ids. `markers`: texts of the chat markers.
    size: number of ids, which are 0 ... size - 1.
    """

    backend: Backend
    special: Mapping[str, int]
    pad: int
    bos: int
    eos: int
    markers: tuple[str, ...]
    size: int

    def encode(self, text: str) -> list[int]:
        """Ids of a text; never one of a special piece, whatever the text says."""
        return self.array(text).tolist()

    def array(self, text: str) -> Ids:
        """As `encode`: int32, (ids,)."""
        ids = self.backend.encode(text)
        return self._apart(text) if self.is_special[ids].any() else ids

    def arrays(self, texts: Iterable[str]) -> dict[str, Ids]:
        """`array` of several texts, by text. Those in which a library finds special pieces are not among them: they need `array`."""
        asked = list(dict.fromkeys(texts))
        found = dict(zip(asked, self.backend.encode_all(asked), strict=True))
        if found and self.is_special[np.concatenate([*found.values()])].any():
            return {text: ids for text, ids in found.items() if not self.is_special[ids].any()}
        return found

    def decode(self, ids: Sequence[int]) -> str:
        """Text of ids; special pieces give nothing, bytes that are not UTF-8 give U+FFFD."""
        return self.backend.decode([int(id) for id in ids if id not in self._beside])

    def show(self, ids: Sequence[int]) -> str:
        """Text of ids with the special pieces visible, for people."""
        runs = groupby(map(int, ids), key=self._beside.__contains__)
        return "".join("".join(map(self.name, run)) if special else self.decode(list(run)) for special, run in runs)

    def name(self, id: int) -> str:
        """The text of a special piece."""
        return self._names.get(id) or (self.backend.piece(id) if id < self.backend.size else "") or f"<{id}>"

    def sizes(self, text: str, ids: Ids) -> Ids:
        """UTF-8 bytes of `text` that each of its `ids` (from `array`) stands for; they sum to the size of the text.

        Where pieces are other text than they were made from (unknown, or rewritten by a normaliser), the library's alignment
        tells; a character that is spelt in several ids counts for the one that ends it.
        """
        found = self._bytes[ids]
        excess = int(found.sum()) - len(text.encode())
        if excess and excess != self.backend.prefix:
            return self._aligned(text, ids)
        if excess:
            found[0] -= excess
        return found

    def is_unknown(self, id: int) -> bool:
        """Whether an id stands for characters that have no piece."""
        return id == self.backend.unknown

    def is_byte(self, id: int) -> bool:
        """Whether an id is a part of a character that is spelt in bytes."""
        return id < self.backend.size and self.backend.is_byte(id)

    def continues_character(self, id: int) -> bool:
        """Whether an id begins with the second or a later byte of a character: a text must not be cut before it."""
        return id < self.backend.size and self._contents[id][:1] in CONTINUATION

    @cached_property
    def identity(self) -> str:
        """SHA-256 over all that decides ids: equal identity, equal ids for every text."""
        digest = hashlib.sha256(json.dumps(dict(self.special), sort_keys=True).encode())
        for part in self.backend.fingerprint():
            digest.update(part)
        return digest.hexdigest()

    @cached_property
    def is_special(self) -> NDArray[np.bool_]:
        """By id, whether it stands beside text: bool, (size,). The unknown piece is text as long as a text can be unknown."""
        table = np.zeros(self.size, np.bool_)
        table[sorted(self._beside)] = True
        return table

    @cached_property
    def partial(self) -> NDArray[np.bool_]:
        """By id, `is_byte`: bool, (size,)."""
        return np.asarray([self.is_byte(id) for id in range(self.size)])

    @cached_property
    def _beside(self) -> frozenset[int]:
        return frozenset(self.special.values()) | self.backend.special

    @cached_property
    def _contents(self) -> Sequence[bytes]:
        return self.backend.contents()

    @cached_property
    def _bytes(self) -> Ids:
        table = np.zeros(self.size, np.int32)
        table[: self.backend.size] = [len(content) for content in self._contents]
        table[self.is_special] = 0
        return table

    @cached_property
    def _names(self) -> dict[int, str]:
        return {id: text for text, id in self.special.items()}

    @cached_property
    def _spelt(self) -> re.Pattern[str]:
        """Any special piece in a text, the longest first."""
        texts = {*self.special, *(self.backend.piece(id) for id in self.backend.special)} - {""}
        return re.compile("|".join(map(re.escape, sorted(texts, key=lambda text: (-len(text), text)))))

    def _parts(self, text: str) -> list[str]:
        """A text in which a library finds special pieces, cut inside each of them."""
        cuts = [0, *(match.start() + 1 for match in self._spelt.finditer(text)), len(text)]
        return [text[start:end] for start, end in pairwise(cuts) if start < end]

    def _apart(self, text: str) -> Ids:
        ids = np.concatenate([self.backend.encode(part) for part in self._parts(text)])
        if self.is_special[ids].any():
            found = int(ids[self.is_special[ids]][0])
            wrong = self.name(found)
            if found == self.backend.unknown:
                raise StageFault(
                    f"the tokenizer has no piece for something in {text[:60]!r}: it makes its unknown piece {wrong!r} of it",
                    where="tokenizer",
                    reason="a model would never learn to write it, and no text gives a special piece",
                    fix="give a tokenizer that has a piece for every byte, or take such text out in data.pretrain.clean",
                )
            raise StageFault(
                f"the tokenizer makes the special piece {wrong!r} of ordinary text",
                where="tokenizer",
                reason="text could end an answer, or begin a turn",
                fix="name another piece in tokenizer.special_tokens: one that the tokenizer finds in no text",
            )
        return ids

    def _aligned(self, text: str, ids: Ids) -> Ids:
        parts = self._parts(text) if self.is_special[self.backend.encode(text)].any() else [text]
        ends, before = list[int](), 0
        for part in parts:
            ends += [before + end for end in self.backend.ends(part)]
            before += len(part)
        bytes_before = np.cumsum([0, *(len(character.encode()) for character in text)])
        reached = np.maximum.accumulate(np.asarray([*ends[:-1], len(text)][: len(ids)], np.int64))
        return np.diff(bytes_before[reached], prepend=0).astype(np.int32)


CONTINUATION = frozenset(bytes([byte]) for byte in range(0x80, 0xC0))


def load(folder: Path) -> Vocabulary:
    """Load a tokenizer folder. Raises StageFault where the vocabulary and `special_tokens.json` contradict each other."""
    stated = json.loads((folder / SPECIAL).read_text("utf-8"))
    kind = stated.get("kind", "sentencepiece")
    return from_parts(backend((folder / FILES[kind]).read_bytes(), stated), stated, str(folder / SPECIAL))


def backend(data: bytes, stated: Mapping[str, Any]) -> Backend:
    """A vocabulary file in the library that `stated` names."""
    kind = stated.get("kind", "sentencepiece")
    if kind == "hf":
        from runtime.data.tokenizers.hugging_face import HuggingFaceModel

        return HuggingFaceModel(data, {text for text, _ in _named(stated)})
    if kind == "tiktoken":
        from runtime.data.tokenizers.tiktoken_ranks import TiktokenModel

        return TiktokenModel(data, stated["pattern"])
    from sentencepiece import SentencePieceProcessor

    from runtime.data.tokenizers.sentencepiece_model import SentencePieceModel

    given = as_control(data, {text for text, _ in _named(stated)}) if "kind" in stated else data
    return SentencePieceModel(SentencePieceProcessor(model_proto=given))


def from_parts(backend: Backend, stated: Mapping[str, Any], where: str) -> Vocabulary:
    """A vocabulary with the special pieces that `special_tokens.json` states. Raises StageFault where they differ."""
    special, size = dict(_named(stated)), stated["vocab_size"]
    held = {backend.piece(id): id for id in backend.special}
    wrong = [
        f"{text} is said to be {id}, is {held.get(text, 'no special piece')}"
        for text, id in special.items()
        if not 0 <= id < size or held.get(text, id) != id or (id < backend.size and backend.piece(id) not in (text, ""))
    ]
    wrong += [f"{text} is no piece of its own" for text, id in special.items() if backend.unknown == id]
    if size < backend.size or (size > backend.size and size - 1 not in special.values()):
        wrong.append(f"vocab_size is said to be {size}, is {backend.size}")
    if wrong:
        raise StageFault(
            "; ".join(wrong), where=where, reason="rows would hold wrong ids", fix="delete the tokenizer folder and run `dvc repro`"
        )
    pad, bos, eos = (stated[name]["id"] for name in ("pad", "bos", "eos"))
    return Vocabulary(backend, special, pad, bos, eos, tuple(stated["user"]), size)


def _named(stated: Mapping[str, Any]) -> list[tuple[str, int]]:
    named = [(stated[name]["text"], stated[name]["id"]) for name in ("pad", "bos", "eos")]
    return [*named, *stated["user"].items(), *stated.get("further", {}).items()]
