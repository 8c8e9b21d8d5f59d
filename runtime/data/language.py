"""Language of a text: by script where the script decides, else by pycld2's letter sequences."""

import re

import numpy as np
import pycld2
from numpy.typing import NDArray

from runtime.data.signs import HAN, LETTER, kinds_of

UNDETERMINED = "und"  # ISO 639-2
_KANA = ((0x3040, 0x30FF), (0x31F0, 0x31FF), (0xFF66, 0xFF9F))
_HANGUL = ((0x1100, 0x11FF), (0x3130, 0x318F), (0xAC00, 0xD7AF))
_LETTER = re.compile(r"[^\W\d_]")
_NOT_FOR_CLD2 = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ufdd0-\ufdef\ufffe\uffff]|[^\u0000-\uffff]")
_HAN_SHARE = 0.2  # one Han character carries about as much as three Latin letters, and Chinese pages quote commands
_KANA_SHARE = 0.1  # of Han and kana together: Japanese prose has far more, Chinese about Japan less
_SAMPLE = 2_000  # characters of each of three places


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
    kana, hangul = _within(codes, _KANA), _within(codes, _HANGUL)
    if letters and hangul / letters >= _HAN_SHARE:
        return "ko"
    if letters and (han + kana) / letters >= _HAN_SHARE:
        return "ja" if kana / (han + kana) >= _KANA_SHARE else "zh"
    return _by_letters(sample) if letters else UNDETERMINED


def _within(codes: NDArray[np.uint32], ranges: tuple[tuple[int, int], ...]) -> int:
    return sum(int(np.count_nonzero((codes >= first) & (codes <= last))) for first, last in ranges)


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
    return UNDETERMINED if code == "un" else primary(code)
