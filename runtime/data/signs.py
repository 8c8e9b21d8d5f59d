"""What kind of character a code point is: one byte of flags each, in a table over all of Unicode."""

import unicodedata
from functools import cache

import numpy as np
from numpy.typing import NDArray

SPACE, LETTER, NUMBER, HAN, BULLET, SENTENCE_END, OTHER, SEPARATOR = (1 << bit for bit in range(8))
ALPHANUMERIC = LETTER | NUMBER
LINE_FEED = 10
_POINTS = 0x110000
_LETTERED = 0x32400  # no letter or number lies behind it; to ask all of Unicode takes every process most of a second

# Property White_Space of Unicode, which is `\s` of most regular expressions; `str.isspace` also counts four separators of C0.
_WHITE = [*range(9, 14), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000]
_HAN = (  # property Script=Han
    (0x2E80, 0x2E9A), (0x2E9B, 0x2EF4), (0x2F00, 0x2FD6), (0x3005, 0x3006), (0x3007, 0x3008), (0x3021, 0x302A), (0x3038, 0x303C),
    (0x3400, 0x4DC0), (0x4E00, 0xA000), (0xF900, 0xFA6E), (0xFA70, 0xFADA), (0x16FE2, 0x16FE4), (0x16FF0, 0x16FF2), (0x20000, 0x2A6E0),
    (0x2A700, 0x2B73A), (0x2B740, 0x2B81E), (0x2B820, 0x2CEA2), (0x2CEB0, 0x2EBE1), (0x2F800, 0x2FA1E), (0x30000, 0x3134B),
    (0x31350, 0x323B0),
)  # fmt: skip
_BULLETS = "•‣▶◀◦■□▪▫–*-"
_SENTENCE_ENDS = ".!?\"'”’。！？…」』"
_SEPARATORS = "|｜·•>»›/／\\→"


@cache
def _table() -> NDArray[np.uint8]:
    table = np.full(_POINTS, OTHER, np.uint8)
    table[:_LETTERED] = [_KIND.get(unicodedata.category(chr(point))[0], OTHER) for point in range(_LETTERED)]
    table[_WHITE] = SPACE
    for start, end in _HAN:
        table[start:end] |= HAN
    for signs, flag in ((_BULLETS, BULLET), (_SENTENCE_ENDS, SENTENCE_END), (_SEPARATORS, SEPARATOR)):
        table[[ord(sign) for sign in signs]] |= flag
    return table


_KIND = {"L": LETTER, "N": NUMBER}


def kinds_of(codes: NDArray[np.uint32]) -> NDArray[np.uint8]:
    """The flags of each code point."""
    return _table()[codes]
