"""Exact match after the normalisation that is stated."""

import pytest

from runtime.evaluation.scoring import exact_match, normalise


@pytest.mark.parametrize(
    ("answer", "reference"),
    [
        ("Chinese", "Chinese"),
        (" Chinese \n", "Chinese"),
        ("ＡＢＣ１２３", "ABC123"),
        ("你好！", "你好!"),
        ("五　言", "五 言"),
        ("two\u00a0 words", "two words"),
        ("①", "1"),
        ("e\u0301", "é"),
    ],
)
def test_width_blanks_and_composition_do_not_count(answer, reference):
    assert exact_match(answer, reference)


@pytest.mark.parametrize(
    ("answer", "reference"), [("chinese", "Chinese"), ("Chinese.", "Chinese"), ("", "Chinese"), ("中 文", "中文"), ("诗", "詩")]
)
def test_case_punctuation_and_characters_count(answer, reference):
    assert not exact_match(answer, reference)


def test_normalising_twice_changes_nothing():
    text = " ﬁne　ＡＢ\t\tc "
    assert normalise(normalise(text)) == normalise(text) == "fine AB c"
