"""Bytes of a file -> text: byte order mark, strict UTF-8, then detection. What cannot be decoded without loss is refused."""

import codecs
import re
from dataclasses import dataclass
from functools import cache
from itertools import islice

import ftfy
from ftfy.badness import is_bad
from resiliparse.parse.encoding import detect_encoding

from runtime.faults import StageFault

MARK = "\ufeff"
_MARKS = (  # UTF-32 first: its little-endian mark begins with that of UTF-16
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Label of a page or a detector -> the widest Python codec of that family: files labelled gb2312 or latin-1 use the larger sets.
_CODECS = {
    "ascii": "cp1252", "us-ascii": "cp1252", "iso-8859-1": "cp1252", "latin-1": "cp1252", "latin1": "cp1252",
    "gb2312": "gb18030", "gbk": "gb18030", "hz-gb-2312": "hz",
    "big5": "big5hkscs", "euc-kr": "cp949", "shift_jis": "cp932", "x-mac-cyrillic": "mac_cyrillic", "iso-8859-8-i": "iso8859_8",
}  # fmt: skip
_CHINESE = ("gb18030", "big5hkscs")
_USUAL = {"ko": "cp949", "ja": "cp932", "ru": "cp1251"}  # for a declared language, where the detector finds nothing
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
# What UTF-8 read as a single-byte encoding never holds: a character beyond those encodings, and one outside ASCII between
# two within it (a UTF-8 sequence has two bytes or more; Â and Ã may stand before a no-break space that became a blank).
_NEVER_MOJIBAKE = (re.compile("[\u3000-\U0010ffff]"), re.compile(r"[^\x00-\x7fÂÃ](?<![^\x00-\x7f].)(?![^\x00-\x7f])", re.DOTALL))
_BINARY_SHARE = 0.02  # of control characters; text with a few stray ones stays well below, compressed or compiled bytes well above
_DAMAGED_RATIO = 4  # valid multi-byte characters for each invalid one, from which a file is UTF-8 with a fault, not another encoding
_SAMPLE = 2000


@dataclass(frozen=True)
class Hints:
    """`policy`: auto | utf-8; `html`: whether a page may declare its charset; `language`: of the source, if it is declared."""

    policy: str = "auto"
    html: bool = False
    language: str | None = None


@dataclass(frozen=True)
class Decoded:
    """Text without byte order marks, the codec it was read with, and how many marks were removed."""

    text: str
    encoding: str
    byte_order_marks: int


def decode(data: bytes, where: str, hints: Hints) -> Decoded:
    """Decode a whole file. Raises StageFault that names `where` and the byte offset."""
    mark, encoding = next(((mark, name) for mark, name in _MARKS if data.startswith(mark)), (b"", ""))
    text, encoding = (_strictly(data, encoding, where, len(mark)), encoding) if mark else _without_mark(data, where, hints)
    _refuse_binary(text, encoding, where)
    text, removed = without_marks(text)
    return Decoded(text, encoding, removed + bool(mark))


def without_marks(text: str) -> tuple[str, int]:
    """The text without U+FEFF, wherever it stands (concatenated files), and how many there were."""
    count = text.count(MARK)
    return (text.replace(MARK, ""), count) if count else (text, 0)


def repair(text: str) -> str:
    """Undo UTF-8 that was read as a single-byte encoding, where the whole text was.

    A text that also holds characters which no such mistake produces was decoded rightly, and quotes mojibake on purpose.
    One with U+FFFD has lost bytes that no repair brings back.
    """
    suspected = not text.isascii() and not any(proof.search(text) for proof in _NEVER_MOJIBAKE) and is_bad(text)
    return ftfy.fix_encoding(text, _ftfy()) if suspected else text


@cache
def _ftfy() -> ftfy.TextFixerConfig:
    return ftfy.TextFixerConfig(
        unescape_html=False,
        fix_latin_ligatures=False,
        fix_character_width=False,
        uncurl_quotes=False,
        normalization=None,
        replace_lossy_sequences=False,  # a guess is worse than the text as it stands
        decode_inconsistent_utf8=False,  # would rewrite what a text quotes
        fix_c1_controls=False,  # U+0085 ends a line in some texts
        explain=False,
    )


def _without_mark(data: bytes, where: str, hints: Hints) -> tuple[str, str]:
    wide = _unmarked_utf16(data) if hints.policy == "auto" else None
    if wide:
        return _strictly(data, wide, where), wide
    try:
        return data.decode(), "utf-8"
    except UnicodeDecodeError as error:
        if hints.policy == "utf-8" or _is_damaged_utf8(data, error):
            raise _fault(where, "utf-8", error.start, error.reason) from None
        encoding = _detect(data, hints)
        return _strictly(data, encoding, where), encoding


def _unmarked_utf16(data: bytes) -> str | None:
    """UTF-16 of mostly Latin text without a mark has a NUL as every second byte, and is valid UTF-8 all the same."""
    head = data[:4096]
    even, odd = head[0::2].count(0), head[1::2].count(0)
    if len(head) < 4 or len(data) % 2 or max(even, odd) < 0.4 * len(head) / 2 or min(even, odd) > 0.02 * len(head):
        return None
    return "utf-16-le" if odd > even else "utf-16-be"


def _is_damaged_utf8(data: bytes, error: UnicodeDecodeError) -> bool:
    text = data.decode("utf-8", "replace")
    invalid = text.count("\ufffd")
    valid = sum(character > "\x7f" for character in text) - invalid
    cut_off = error.reason == "unexpected end of data" and invalid == 1 and valid > 0
    return cut_off or valid > _DAMAGED_RATIO * invalid


def _detect(data: bytes, hints: Hints) -> str:
    label = (detect_encoding(data, from_html_meta=hints.html) or "utf-8").lower()
    if hints.html and label.startswith("utf-16"):  # a declaration that could be read is not in UTF-16, whatever it says
        label = (detect_encoding(data, from_html_meta=False) or "utf-8").lower()
    encoding, spoken = _CODECS.get(label, label), (hints.language or "").split("-")[0]
    if encoding in _CHINESE or spoken == "zh":
        common = {codec: _share_of_common(data, codec) for codec in _CHINESE}
        best = max(_CHINESE, key=lambda codec: common[codec])
        return best if common[best] > 0.5 else encoding
    return _USUAL.get(spoken, encoding) if encoding == "utf-8" else encoding  # the detector says utf-8 where it knows nothing


def _share_of_common(data: bytes, encoding: str) -> float:
    """Share of characters from the set's common half, among those outside ASCII; -1 where the bytes do not fit.

    GB 2312 and Big5 both put common Han characters first: rows B0-D7 and A4-C6. Text read in the wrong one of the two
    lands in the rare half. This decides texts that are too short for a statistical detector.
    """
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return -1.0
    beyond = islice((one for one in text if one > "\x7f"), _SAMPLE)
    sample = [character.encode(encoding, "ignore") for character in beyond]  # half of a pair that Big5 writes as one has no code
    return sum(_is_common(code, encoding) for code in sample) / max(len(sample), 1)


def _is_common(code: bytes, encoding: str) -> bool:
    if len(code) != 2:
        return False
    if encoding == "gb18030":
        return code[1] >= 0xA1 and (0xB0 <= code[0] <= 0xD7 or code[0] in (0xA1, 0xA3))
    return 0xA4 <= code[0] <= 0xC6 or code[0] == 0xA1


def _strictly(data: bytes, encoding: str, where: str, start: int = 0) -> str:
    try:
        return data[start:].decode(encoding)
    except UnicodeDecodeError as error:
        raise _fault(where, encoding, start + error.start, error.reason) from None
    except LookupError:
        raise StageFault(f"its encoding {encoding!r} is not supported", where=where, fix="convert the file to UTF-8") from None


def _refuse_binary(text: str, encoding: str, where: str) -> None:
    found = _CONTROL.findall(text)
    if len(found) > _BINARY_SHARE * len(text):
        first = _CONTROL.search(text)
        offset = len(text[: first.start()].encode(encoding)) if first else 0
        raise _fault(where, encoding, offset, "control characters: this is not text")


def _fault(where: str, encoding: str, offset: int, reason: str) -> StageFault:
    return StageFault(
        f"byte {offset} is not {encoding} ({reason})",
        where=where,
        reason="a text that is decoded with loss would be learned as it is",
        fix="restore the file or convert it to UTF-8 (iconv -f ENCODING -t UTF-8), declare the language of the source, "
        "which helps to tell encodings apart, or take the file out of the source",
    )
