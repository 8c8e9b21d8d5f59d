"""Language of a text: by script where the script decides, else by pycld2's letter sequences."""

import re
from functools import cache

import numpy as np
import pycld2
from numpy.typing import NDArray

from runtime.data.signs import HAN, LETTER, kinds_of

UNDETERMINED = "und"  # ISO 639-2
_KANA = ((0x3040, 0x30FF), (0x31F0, 0x31FF), (0xFF66, 0xFF9F))
_HANGUL = ((0x1100, 0x11FF), (0x3130, 0x318F), (0xAC00, 0xD7AF))
_OF_KANA, _OF_HANGUL = 1, 2
_LETTER = re.compile(r"[^\W\d_]")
_NOT_FOR_CLD2 = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ufdd0-\ufdef\ufffe\uffff]|[^\u0000-\uffff]")
_HAN_SHARE = 0.2  # one Han character carries about as much as three Latin letters, and Chinese pages quote commands
_KANA_SHARE = 0.1  # of Han and kana together: Japanese prose has far more, Chinese about Japan less
_SAMPLE = 2_000  # characters of each of three places
_WITHDRAWN = {"iw": "he", "jw": "jv", "mo": "ro"}  # codes that pycld2 still gives -> ISO 639-1


def detect(text: str) -> str:
    """ISO 639-1 code (zh, en, ja ...) of most of the text; `und` where nothing can be told.

    Of a text over 6,000 characters its beginning, middle and end are looked at: a page may begin with a menu or a licence.
    """
    sample = sampled(text)
    if sample.isascii():
        return _by_letters(sample) if _LETTER.search(sample) else UNDETERMINED
    codes = np.frombuffer(sample.encode("utf-32-le", "surrogatepass"), np.uint32)
    kinds = kinds_of(codes)
    letters, han = (int(np.count_nonzero(kinds & kind)) for kind in (LETTER, HAN))
    scripts = _scripts()[codes]
    kana, hangul = (int(np.count_nonzero(scripts == script)) for script in (_OF_KANA, _OF_HANGUL))
    if letters and hangul / letters >= _HAN_SHARE:
        return "ko"
    if letters and (han + kana) / letters >= _HAN_SHARE:
        return "ja" if kana / (han + kana) >= _KANA_SHARE else "zh"
    return _by_letters(sample) if letters else UNDETERMINED


@cache
def _scripts() -> NDArray[np.uint8]:
    """By code point; to look into a table once takes a short text a fraction of what comparisons with all ranges would."""
    table = np.zeros(0x110000, np.uint8)
    for script, ranges in ((_OF_KANA, _KANA), (_OF_HANGUL, _HANGUL)):
        for first, last in ranges:
            table[first : last + 1] = script
    return table


def sampled(text: str) -> str:
    """A short text itself, of a long one its beginning, middle and end."""
    if len(text) <= 3 * _SAMPLE:
        return text
    middle = (len(text) - _SAMPLE) // 2
    return "\n".join((text[:_SAMPLE], text[middle : middle + _SAMPLE], text[-_SAMPLE:]))


def primary(tag: str | None) -> str:
    """The primary subtag of a language tag: `zh` of `zh-Hant`."""
    return (tag or UNDETERMINED).split("-")[0].lower()


def _by_letters(sample: str) -> str:
    try:
        _, _, details = pycld2.detect(_NOT_FOR_CLD2.sub(" ", sample), bestEffort=True)
    except pycld2.error:
        return UNDETERMINED
    code: str = details[0][1]
    return UNDETERMINED if code == "un" else _WITHDRAWN.get(primary(code), primary(code))
