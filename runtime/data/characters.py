"""Characters: what never belongs into a text, and the folding a policy asks for. Every function is idempotent."""

import re
import string
from collections import Counter

from runtime.data.ordering import compatible
from runtime.faults import StageFault

# What is taken out wherever it stands, by kind. U+2028, U+2029 and U+0085 are white space and stay.
_KINDS = {
    "control": "\x00-\x08\x0b-\x1f\x7f-\x84\x86-\x9f",  # C0 and C1 but tab, LF and NEL
    "soft_hyphen": "\xad",
    "zero_width": "\u034f\u2060-\u2065\u3164\uffa0\ufeff",  # joiners of words, invisible operators, Hangul fillers
    "direction": "\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f",  # marks, embeddings, isolates; deprecated shaping controls
    "annotation": "\ufff9-\ufffb",
    "private_use": "\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd",  # no script has them: icon fonts, vendors' own signs
    "noncharacter": "\ufdd0-\ufdef" + "".join(f"{chr(plane << 16 | 0xFFFE)}{chr(plane << 16 | 0xFFFF)}" for plane in range(17)),
}
# What a terminal obeys: a colour or a link in text that was recorded there; a sign struck over, as manual pages print bold and underlined.
_ESCAPED = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]{0,2000}(?:\x07|\x1b\\)|[()][0-9A-B])")
_STRUCK_OVER = re.compile(r"_\x08(?=[^\x08\n])|([^\x08\n])\x08(?=\1)")
_UNWANTED = re.compile(f"[{''.join(_KINDS.values())}]+")
_CONTROL = re.compile(f"[{_KINDS['control']}]+")  # all that ASCII has of them
_KINDS_OF_THE_BMP = "".join(re.sub("[\U00010000-\U0010ffff]-?", "", signs) for signs in _KINDS.values())
_KIND_OF = {kind: re.compile(f"[{signs}]") for kind, signs in _KINDS.items()}

# What shapes the character before it, and is a trace of copying everywhere else.
_JOINERS, _TAGS = "\u200c\u200d", "\U000e0000-\U000e007f"
_SELECTORS, _IDEOGRAPHIC, _MONGOLIAN = "\ufe00-\ufe0f", "\U000e0100-\U000e01ef", "\u180b-\u180f"
_BOUNDARY, _VOWEL_SEPARATOR = "\u200b", "\u180e"  # a space without width, between words of scripts that show no boundary; of Mongolian
_SHAPING = re.compile(f"[{_JOINERS}{_SELECTORS}{_IDEOGRAPHIC}{_MONGOLIAN}{_TAGS}{_BOUNDARY}]+")
# What to look closer at: a class of few characters beyond the first plane is many times faster than all that is looked for.
_SUSPECT = re.compile(f"[{_KINDS_OF_THE_BMP}{_JOINERS}{_SELECTORS}{_MONGOLIAN}{_BOUNDARY}\U00010000-\U0010ffff]")
# Scripts whose letters joiners shape: Arabic, Syriac, N'Ko, those of India and its neighbours, Khmer, Mongolian, Balinese, Javanese.
_JOINED = re.compile(
    "[\u0600-\u07ff\u0840-\u08ff\u0900-\u0dff\u0f00-\u109f\u1780-\u18af\u1b00-\u1b7f\ua980-\ua9df\ufb50-\ufdff\ufe70-\ufefc]"
)
_EMOJI = re.compile("[\u00a9\u00ae\u203c-\u3299\U0001f000-\U0001faff]")
_HAN = re.compile("[\u2e80-\u2fd5\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af]")
_MONGOL = re.compile("[\u1800-\u18af]")
# Scripts that are written without blanks between words: Thai, Lao, Tibetan, Myanmar, Khmer, Tai Le, New Tai Lue, Tai Tham.
_UNDIVIDED = re.compile("[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u1950-\u19ff\u1a20-\u1aaf\ua9e0-\ua9ff\uaa60-\uaa7f]")
_FLAG, _EMOJI_STYLE, _JOINER = "\U0001f3f4", "\ufe0f", "\u200d"

_BLANK_LINES = re.compile(r"\n{3,}")
_WIDE = re.compile("[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a]+")
_FULL_WIDTH = str.maketrans({chr(ord(plain) + 0xFEE0): plain for plain in string.ascii_letters + string.digits})

POLICIES = ("none", "cjk", "nfkc")


def tidy(text: str, removed: Counter[str] | None = None, code: bool = False) -> str:
    """LF line ends, no invisible characters that shape nothing, no blanks at line ends, at most one blank line in a row.

    removed: counts by kind what was taken out. `code`: white space is meant, so lines keep their blanks and blank lines stay.
    """
    if "\r" in text or "\f" in text or "\v" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n").replace("\v", "\n")
    text = visible(text, Counter() if removed is None else removed)
    if code:
        return text.strip("\n")
    if " \n" in text or "\t\n" in text or text.endswith((" ", "\t")):
        text = "\n".join(line.rstrip(" \t") for line in text.split("\n"))
    return (_BLANK_LINES.sub("\n\n", text) if "\n\n\n" in text else text).strip("\n")


def visible(text: str, removed: Counter[str]) -> str:
    """The text without invisible characters; joiners, variation selectors and tags stay where they shape a character."""

    if "\x1b" in text or "\x08" in text:
        text = _printed(text, removed)

    def taken(found: re.Match[str]) -> str:
        for kind, signs in _KIND_OF.items():
            if count := len(signs.findall(found[0])):
                removed[kind] += count
        return ""

    if text.isascii():
        return _CONTROL.sub(taken, text)
    if not _SUSPECT.search(text):
        return text
    return _SHAPING.sub(lambda found: _shaping(found, removed), _UNWANTED.sub(taken, text))


def _printed(text: str, removed: Counter[str]) -> str:
    """What a terminal or a printer shows of its own sequences; the letters in them would be left when the control character goes."""
    text, escaped = _ESCAPED.subn("", text)
    text, struck = _STRUCK_OVER.subn("", text)
    if escaped or struck:
        removed["terminal"] += escaped + struck
    return text


def _shaping(found: re.Match[str], removed: Counter[str]) -> str:
    """Of a run of shaping characters those that shape what stands before them."""
    before = found.string[found.start() - 1] if found.start() else "\n"
    after = found.string[found.end() : found.end() + 1]
    base, kept = before, ""
    for sign in found[0]:
        if _shapes(sign, base, (kept or before)[-1], after):
            kept += sign
        else:
            removed[_shaping_kind(sign)] += 1
    return kept


def _shapes(sign: str, base: str, previous: str, after: str) -> bool:
    """Whether a sign has a meaning: base, the character that the run follows; previous, what stands right before the sign."""
    if sign == _BOUNDARY:
        return previous == base and bool(_UNDIVIDED.match(base) and _UNDIVIDED.match(after))
    if sign in _JOINERS:
        between = sign == _JOINER and previous in (base, _EMOJI_STYLE) and _EMOJI.match(base) and _EMOJI.match(after)
        return bool(between) or (previous == base and _JOINED.match(base) is not None)
    if "\U000e0000" <= sign <= "\U000e007f":
        return base == _FLAG
    if previous != base:
        return False
    if sign >= "\U000e0100":
        return _HAN.match(base) is not None
    return not base.isspace() if sign >= "\ufe00" else _MONGOL.match(base) is not None


def _shaping_kind(sign: str) -> str:
    if sign in _JOINERS:
        return "joiner"
    if sign in (_BOUNDARY, _VOWEL_SEPARATOR):
        return "zero_width"
    return "tag" if "\U000e0000" <= sign <= "\U000e007f" else "variation_selector"


def normalise(text: str, policy: str) -> str:
    """Fold characters: `none`; `cjk`, full-width letters and digits alone; `nfkc`, all of Unicode's compatibility folding.

    NFKC also rewrites Chinese punctuation (，becomes ,) and signs (㎏ becomes kg), so it is a choice, not a default.
    Raises StageFault for another policy.
    """
    match policy:
        case "none":
            return text
        case "cjk":
            return text if text.isascii() else _WIDE.sub(lambda found: found[0].translate(_FULL_WIDTH), text)
        case "nfkc":
            return compatible(text)
        case _:
            raise StageFault(f"unknown normalization {policy!r}", where="config/clean.yaml", fix=f"use one of {', '.join(POLICIES)}")
