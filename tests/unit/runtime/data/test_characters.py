"""Invisible characters: what goes, what shapes a script or an emoji and stays, and how both are counted."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.data.characters import tidy

SIGNS = (
    "\v\u180eខကa中ع🏴👩❤한 \n\u0300\u200b\u200c\u200d\u00ad\ufe0f\ufe0e\U000e0100\U000e0067\U000e007f\u180b\u1820\ue000\u202e\ufdd0क\u094d"
)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("क्\u200dष and न्\u200cन", "क्\u200dष and न्\u200cन"),
        ("می\u200cخواهم\u200c", "می\u200cخواهم\u200c"),
        ("د\u200c\u200cر", "د\u200cر"),
        ("👩\u200d👩\u200d👧", "👩\u200d👩\u200d👧"),
        ("❤\ufe0f\u200d🔥", "❤\ufe0f\u200d🔥"),
        ("👩\u200d text\u200d.", "👩 text."),
        ("1\ufe0f\u20e3 ok\n\ufe0fstart", "1\ufe0f\u20e3 ok\nstart"),
        ("葛\U000e0100城 a\U000e0100b", "葛\U000e0100城 ab"),
        ("🏴\U000e0067\U000e0062\U000e007f hi\U000e0068\U000e0069", "🏴\U000e0067\U000e0062\U000e007f hi"),
        ("ᠮ\u180b x\u180b", "ᠮ\u180b x"),
        ("ភាសា\u200bខ្មែរ\u200b ไทย\u200b\u200bลาว\u200b a\u200bb 中\u200b文", "ភាសា\u200bខ្មែរ ไทย\u200bลาว ab 中文"),
        ("မြန်\u200bမာ\u200bx ལ\u200bྔ", "မြန်\u200bမာx ལ\u200bྔ"),
        ("ᠰᠠᠷ\u180eᠠ a\u180eb", "ᠰᠠᠷ\u180eᠠ ab"),
        ("Title\vsecond line\fpage\v\v\vend", "Title\nsecond line\npage\n\nend"),
        ("icon \ue001\uf8ff\U000f0001 font", "icon  font"),
        ("\u202eabc\u202c \u2067x\u2069\u061c", "abc x"),
        ("co\u00adoperate\ufdd0\U0001ffff", "cooperate"),
        ("a\u3164b\u034f", "ab"),
        ("\x1b[33m -- \x1b[1;32m《行为准则》\x1b[m\x1b[0K第一条\x1b(B", " -- 《行为准则》第一条"),
        ("see \x1b]8;;https://a.example\x1b\\here\x1b]8;;\x07.", "see here."),
        ("N\x08NA\x08AM\x08M\x08ME\x08E of _\x08a_\x08b", "NAME of ab"),
        ("no\x08t struck, \x1b[", "not struck, ["),
    ],
)
def test_what_shapes_something_stays(text: str, kept: str) -> None:
    assert tidy(text) == kept
    assert tidy(kept) == kept


def test_what_goes_is_counted_by_kind() -> None:
    removed: Counter[str] = Counter()
    tidy("\x00\x07\x1b[1mx\x08xa\u200b\ufeffb\u202e\u00ad\ue000x\u200d \ufe0f\U000e0041\ufffa\ufffe", removed)
    assert removed == {
        "terminal": 2, "control": 2, "zero_width": 2, "direction": 1, "soft_hyphen": 1, "private_use": 1, "joiner": 1,
        "variation_selector": 1, "tag": 1, "annotation": 1, "noncharacter": 1,
    }  # fmt: skip


@given(st.text(alphabet=st.sampled_from(SIGNS), max_size=30))
def test_tidying_twice_takes_nothing_more(text: str) -> None:
    once = tidy(text)
    removed: Counter[str] = Counter()
    assert tidy(once, removed) == once
    assert not removed


def test_white_space_of_code_stays() -> None:
    program = "def f():\n    if x:\n\treturn 1   \n\n\n\n    return 2"
    assert tidy(f"\n{program}\r\n", code=True) == program
    assert tidy(program) == "def f():\n    if x:\n\treturn 1\n\n    return 2"
