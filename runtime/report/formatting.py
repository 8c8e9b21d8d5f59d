"""Numbers and foreign text as the page shows them, the same way everywhere."""

from collections.abc import Callable

NO_BREAK = "\N{NO-BREAK SPACE}"
MINUS = "\N{MINUS SIGN}"
_PREFIXES = ("", "k", "M", "G", "T", "P")


def count(value: float) -> str:
    """An integer with thousands separators."""
    return _signed(f"{round(value):,}")


def short_count(value: float) -> str:
    """A count with three significant digits and a decimal prefix: 1.27 M."""
    return _prefixed(value, "")


def size(value: float) -> str:
    """A size in bytes, decimal prefixes: 8.00 MB."""
    return _prefixed(value, "B")


def loss(value: float) -> str:
    """Losses, perplexities and bits per byte: four decimals, or scientific where that would hide or bloat the number."""
    return _signed(f"{value:.4f}" if value == 0 or 1e-3 <= abs(value) < 1e5 else _scientific(value))


def share(value: float) -> str:
    """A share in [0, 1] as a percentage with one decimal."""
    return _signed(f"{100 * value:.1f}") + NO_BREAK + "%"


def points(value: float) -> str:
    """A difference of shares, in percentage points."""
    return _signed(f"{100 * value:.1f}")


def rate(value: float) -> str:
    """A learning rate: 1.0e-3, written alike for every size."""
    return _scientific(value)


def repeats(value: float) -> str:
    """How often a source was used: 1.25."""
    return f"{value:.2f}"


def plain(value: float) -> str:
    """A number as it is set: 0.9995, 16, 1e-06."""
    return _signed(f"{value:,}" if isinstance(value, int) else f"{value:.6g}")


FORMATS: dict[str, Callable[[float], str]] = {
    "count": count,
    "short": short_count,
    "size": size,
    "loss": loss,
    "share": share,
    "points": points,
    "rate": rate,
    "repeats": repeats,
    "plain": plain,
}


def signed(text: str) -> str:
    """A difference: a plus sign where there is no minus sign, none for zero."""
    nothing = not any(digit in text for digit in "123456789")
    return text if nothing or text.startswith(MINUS) else f"+{text}"


def visible(text: str) -> str:
    """Text without what HTML forbids: control characters become control pictures, lone surrogates and noncharacters U+FFFD."""
    return text if text.isprintable() else "".join(_visible(character) for character in text)


def _visible(character: str) -> str:
    code = ord(character)
    if character in "\t\n" or character.isprintable():
        return character
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\N{SYMBOL FOR DELETE}"
    forbidden = 0x80 <= code < 0xA0 or 0xD800 <= code < 0xE000 or 0xFDD0 <= code < 0xFDF0 or code & 0xFFFE == 0xFFFE
    return "\N{REPLACEMENT CHARACTER}" if forbidden else character


def _prefixed(value: float, unit: str) -> str:
    power = 0
    while abs(value) >= 999.5 and power < len(_PREFIXES) - 1:
        value, power = value / 1000, power + 1
    if power == 0:
        return _signed(f"{value:.0f}" + (NO_BREAK + unit if unit else ""))
    decimals = 2 if abs(value) < 9.995 else 1 if abs(value) < 99.95 else 0
    return _signed(f"{value:.{decimals}f}{NO_BREAK}{_PREFIXES[power]}{unit}")


def _scientific(value: float) -> str:
    if value == 0:
        return "0"
    mantissa, exponent = f"{value:.1e}".split("e")
    return _signed(f"{mantissa}e{int(exponent)}")


def _signed(text: str) -> str:
    """With a true minus sign, and none before a zero."""
    if not text.startswith("-"):
        return text
    return text.replace("-", MINUS if any(digit in text for digit in "123456789") else "", 1)
