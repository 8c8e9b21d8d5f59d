"""Bytes of a file -> text: byte order mark, strict UTF-8, then detection. What cannot be decoded without loss is refused.

A file that is too long to be held is judged by a sample of it and decoded strictly from there on.
"""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import islice
from typing import BinaryIO

import ftfy
from ftfy.badness import is_bad
from resiliparse.parse.encoding import detect_encoding

from runtime.data import unmarked_utf16
from runtime.data.archives import MAGIC, block_of
from runtime.data.quarantine import WITH_LOSS, Unreadable

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
_USUAL = {  # for a declared language, where the detector finds nothing
    "ko": "cp949", "ja": "cp932", "ru": "cp1251", "uk": "cp1251", "bg": "cp1251", "pl": "cp1250", "cs": "cp1250", "sk": "cp1250",
    "hu": "cp1250", "hr": "cp1250", "sl": "cp1250", "ro": "cp1250", "tr": "cp1254", "el": "cp1253", "he": "cp1255", "ar": "cp1256",
    "lt": "cp1257", "lv": "cp1257", "et": "cp1257", "vi": "cp1258", "th": "cp874",
}  # fmt: skip
# What the languages of Western Europe need beside ASCII. Ã and Â are left out: they are what UTF-8 looks like.
_WESTERN = frozenset("en de fr es it pt nl sv da no nb nn fi is ca gl".split())  # noqa: SIM905
_WESTERN_BYTES = "àáâãäåæçèéêëìíîïñòóôõöøœùúûüýßÀÁÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØŒÙÚÛÜÝ‘’“”„–—…•€£©®™°·§«»¿¡ªº¹²³µ±½¼¾\xa0".encode("cp1252")
_IN_A_ROW = re.compile(rb"[\xa1-\xaa\xac-\xba\xbc-\xff]{2,}")  # quotation marks may stand beside a letter
_LETTERS = re.compile(r"[^\W\d_]+")
_FEW = 0.02  # of the bytes: Western text has hardly more outside ASCII, text of other languages in such encodings has
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_CONTROL_BYTES = bytes(code for code in range(32) if _CONTROL.match(chr(code)))
_WIDE = ("utf-16", "utf-32")  # the encodings in which the byte of a control character may be half of another character
# What UTF-8 read as a single-byte encoding never holds: a character beyond those encodings, from U+3000 on, whose first bytes in
# UTF-8 are these; and one outside ASCII between two within it (a UTF-8 sequence has two bytes or more; Â and Ã may stand before
# a no-break space that became a blank).
_FIRST_BYTES_BEYOND = bytes(range(0xE3, 0xF5))
_ALONE = re.compile(r"[^\x00-\x7fÂÃ](?<![^\x00-\x7f].)(?![^\x00-\x7f])", re.DOTALL)
_BINARY_SHARE = 0.02  # of control characters; text with a few stray ones stays well below, compressed or compiled bytes well above
_DAMAGED_RATIO = 4  # valid multi-byte characters for each invalid one, from which a file is UTF-8 with a fault, not another encoding
# Characters of three or four bytes that were cut. In cp1252 a letter and a closing sign look like one of them, as in café”.
_REMNANT = re.compile(
    rb"(?<![\x80-\xff])(?:\xe0[\xa0-\xbf]|[\xe1-\xef][\x80-\xbf]|\xf0[\x90-\xbf]{1,2}|[\xf1-\xf4][\x80-\xbf]{1,2})(?![\x80-\xff])"
)
_CLOSING = "…‘’“”•–—\xa0«»²³¹°™".encode("cp1252")
_SAMPLE = 2000
_DETECTED = 1_000_000  # bytes from the first one outside ASCII that an encoding is found by; detection is slower than decoding
_BLOCK = 1 << 20
UNDECODABLE = "undecodable"
_BEGINNINGS = (  # of files that are no text -> what to do
    (MAGIC["gzip"], "it is gzip: give its name the ending .gz, behind that of its format"),
    (MAGIC["zstd"], "it is Zstandard: give its name the ending .zst, behind that of its format"),
    (b"PK\x03\x04", "it is a zip archive or an office document: unpack it, or save it as text"),
    (b"%PDF-", "it is a PDF: extract its text, for example with pdftotext"),
    (b"PAR1", "it is Parquet: set the format of the source to parquet, and give its name the ending .parquet"),
)


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


@dataclass(frozen=True)
class Codec:
    """A Python codec, and how many bytes of byte order mark the file begins with."""

    name: str
    mark: int = 0

    @cached_property
    def splits_at_lf(self) -> bool:
        """Whether the byte LF stands for a line end and nothing else, so that bytes may be split before they are decoded."""
        return not self.name.startswith(_WIDE)

    @cached_property
    def of_lines(self) -> str:
        """What lines come in: those of an encoding that cannot be split at bytes are converted to UTF-8 first."""
        return self.name if self.splits_at_lf else "utf-8"


def decode(data: bytes, where: str, hints: Hints) -> Decoded:
    """Decode a whole file. Raises Unreadable that names `where` and the byte offset."""
    codec, text = _marked(data), None
    if codec is None:
        codec, text = _without_mark(data, where, hints)
    if codec.splits_at_lf:
        _refuse_binary(data, where)
    text = _strictly(data, codec.name, where, codec.mark) if text is None else text
    if not codec.splits_at_lf:
        _refuse_binary_text(data, text, codec, where)
    text, removed = without_marks(text)
    return Decoded(text, codec.name, removed + bool(codec.mark))


def codec_of(sample: bytes, whole: bool, where: str, hints: Hints) -> Codec:
    """How a file is decoded of which `sample` is the beginning, or the whole.

    A file that is UTF-8 but for some bytes is UTF-8: what is wrong shows where it is decoded. Raises Unreadable for a file
    that is no text.
    """
    codec = _marked(sample)
    if codec is None:
        codec = _judged(sample if whole else sample[: sample.rfind(b"\n") + 1] or sample, hints)
    if codec.splits_at_lf:
        _refuse_binary(sample, where)
    return codec


def blocks_of(stream: BinaryIO, codec: Codec, where: str) -> Iterator[str]:
    """Decode a stream strictly, block by block, its mark left out. Raises Unreadable at the byte."""
    decoder, read = codecs.getincrementaldecoder(codec.name)(), len(stream.read(codec.mark))
    while True:
        block = block_of(stream, _BLOCK)
        held = len(decoder.getstate()[0])
        try:
            yield decoder.decode(block, final=not block)
        except UnicodeDecodeError as error:
            raise _fault(where, codec.name, read - held + error.start, error.reason, error.object[error.start :]) from None
        if not block:
            return
        read += len(block)


def without_marks(text: str) -> tuple[str, int]:
    """The text without U+FEFF, wherever it stands (concatenated files), and how many there were."""
    count = text.count(MARK)
    return (text.replace(MARK, ""), count) if count else (text, 0)


def repair(text: str) -> str:
    """Undo UTF-8 that was read as a single-byte encoding, where the whole text was.

    A text that also holds characters which no such mistake produces was decoded rightly, and quotes mojibake on purpose.
    One with U+FFFD has lost bytes that no repair brings back.
    """
    if text.isascii() or _decoded_rightly(text) or not is_bad(text):
        return text
    return ftfy.fix_encoding(text, _ftfy())


def _decoded_rightly(text: str) -> bool:
    """Whether a text holds what no mojibake does."""
    data = text.encode()
    return len(data.translate(None, _FIRST_BYTES_BEYOND)) != len(data) or _ALONE.search(text) is not None


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


def _marked(data: bytes) -> Codec | None:
    return next((Codec(name, len(mark)) for mark, name in _MARKS if data.startswith(mark)), None)


def _judged(sample: bytes, hints: Hints) -> Codec:
    try:
        return Codec(_unmarked(sample, hints)[0])
    except UnicodeDecodeError:
        return Codec("utf-8")


def _without_mark(data: bytes, where: str, hints: Hints) -> tuple[Codec, str | None]:
    """The codec, and the text where it was decoded to find that out."""
    try:
        name, text = _unmarked(data, hints)
    except UnicodeDecodeError as error:
        _refuse_binary(data, where)
        raise _fault(where, "utf-8", error.start, error.reason, data[error.start :]) from None
    return Codec(name), text


def _unmarked(data: bytes, hints: Hints) -> tuple[str, str | None]:
    """The codec, and the text if it is UTF-8. Raises UnicodeDecodeError for UTF-8 with faults."""
    auto = hints.policy == "auto"
    if auto and (latin := unmarked_utf16.mostly_latin(data)):
        return latin, None
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        if not auto or _is_damaged_utf8(data, error):
            raise
        return _wide(data) or _detect(data, hints), None
    wide = _wide(data) if auto and _is_binary(data[:_SAMPLE]) else None
    return (wide, None) if wide else ("utf-8", text)


def _wide(data: bytes) -> str | None:
    """UTF-16 of any script, where no reading as Chinese of one or two bytes is as good."""
    order, share = unmarked_utf16.of_any_script(data)
    narrow = max(_share_of_common(data[:_DETECTED], codec) for codec in _CHINESE) if share else 1.0
    return order if share > narrow else None


def _is_damaged_utf8(data: bytes, error: UnicodeDecodeError) -> bool:
    near = data[max(0, error.start - _DETECTED) : error.start + _DETECTED]
    text = near.decode("utf-8", "replace")
    invalid = text.count("\ufffd")
    valid = len(text) - len(text.encode("ascii", "ignore")) - invalid
    cut_off = error.reason == "unexpected end of data" and invalid == 1 and valid > 0
    return cut_off or valid > _DAMAGED_RATIO * invalid or (valid == 0 and _is_of_remnants(data))


def _is_of_remnants(data: bytes) -> bool:
    """Whether all that is not ASCII are beginnings of characters of UTF-8, by which no word ends in any other encoding."""
    found = _REMNANT.findall(data)
    return bool(found) and sum(map(len, found)) == len(data.translate(None, bytes(range(128)))) and any(map(_is_no_end_of_a_word, found))


def _is_no_end_of_a_word(pair: bytes) -> bool:
    return len(pair) > 2 or pair[1] not in _CLOSING


def _telling(data: bytes) -> bytes:
    """The part of a long text that tells its encoding: lines from the first one that holds a byte outside ASCII."""
    beyond = re.search(rb"[\x80-\xff]", data)
    start = data.rfind(b"\n", 0, beyond.start()) + 1 if beyond else 0
    end = data.rfind(b"\n", start, start + _DETECTED) + 1
    return data[start:end] if end > start else data


def _detect(data: bytes, hints: Hints) -> str:
    data = data if hints.html or len(data) <= _DETECTED else _telling(data)
    label = (detect_encoding(data, from_html_meta=hints.html) or "utf-8").lower()
    if hints.html and label.startswith("utf"):  # not UTF-8, as was found, nor in UTF-16 where its declaration could be read
        label = (detect_encoding(data, from_html_meta=False) or "utf-8").lower()
    label = "utf-8" if label.startswith("utf-16") else label  # `unmarked_utf16` knows better
    encoding, spoken = _CODECS.get(label, label), (hints.language or "").split("-")[0]
    if encoding in _CHINESE or spoken == "zh":
        common = {codec: _share_of_common(data, codec) for codec in _CHINESE}
        best = max(_CHINESE, key=lambda codec: common[codec])
        return best if common[best] > 0.5 else encoding
    declared = hints.html and b"charset" in data[:_SAMPLE].lower()
    if not declared and _reads_as_western(data, spoken):
        return "cp1252"
    if not declared and spoken in ("", "en") and encoding != "utf-8" and _reads_as_chinese(data, encoding):
        return "gb18030"
    return _USUAL.get(spoken, encoding) if encoding == "utf-8" else encoding  # the detector says utf-8 where it knows nothing


def _reads_as_western(data: bytes, spoken: str) -> bool:
    """Whether all that is not ASCII are letters and signs of Western Europe, apart from each other: too few for the detector.

    That few tell little, so another language must not be declared, and without a declared one there must be few in much ASCII.
    """
    beyond = data.translate(None, bytes(range(128)))
    if (spoken and spoken not in _WESTERN) or beyond.translate(None, _WESTERN_BYTES) or len(beyond) > (0.5 if spoken else _FEW) * len(data):
        return False
    return sum(map(len, _IN_A_ROW.findall(data))) <= 0.1 * len(beyond)


def _reads_as_chinese(data: bytes, encoding: str) -> bool:
    """Whether all pairs are common Chinese characters, and the reading that the detector proposes is no text: a name within English.

    Korean in pairs lies in the first rows of Chinese alone, so there must be some of the later rows.
    """
    if _share_of_common(data, "gb18030") < 0.95:
        return False
    sample = [one.encode("gb18030")[0] for one in islice((one for one in data.decode("gb18030") if one > "\x7f"), _SAMPLE)]
    later = sum(0xC9 <= first <= 0xD7 for first in sample)
    try:
        return later > 0.15 * len(sample) and not _is_cased(data[:_DETECTED].decode(encoding, "replace"))
    except LookupError:  # the detector knows encodings that Python has not
        return later > 0.15 * len(sample)


def _is_cased(text: str) -> bool:
    """Whether most words outside ASCII are in small letters, in capitals, or begin with one, and few signs are among them."""
    words = [word for word in _LETTERS.findall(text) if not word.isascii()]
    odd = sum(not (word[1:].islower() or word.isupper() or word.lower() == word.upper() or len(word) == 1) for word in words)
    beyond = [one for one in text if one > "\xa0" and not "\u2010" <= one <= "\u2030"]
    return 2 * odd < max(len(words), 1) and 4 * sum(not one.isalnum() for one in beyond) <= len(beyond)


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
        return data[start:].decode(encoding) if start else data.decode(encoding)
    except UnicodeDecodeError as error:
        raise _fault(where, encoding, start + error.start, error.reason, error.object[error.start :]) from None
    except LookupError:
        message, fix = f"its encoding {encoding!r} is not supported", "convert the file to UTF-8"
        raise Unreadable(message, where, fix=fix, kind=UNDECODABLE, row=data[:_SAMPLE]) from None


def _is_binary(data: bytes) -> bool:
    """Whether bytes that stand for characters of their own hold too many control characters."""
    return len(data) - len(data.translate(None, _CONTROL_BYTES)) > _BINARY_SHARE * len(data)


def _refuse_binary(data: bytes, where: str) -> None:
    """Raise Unreadable for what may decode but is no text."""
    if _is_binary(data):
        raise _no_text(where, next(place for place, code in enumerate(data) if code in _CONTROL_BYTES), data)


def _refuse_binary_text(data: bytes, text: str, codec: Codec, where: str) -> None:
    """The same where characters are told from the text alone."""
    if len(_CONTROL.findall(text)) > _BINARY_SHARE * len(text):
        before = text[: next(place for place, sign in enumerate(text) if _CONTROL.match(sign))]
        raise _no_text(where, codec.mark + len(before.encode(codec.name)), data)


def _no_text(where: str, offset: int, data: bytes) -> Unreadable:
    known = next((fix for begin, fix in _BEGINNINGS if data.startswith(begin)), None)
    return Unreadable(
        f"this is not text: control characters, the first at byte {offset}",
        where,
        "what is compressed, compiled or an image would be learned as if it were text",
        known or "take the file out of the source, or, if it is text in another encoding, convert it to UTF-8 (iconv -f ENCODING -t UTF-8)",
        kind=UNDECODABLE,
        offset=offset,
        row=data[offset : offset + _SAMPLE],
    )


def _fault(where: str, encoding: str, offset: int, reason: str, rest: bytes) -> Unreadable:
    return Unreadable(
        f"byte {offset} is not {encoding} ({reason})",
        where,
        WITH_LOSS,
        "restore the file or convert it to UTF-8 (iconv -f ENCODING -t UTF-8), declare the language of the source, "
        "which helps to tell encodings apart, or take the file out of the source",
        kind=UNDECODABLE,
        offset=offset,
        row=rest[:_SAMPLE],
    )
