"""Characters: what never belongs into a text, and the folding a policy asks for. Every function is idempotent."""

import re
import string
import unicodedata

from runtime.faults import StageFault

# C0 and C1 controls but tab, LF and NEL; deleted and non-characters; soft hyphen; zero-width space, marks of direction,
# word joiner and invisible operators, interlinear annotation. U+2028, U+2029 and U+0085 are white space and stay.
_UNWANTED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x84\x86-\x9f\xad\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\u206a-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff]"
)
# The joiners shape emoji and several scripts; beside a Han or Latin letter they are only a trace of copying.
_PLAIN = "0-9A-Za-z\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_IDLE_JOINER = re.compile(f"(?<=[{_PLAIN}])[\u200c\u200d]+|[\u200c\u200d]+(?=[{_PLAIN}])")
_BLANK_LINES = re.compile(r"\n{3,}")
_WIDE = re.compile("[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a]+")
_FULL_WIDTH = str.maketrans({chr(ord(plain) + 0xFEE0): plain for plain in string.ascii_letters + string.digits})

POLICIES = ("none", "cjk", "nfkc")


def tidy(text: str) -> str:
    """LF line ends, no control or zero-width characters, no blanks at line ends, at most one blank line in a row."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n")
    text = _UNWANTED.sub("", text)
    if "\u200c" in text or "\u200d" in text:
        text = _IDLE_JOINER.sub("", text)
    text = "\n".join(line.rstrip(" \t") for line in text.split("\n"))
    return _BLANK_LINES.sub("\n\n", text).strip("\n")


def normalise(text: str, policy: str) -> str:
    """Fold characters: `none`; `cjk`, full-width letters and digits alone; `nfkc`, all of Unicode's compatibility folding.

    NFKC also rewrites Chinese punctuation (，becomes ,) and signs (㎏ becomes kg), so it is a choice, not a default.
    Raises StageFault for another policy.
    """
    match policy:
        case "none":
            return text
        case "cjk":
            return _WIDE.sub(lambda found: found[0].translate(_FULL_WIDTH), text)
        case "nfkc":
            return unicodedata.normalize("NFKC", text)
        case _:
            raise StageFault(f"unknown normalization {policy!r}", where="config/clean.yaml", fix=f"use one of {', '.join(POLICIES)}")
