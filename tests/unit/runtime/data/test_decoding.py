"""Bytes -> text: every encoding that matters here, and the place of what cannot be decoded."""

import os

import pytest

from runtime.data.decoding import Hints, decode, repair
from runtime.data.unmarked_utf16 import of_any_script
from runtime.faults import StageFault

SIMPLIFIED = "这是一个关于开源软件的简短说明，用来检查编码识别是否正确。\n"
TRADITIONAL = "這是一個關於開放原始碼軟體的簡短說明，用來檢查編碼識別是否正確。\n"
FRENCH = "Les élèves français étaient déjà très fatigués à la fin de l'été.\n"
JAPANESE = "これは日本語の文章です。漢字も含まれています。\n" * 3
KOREAN = "이것은 한국어 문장입니다.\n"


@pytest.mark.parametrize(
    ("text", "encoding", "language", "found"),
    [
        (SIMPLIFIED, "utf-8", None, "utf-8"),
        (SIMPLIFIED, "gbk", None, "gb18030"),
        (TRADITIONAL, "big5", None, "big5hkscs"),
        ("你好，世界", "gbk", "zh", "gb18030"),
        ("你好世界", "big5", "zh", "big5hkscs"),
        ("𠀀你好世界这是文字", "gb18030", "zh", "gb18030"),
        (FRENCH, "latin-1", "fr", "cp1252"),
        (JAPANESE, "shift_jis", "ja", "cp932"),
        (JAPANESE, "euc-jp", "ja", "euc_jp"),
        (KOREAN, "euc-kr", "ko", "cp949"),
        ("hello world\n", "utf-16-be", None, "utf-16-be"),
        ("hello world\n", "utf-16-le", None, "utf-16-le"),
    ],
)
def test_text_comes_back_from_its_encoding(text: str, encoding: str, language: str | None, found: str) -> None:
    decoded = decode(text.encode(encoding), "a.txt", Hints(language=language))
    assert (decoded.text, decoded.encoding) == (text, found)


RUSSIAN = "Это краткое описание свободной программы.\n"
ARABIC = "هذا وصف قصير للبرمجيات الحرة.\n"
THAI = "นี่คือคำอธิบายสั้น ๆ\n"
RARE = "𠀀龘靐齉"


@pytest.mark.parametrize("order", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize(
    "text", [SIMPLIFIED, TRADITIONAL, JAPANESE, KOREAN, RUSSIAN, ARABIC, THAI, FRENCH, SIMPLIFIED.strip("。\n"), SIMPLIFIED + RARE]
)
@pytest.mark.parametrize("times", [1, 500])
def test_utf_16_needs_no_mark_in_any_script(text: str, order: str, times: int) -> None:
    for hints in (Hints(), Hints(language="zh")):
        decoded = decode((text * times).encode(order), "a.txt", hints)
        assert (decoded.text, decoded.encoding) == (text * times, order)


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (SIMPLIFIED, "gbk"), (TRADITIONAL, "big5"), (TRADITIONAL, "gbk"), (JAPANESE, "euc-jp"), (KOREAN, "euc-kr"), (RUSSIAN, "cp1251"),
        ("/* 说明 */ int main(void) { return 0; }\n        return 1;\n", "gbk"), ("La vidéo, les agrégats", "cp1252"),
        ("-" * 60 + "说明", "gbk"),
    ],
)  # fmt: skip
def test_text_of_one_or_two_bytes_a_character_never_becomes_utf_16(text: str, encoding: str) -> None:
    for data in (text.encode(encoding), text.encode(encoding)[:-2], (text * 400).encode(encoding), (text * 400).encode(encoding) + b"\0"):
        assert of_any_script(data)[1] == 0


PROSE = "This page says what the program does when it is started without any argument, and how it ends. " * 3


@pytest.mark.parametrize("language", [None, "en", "fr"])
@pytest.mark.parametrize(
    "word", ["naïve.", "café, Noël", "«été»", "“x” – it’s 5 €", "© 2020 Müller", "garçon", "½ µm ± 2°", "café”", "naïveté’s"]
)
def test_a_few_letters_of_western_europe_among_much_ascii_are_read(word: str, language: str | None) -> None:
    for text in (PROSE + word, word + PROSE, f"{PROSE}{word} {PROSE}\n" * 50):
        decoded = decode(text.encode("cp1252"), "a.txt", Hints(language=language))
        assert (decoded.text, decoded.encoding) == (text, "cp1252")


@pytest.mark.parametrize("language", [None, "en", "zh"])
@pytest.mark.parametrize("cut", ["中".encode()[:2], "😀".encode()[:3], "😀".encode()[:2], "\ufffd".encode()[:2]])
def test_the_rest_of_a_character_of_utf_8_in_ascii_is_no_other_encoding(cut: bytes, language: str | None) -> None:
    for data in (PROSE.encode() + cut, PROSE.encode() + cut + b" " + PROSE.encode() + cut + b"\n"):
        with pytest.raises(StageFault, match=f"byte {len(PROSE)} is not utf-8"):
            decode(data, "a.txt", Hints(language=language))


@pytest.mark.parametrize("language", [None, "en", "zh"])
@pytest.mark.parametrize("name", ["张三", "(北京大学)", "“中文”", "李明、王芳"])
def test_chinese_names_in_english_are_no_capitals_with_accents(name: str, language: str | None) -> None:
    text = f"{PROSE}Author: {name}.\n{PROSE}"
    decoded = decode(text.encode("gbk"), "a.txt", Hints(language=language))
    assert (decoded.text, decoded.encoding) == (text, "gb18030")


@pytest.mark.parametrize(("text", "encoding"), [("привет", "koi8-r"), ("Сегодня хорошая погода", "cp1251"), ("Καλημέρα", "iso8859-7")])
def test_short_words_of_other_alphabets_do_not_become_chinese(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding), "a.txt", Hints()).text == text


def test_a_wrong_byte_of_utf_16_is_named_as_such() -> None:
    data = (SIMPLIFIED * 9).encode("utf-16-le")
    with pytest.raises(StageFault, match=f"byte {len(data)} is not utf-16-le"):
        decode(data + b"a", "a.txt", Hints())
    with pytest.raises(StageFault, match="byte 60 is not utf-16-le"):
        decode(data[:60] + b"\x00\xd8" + data[60:], "a.txt", Hints())


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_tells_the_encoding_and_is_removed(encoding: str) -> None:
    decoded = decode(SIMPLIFIED.encode(encoding), "a.txt", Hints())
    assert (decoded.text, decoded.byte_order_marks) == (SIMPLIFIED, 1)


def test_a_byte_order_mark_in_the_middle_is_removed_and_counted() -> None:
    decoded = decode(b"\xef\xbb\xbfone\n\xef\xbb\xbftwo\n", "a.txt", Hints())
    assert (decoded.text, decoded.byte_order_marks) == ("one\ntwo\n", 2)


def test_a_page_may_declare_its_charset() -> None:
    page = b'<meta charset="gb2312"><p>' + "你好".encode("gbk")
    assert decode(page, "a.html", Hints(html=True)).text.endswith("你好")


@pytest.mark.parametrize(
    ("data", "offset"),
    [
        (SIMPLIFIED.encode()[:-2], 84),  # cut within the full stop
        (SIMPLIFIED.encode() + b"\xff" + SIMPLIFIED.encode(), 88),
    ],
    ids=["truncated", "damaged"],
)
def test_damaged_files_are_refused_at_the_byte(data: bytes, offset: int) -> None:
    with pytest.raises(StageFault) as fault:
        decode(data, "data/raw/a.txt", Hints(language="zh"))
    assert fault.value.where == "data/raw/a.txt"
    assert fault.value.message.startswith(f"byte {offset} is not utf-8")
    assert "iconv" in fault.value.fix


def test_one_wrong_byte_does_not_make_a_text_another_encoding() -> None:
    text = "Le café déjà fermé, naïve façade, où êtes-vous allés, élève? ".encode()
    with pytest.raises(StageFault, match=f"byte {len(text)} is not utf-8"):
        decode(text + b"\xe9 " + text, "a.txt", Hints())


def test_binary_data_is_never_read_as_some_single_byte_encoding() -> None:
    for start in (b"\x89PNG\r\n\x1a\n", b"", b"readable, so far\n"):
        for policy in ("auto", "utf-8"):
            with pytest.raises(StageFault, match="this is not text: control characters, the first at byte"):
                decode(start + os.urandom(4000), "a.txt", Hints(policy=policy))
    with pytest.raises(StageFault, match="this is not text: control characters, the first at byte 9\n"):
        decode(b"readable\n" + bytes(range(1, 9)) * 50, "a.txt", Hints())


def test_utf_8_only_means_that() -> None:
    with pytest.raises(StageFault, match="byte 0 is not utf-8"):
        decode(SIMPLIFIED.encode("gbk"), "a.txt", Hints(policy="utf-8"))


def test_a_stray_nul_is_text_still() -> None:
    assert decode(b"a\0b" + b"c" * 200, "a.txt", Hints()).encoding == "utf-8"


@pytest.mark.parametrize("text", [SIMPLIFIED, FRENCH, "“Hi, don’t!” she said – twice."])
def test_mojibake_is_undone(text: str) -> None:
    assert repair(text.encode().decode("latin-1")) == text


@pytest.mark.parametrize(
    "text", [SIMPLIFIED, TRADITIONAL, FRENCH, "，。！？「」％ＡＢＣ ㎏ ﬁ &amp; “x”", "Files with “Ã©” in them were decoded wrongly."]
)
def test_right_text_is_left_alone(text: str) -> None:
    assert repair(text) == text


@pytest.mark.parametrize("language", ["zh", None])
def test_a_pair_that_big5_writes_as_one_code_is_read(language: str | None) -> None:
    text = TRADITIONAL * 2 + "\u00ca\u0304"
    assert decode(text.encode("big5hkscs"), "a.txt", Hints(language=language)).text == text


@pytest.mark.parametrize("label", ["utf-16", "utf-16le", "utf-16be", "unicode"])
def test_a_page_that_declares_utf_16_in_ascii_is_not_in_utf_16(label: str) -> None:
    page = f'<meta charset="{label}"><p>{FRENCH * 2}'
    assert FRENCH in decode(page.encode("latin-1"), "a.html", Hints(html=True)).text


@pytest.mark.parametrize("label", ["utf-8", "UTF8", "unicode-1-1-utf-8"])
@pytest.mark.parametrize(("text", "encoding"), [(SIMPLIFIED, "gbk"), (TRADITIONAL, "big5"), (FRENCH, "latin-1"), (JAPANESE, "shift_jis")])
def test_a_page_that_declares_utf_8_and_is_something_else_is_told_by_its_bytes(label: str, text: str, encoding: str) -> None:
    page = f'<html><head><meta charset="{label}"></head><body><p>{text * 3}'
    assert text in decode(page.encode(encoding), "a.html", Hints(html=True)).text
