"""What a library must answer about its vocabulary; `runtime.data.encoding` makes the rest of it."""

from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int32]


class Backend(Protocol):
    """A vocabulary file in its library. Ids are 0 ... size - 1, some of which may be no piece of it.

    special: ids of pieces that are not text. unknown: the id of text without a piece, None where every byte has one.
    prefix: UTF-8 bytes that `encode` puts before a text (a blank, in some models); `decode` takes them away again.
    """

    size: int
    special: frozenset[int]
    unknown: int | None
    prefix: int

    def encode(self, text: str) -> Ids:
        """Ids of a text; may hold special ones where the text spells them."""
        ...

    def encode_all(self, texts: Sequence[str]) -> list[Ids]:
        """As `encode`, of several texts in one call: short ones take a fifth less time."""
        ...

    def decode(self, ids: Sequence[int]) -> str:
        """Text of ids without special ones; bytes that are not UTF-8 give U+FFFD."""
        ...

    def contents(self) -> Sequence[bytes]:
        """By id, the UTF-8 bytes that it stands for; none for special and unknown ones, and where no piece is."""
        ...

    def is_byte(self, id: int) -> bool:
        """Whether an id is a part of a character."""
        ...

    def ends(self, text: str) -> Sequence[int]:
        """For each id of `encode(text)`, how many characters of the text lie before its end."""
        ...

    def piece(self, id: int) -> str:
        """How the file writes a piece."""
        ...

    def fingerprint(self) -> Iterable[bytes]:
        """All that decides which ids a text gets."""
        ...
