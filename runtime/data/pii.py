"""Personal data: found by form and check digit, and replaced by a text that names its kind.

Every expression is bounded and begins where a run of its characters begins, so the time is linear in the text. What only looks
like personal data stays: a version, a date, a number whose check digit is wrong, an address of a private network.
"""

import ipaddress
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

_EMAIL = re.compile(
    r"(?<![A-Za-z0-9._%+-])[A-Za-z0-9_][A-Za-z0-9._%+-]{0,63}@(?:[A-Za-z0-9][A-Za-z0-9-]{0,62}\.){1,8}[A-Za-z]{2,24}(?![A-Za-z0-9_-])"
)
_ID = re.compile(r"(?<![0-9A-Za-z])[1-8]\d{5}(?:18|19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}[\dXx](?![0-9A-Za-z])")
_CARD = re.compile(
    r"(?<![0-9A-Za-z.+-])(?:\d{13,19}|\d{4}([ -])\d{4}\1\d{4}\1\d{4}(?:\1\d{1,3})?|\d{4}([ -])\d{6}\2\d{4,5})(?![0-9A-Za-z]|[.-]\d)"
)
_PHONE = re.compile(
    r"(?<![0-9A-Za-z.+-])(?:"
    r"(?:\+?86[ -]?)?1[3-9]\d(?:[ -]?\d{4}){2}"  # a mobile of mainland China
    r"|\(0\d{2,3}\) ?\d{7,8}|0\d{2,3}-\d{7,8}"  # a line of a Chinese city
    r"|\([2-9]\d{2}\) ?\d{3}-\d{4}|(?:\+?1[ .-])?[2-9]\d{2}-\d{3}-\d{4}"  # North America
    r"|\+[1-9]\d{0,2}(?:[ .-]?(?:\(\d{1,4}\)|\d{2,4})){2,5}"  # ITU-T E.164 with its groups, or without
    r")(?![0-9A-Za-z]|[.:-]\d)"
)
_IPV4 = re.compile(r"(?<![0-9A-Za-z.-])\d{1,3}(?:\.\d{1,3}){3}(?![0-9A-Za-z]|[.-][0-9A-Za-z])")
_IPV6 = re.compile(r"(?<![0-9A-Za-z:.])[23][0-9A-Fa-f]{3}:[0-9A-Fa-f:]{2,34}(?![0-9A-Za-z:])")

_ID_WEIGHTS, _ID_DIGITS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2), "10X98765432"  # GB 11643-1999, ISO 7064 MOD 11-2
_CARD_LENGTHS = (  # issuers' prefixes (ISO/IEC 7812) and the lengths of their numbers
    (re.compile("4"), (13, 16, 19)),
    (re.compile("5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720"), (16,)),
    (re.compile("3[47]"), (15,)),
    (re.compile("62"), (16, 17, 18, 19)),
    (re.compile("6011|65|64[4-9]"), (16, 19)),
    (re.compile("35(?:2[89]|[3-8])"), (16,)),
    (re.compile("3(?:0[0-5]|[689])"), (14,)),
)
_PLAIN_DIGITS = 11  # of an international number without groups; fewer may be a number with a sign
_FEWEST_DIGITS, _MOST_DIGITS = 9, 15


@dataclass(frozen=True)
class Kind:
    """`signs`: without one of them in the text there is none; `holds`: what more a match must be."""

    pattern: re.Pattern[str]
    signs: str
    holds: Callable[[str], bool]


def masked(text: str, placeholders: Mapping[str, str], found: Counter[str]) -> str:
    """The text with the personal data of the named kinds replaced; counts each kind."""
    for name, placeholder in placeholders.items():
        kind = KINDS[name]
        if any(sign in text for sign in kind.signs):
            text = kind.pattern.sub(lambda match, name=name, text=placeholder: _replaced(match[0], name, text, found), text)
    return text


def _replaced(text: str, name: str, placeholder: str, found: Counter[str]) -> str:
    if not KINDS[name].holds(text):
        return text
    found[name] += 1
    return placeholder


def is_resident_id(text: str) -> bool:
    """Whether the check digit is that of a Chinese resident identity number."""
    return _ID_DIGITS[sum(weight * int(digit) for weight, digit in zip(_ID_WEIGHTS, text, strict=False)) % 11] == text[-1].upper()


def is_card(text: str) -> bool:
    """Whether an issuer has numbers of this form, and the check digit is right (ISO/IEC 7812-1, annex B)."""
    digits = re.sub("[ -]", "", text)
    form = any(prefix.match(digits) and len(digits) in lengths for prefix, lengths in _CARD_LENGTHS)
    doubled = (int(digit) * (1 + place % 2) for place, digit in enumerate(reversed(digits)))
    return form and len(set(digits)) > 1 and sum(number - 9 * (number > 9) for number in doubled) % 10 == 0


def is_phone(text: str) -> bool:
    """Whether a number that begins with + has as many digits as a phone number. The other forms are exact, but eleven digits may
    also be a power of two, which texts on computers are full of."""
    if text.isdigit():
        return (int(text) & (int(text) - 1)) != 0
    digits = sum(sign.isdigit() for sign in text)
    return not text.startswith("+") or (_PLAIN_DIGITS if text[1:].isdigit() else _FEWEST_DIGITS) <= digits <= _MOST_DIGITS


def is_public_address(text: str) -> bool:
    """Whether it is an address of the public internet; of IPv4, one with a part of three digits, since versions look the same."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    return address.is_global and (address.version == 6 or any(len(part) == 3 for part in text.split(".")))


_DIGITS = "0123456789"
KINDS: Mapping[str, Kind] = {
    "email": Kind(_EMAIL, "@", lambda _: True),
    "id": Kind(_ID, "12", is_resident_id),
    "card": Kind(_CARD, _DIGITS, is_card),
    "phone": Kind(_PHONE, _DIGITS, is_phone),
    "ip_address": Kind(re.compile(f"{_IPV4.pattern}|{_IPV6.pattern}"), ".:", is_public_address),
}
