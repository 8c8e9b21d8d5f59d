"""tiktoken vocabularies: a file of pieces with their ranks, and a pattern that splits text before they are merged."""

import json
from collections.abc import Iterator, Sequence

import numpy as np
import tiktoken

from runtime.contracts.tokenizer import PATTERNS
from runtime.contracts.vocabulary_file import tiktoken_ranks
from runtime.data.tokenizers.backend import Ids


class TiktokenModel:
    """Pieces are bytes, and every byte has one: nothing is unknown, nothing is lost. `pattern`: a name of PATTERNS, or one itself."""

    unknown: int | None = None
    prefix = 0
    special: frozenset[int] = frozenset()  # the file holds none

    def __init__(self, data: bytes, pattern: str) -> None:
        ranks = tiktoken_ranks(data)
        self.size = max(ranks.values()) + 1
        self._pattern = PATTERNS.get(pattern, pattern)
        self._contents = [b""] * self.size
        for piece, rank in ranks.items():
            self._contents[rank] = piece
        self._encoding = tiktoken.Encoding("given", pat_str=self._pattern, mergeable_ranks=ranks, special_tokens={})

    def encode(self, text: str) -> Ids:
        """Ids."""
        return self._encoding.encode_to_numpy(text, allowed_special=set(), disallowed_special=()).astype(np.int32)

    def encode_all(self, texts: Sequence[str]) -> list[Ids]:
        """One by one: the library has no faster way but threads."""
        return [self.encode(text) for text in texts]

    def decode(self, ids: Sequence[int]) -> str:
        """The bytes of ids as text."""
        return b"".join(self._contents[id] for id in ids).decode(errors="replace")

    def contents(self) -> list[bytes]:
        """Bytes by id."""
        return self._contents

    def is_byte(self, id: int) -> bool:
        """Whether an id is bytes that are no whole characters."""
        return "\ufffd" in self._contents[id].decode(errors="replace") and self._contents[id] != "\ufffd".encode()

    def ends(self, text: str) -> list[int]:
        """Characters that are complete behind each id."""
        sizes = np.cumsum([len(self._contents[id]) for id in self.encode(text)])
        starts = np.cumsum([0, *(len(character.encode()) for character in text)])
        return [int(np.searchsorted(starts, size, side="right")) - 1 for size in sizes]

    def piece(self, id: int) -> str:
        """The text of a piece, or its bytes in hexadecimal where they are none."""
        try:
            return self._contents[id].decode()
        except UnicodeDecodeError:
            return f"<0x{self._contents[id].hex().upper()}>"

    def fingerprint(self) -> Iterator[bytes]:
        """The pattern, and all pieces by rank."""
        yield json.dumps(self._pattern).encode()
        for piece in self._contents:
            yield len(piece).to_bytes(4, "big") + piece
