"""UTF-16 without a byte order mark, told by how common its characters are in either byte order.

Text of another encoding that is read as UTF-16 becomes rare Han characters, syllables, private use and halves of pairs: of a
thousand of its units a few hundred are common at most, of real text nearly all.
"""

from functools import cache
from itertools import product

ORDERS = ("utf-16-le", "utf-16-be")
_HEAD = 8192  # bytes that are looked at
_LATIN_SHARE = 0.4  # of NUL as every second byte: mostly Latin text
_COMMON_SHARE = 0.8
# Bytes that text of one or two bytes a character never holds, and UTF-16 does in its blanks, signs and line ends. Without any of
# them every character has to be common, and there have to be a few.
_SELDOM = bytes([*range(9), *range(14, 27), *range(28, 32)])
_FEW = 12
# The first half of each national set: (codec, lead bytes), trail bytes from A1 on, in Big5 from 40 on.
_SETS = (("gb2312", 0xB0, 0xD7), ("big5", 0xA4, 0xC6), ("euc_jp", 0xB0, 0xCF), ("euc_kr", 0xB0, 0xC8))
# White space, ASCII, Latin, Greek, Cyrillic, Armenian, Hebrew, Arabic, Indic scripts, Thai, Georgian, signs, kana, full-width forms,
# emoji and further Han characters. Not U+2020: two blanks.
_RANGES = (
    (0x09, 0x0A), (0x0D, 0x0D), (0x20, 0x7E), (0xA0, 0x17F), (0x386, 0x3CE), (0x401, 0x45F), (0x490, 0x4E9), (0x531, 0x587),
    (0x5D0, 0x5EA), (0x60C, 0x60C), (0x61B, 0x652), (0x660, 0x66C), (0x679, 0x6D5), (0x6F0, 0x6F9), (0x901, 0x96F), (0x981, 0x9EF),
    (0xB82, 0xBEF), (0xC01, 0xC6F), (0xE01, 0xE5B), (0x10D0, 0x10F6), (0x1EA0, 0x1EF9), (0x2010, 0x201F), (0x2022, 0x203B),
    (0x20AC, 0x20AC), (0x2190, 0x2193), (0x2460, 0x2473), (0x2500, 0x2502), (0x25A0, 0x25CF), (0x3000, 0x3011), (0x3041, 0x3093),
    (0x30A1, 0x30FC), (0xFF01, 0xFF5E), (0x1F300, 0x1FAFF), (0x20000, 0x2FFFF),
)  # fmt: skip


def mostly_latin(data: bytes) -> str | None:
    """UTF-16 of mostly Latin text has a NUL as every second byte, and is valid UTF-8 all the same."""
    head = data[:4096]
    even, odd = head[0::2].count(0), head[1::2].count(0)
    if len(head) < 4 or max(even, odd) < _LATIN_SHARE * len(head) / 2 or min(even, odd) > 0.02 * len(head):
        return None
    return "utf-16-le" if odd > even else "utf-16-be"


def of_any_script(data: bytes) -> tuple[str, float]:
    """The likelier byte order, and the share of common characters in it; 0 where nothing speaks for this encoding."""
    head = data[:_HEAD]
    texts = {order: head[: len(head) // 2 * 2].decode(order, "surrogatepass") for order in ORDERS}
    if len(head.translate(None, _SELDOM)) == len(head):
        sure = next((order for order, text in texts.items() if len(head) >= _FEW and all(map(_common().__contains__, text))), None)
        return (sure, 1.0) if sure else (ORDERS[0], 0.0)
    shares = {order: sum(map(_common().__contains__, text)) / max(len(text), 1) for order, text in texts.items()}
    best = max(ORDERS, key=lambda order: shares[order])
    return best, shares[best] if shares[best] >= _COMMON_SHARE else 0.0


@cache
def _common() -> frozenset[str]:
    listed = (chr(code) for first, last in _RANGES for code in range(first, last + 1))
    return frozenset(listed).union(*(_of_set(*each) for each in _SETS))


def _of_set(codec: str, first: int, last: int) -> str:
    trails = range(0x40 if codec == "big5" else 0xA1, 0xFF)
    return "".join(bytes(pair).decode(codec, "ignore") for pair in product(range(first, last + 1), trails))
