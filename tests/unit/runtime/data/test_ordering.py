"""Texts are told apart by their form KC, whatever way it is found."""

import random
import unicodedata

import pytest

from runtime.data.ordering import compatible, fingerprint, folded

SIGNS = "，！？：；（）…\u3000\xa0"
MARKS = "\u0300\u0323\u0338\u0345\u0f71\u3099"
LAST = 0x2FA20  # no character beyond has another form
OTHERS = "aAé가\u1100\u1161\u11a8ﬁ㎏Å中ｅか"


@pytest.mark.parametrize("around", ["{}", "，{}", "{}\xa0", "{}，\u0301", "\u3000{}\u0338"])
def test_form_kc_of_every_character_is_unicodes(around: str) -> None:
    texts = [around.format(chr(code)) for code in range(LAST) if not 0xD800 <= code < 0xE000]
    assert [text for text in texts if compatible(text) != unicodedata.normalize("NFKC", text)] == []


def test_form_kc_of_any_mixture_is_unicodes() -> None:
    drawn = random.Random(0)
    texts = ["".join(drawn.choices(SIGNS + MARKS + OTHERS, k=drawn.randrange(1, 12))) for _ in range(50_000)]
    assert [text for text in texts if compatible(text) != unicodedata.normalize("NFKC", text)] == []


def test_texts_of_ascii_alone_are_folded_as_others_are() -> None:
    for code in range(128):
        text = f"{chr(code)}Az{chr(code)} {chr(code)}"
        assert folded(text) + "\u00e9" == folded(text + "\u00e9")


def test_width_case_and_white_space_make_no_difference() -> None:
    assert fingerprint("Ａ，b\u3000Ｃ\n") == fingerprint("a, B c")
    assert fingerprint("a, b") != fingerprint("a. b")
