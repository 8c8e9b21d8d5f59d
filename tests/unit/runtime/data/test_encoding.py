"""Text comes back from its ids, and cannot make an id of a special piece."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from samples import settings, texts

from runtime.data import encoding, tokenizer
from runtime.data.encoding import SPECIAL, Vocabulary
from runtime.faults import StageFault

LOSSLESS = [
    "a\nb",
    "a\tb",
    "a  b ",
    "  x",
    "\n\n",
    "a\r\nb\r",
    "\u2581x\u2581",
    "\u2047 \u2585",
    "x\0y",
    "<0x41>",
    "\u3000\u00a0\u2028",
    "",
]


@pytest.mark.parametrize("text", LOSSLESS)
def test_blanks_tabs_line_ends_and_signs_of_sentencepiece_itself_come_back(vocabulary: Vocabulary, text: str) -> None:
    assert vocabulary.decode(vocabulary.encode(text)) == text


@pytest.mark.parametrize("text", ["︰", "ＡＢＣ，：", "…", "ﬁ", "e\u0301"])
def test_no_character_is_rewritten(vocabulary: Vocabulary, text: str) -> None:
    assert vocabulary.decode(vocabulary.encode(text)) == text


@hypothesis_settings(deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_comes_back_and_its_bytes_are_shared_out_among_its_ids(vocabulary: Vocabulary, text: str) -> None:
    ids = vocabulary.encode(text)
    assert vocabulary.decode(ids) == text
    assert sum(vocabulary.sizes(text, ids)) == len(text.encode())
    assert all(size > 0 for size in vocabulary.sizes(text, ids))


@pytest.mark.parametrize("asked", [[], texts(), [*texts(), *LOSSLESS], ["<s>", *LOSSLESS, "<s>", "a</s>"]])
def test_texts_get_the_same_ids_together_and_alone(vocabulary: Vocabulary, asked: list[str]) -> None:
    found = vocabulary.arrays(asked)
    assert {text: ids.tolist() for text, ids in found.items()} == {text: vocabulary.encode(text) for text in asked}


@pytest.mark.parametrize("text", ["<|im_start|>", "</s>", "a<s>b", "<pad>", "<|im_end|>\n<|im_start|>user", "<unk>"])
def test_text_that_spells_a_special_piece_is_ordinary_text(vocabulary: Vocabulary, text: str) -> None:
    ids = vocabulary.encode(text)
    assert not set(ids) & {*vocabulary.special.values(), vocabulary.backend.processor.unk_id()}
    assert vocabulary.decode(ids) == text


def test_special_pieces_are_one_id_each_that_decodes_to_nothing_and_can_be_shown(vocabulary: Vocabulary) -> None:
    assert vocabulary.special == {"<pad>": 0, "<s>": 1, "</s>": 2, "<|im_start|>": 4, "<|im_end|>": 5}
    assert (vocabulary.pad, vocabulary.bos, vocabulary.eos) == (0, 1, 2)
    row = [1, 4, *vocabulary.encode("fox"), 5]
    assert vocabulary.decode(row) == "fox"
    assert vocabulary.show(row) == "<s><|im_start|>fox<|im_end|>"


def test_bytes_of_unknown_characters_are_counted_without_byte_fallback(tmp_path: Path) -> None:
    plain = settings(byte_fallback=False, vocab_size=300)
    made = tokenizer.write(tmp_path, tokenizer.train(texts(), plain), plain)
    text = "fox ﷽﷽ and \u2581 ☃"
    ids = made.encode(text)
    assert any(map(made.is_unknown, ids))
    assert sum(made.sizes(text, ids)) == len(text.encode())


def test_a_stated_id_that_the_model_does_not_have_is_refused(vocabulary: Vocabulary, tmp_path: Path) -> None:
    stated = tokenizer.special_tokens(vocabulary.backend.processor, settings())
    for wrong in ({"pad": {"text": "<pad>", "id": -1}}, {"eos": {"text": "</s>", "id": 1}}, {"vocab_size": 421}):
        with pytest.raises(StageFault, match=r"is said to be (-1, is 0|1, is 2|421, is 420)"):
            encoding.from_parts(vocabulary.backend, {**stated, **wrong}, str(tmp_path / SPECIAL))


def test_identity_follows_pieces_and_not_the_bytes_of_the_model_file(vocabulary: Vocabulary, tmp_path: Path) -> None:
    model = vocabulary.backend.processor.serialized_model_proto()
    again = tokenizer.write(tmp_path, model + b"", settings())
    other = tokenizer.write(tmp_path, tokenizer.train(texts(), settings(vocab_size=421)), settings(vocab_size=421))
    assert again.identity == vocabulary.identity != other.identity
    assert json.loads((tmp_path / SPECIAL).read_text())["vocab_size"] == 421
