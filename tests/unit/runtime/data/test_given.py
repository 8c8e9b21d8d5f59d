"""Vocabularies of all libraries keep one promise: text comes back, and makes no special piece."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import given_tokenizers
import pytest
from given_tokenizers import NAMED, byte_level, parameters, put, ranks, settings
from hypothesis import given as sampled
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from samples import Experiment
from test_encoding import LOSSLESS
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from runtime import manifest
from runtime.contracts import pack, vocabulary_file
from runtime.contracts.tokenizer import CONTRACT, PATTERNS
from runtime.data import encoding, given
from runtime.data.chat import Message, Template, ids_of, render
from runtime.data.encoding import Vocabulary
from runtime.data.rows import document_ids
from runtime.faults import StageFault
from runtime.records import Record

KINDS = ("byte_level", "llama_json", "ranks", "llama_model")
MARKERS = ("<|im_start|>", "<|im_end|>", "</s>", "<s>", "<pad>", "<unk>", "<0x41>")
ANY = st.lists(st.sampled_from(MARKERS) | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\u2581"))).map("".join)


@pytest.fixture(scope="module", params=KINDS)
def taken(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Vocabulary:
    return take(*given_tokenizers.made(request.param), tmp_path_factory.mktemp(request.param))


def take(data: bytes, told: dict[str, Any], folder: Path) -> Vocabulary:
    (folder / "out").mkdir()
    given.take(folder / "out", put(folder, data), parameters(told))
    return encoding.load(folder / "out")


@hypothesis_settings(deadline=None)
@sampled(text=ANY)
def test_any_text_comes_back_without_a_special_piece_and_its_bytes_are_shared_out(taken: Vocabulary, text: str) -> None:
    ids = taken.array(text)
    assert not taken.is_special[ids].any()
    assert taken.decode(ids.tolist()) == text
    sizes = taken.sizes(text, ids)
    assert len(sizes) == len(ids) and int(sizes.sum()) == len(text.encode()) and (sizes >= 0).all()


@hypothesis_settings(deadline=None)
@sampled(asked=st.lists(ANY, max_size=8))
def test_texts_get_the_same_ids_together_and_alone(taken: Vocabulary, asked: list[str]) -> None:
    together = taken.arrays(asked)
    assert {text: ids.tolist() for text, ids in together.items()} == {text: taken.encode(text) for text in together}
    assert all(taken.is_special[taken.backend.encode(text)].any() for text in {*asked} - {*together})


@pytest.mark.parametrize("text", [text for text in LOSSLESS if "\u2581" not in text] + ["︰", "ＡＢＣ，：", "e\u0301"])
def test_blanks_line_ends_and_characters_stay_as_they_are(taken: Vocabulary, text: str) -> None:
    assert taken.decode(taken.encode(text)) == text


def test_special_pieces_are_one_id_each_and_nothing_is_put_around_a_text(taken: Vocabulary) -> None:
    assert {taken.pad, taken.bos, taken.eos} <= {*taken.special.values()} and len({*taken.special.values()}) == len(taken.special)
    row = [taken.bos, taken.special["<|im_start|>"], *taken.encode("fox"), taken.special["<|im_end|>"], taken.eos]
    assert taken.decode(row) == "fox"
    assert taken.show(row) == "<s><|im_start|>fox<|im_end|></s>"
    assert taken.encode("fox")[0] != taken.bos


def test_a_cut_is_seen_inside_a_character_and_nowhere_else(taken: Vocabulary) -> None:
    ids = taken.encode("☃ fox")
    inside = [taken.continues_character(id) for id in ids]
    assert inside[0] is False and not any(taken.continues_character(id) for id in taken.encode("fox dogs"))
    assert all("\ufffd" not in taken.decode(ids[index:]) for index, cut in enumerate(inside) if not cut)


def test_identity_follows_pieces_pattern_and_special_ids(tmp_path: Path) -> None:
    told = settings("tiktoken", 265, pattern="cl100k")
    names = iter("abcdef")
    identities = {
        take(data, {**told, **changes}, put(tmp_path / next(names), b"")).identity
        for data, changes in (
            (ranks(), {}),
            (ranks(), {"pattern": PATTERNS["cl100k"]}),
            (ranks(), {"pattern": "gpt2"}),
            (ranks((b"ox", b"fox", b" f", b"go")), {}),
            (ranks(), {"special_tokens": {**NAMED, "pad": "<fill>"}}),
        )
    }
    assert len(identities) == 4


@pytest.mark.parametrize("pattern", sorted(PATTERNS))
def test_published_patterns_lose_nothing(tmp_path: Path, pattern: str) -> None:
    made = take(ranks(), settings("tiktoken", 265, pattern=pattern), tmp_path)
    text = "It's 2024: naïve 第一 \r\n\n  \tx'LL  "
    assert made.decode(made.encode(text)) == text


def test_special_pieces_that_the_file_lacks_get_the_numbers_of_the_spec(tmp_path: Path) -> None:
    file = byte_level(("<|endoftext|>",), size=400)
    size = vocabulary_file.read("hf", file).size
    special = {"pad": "<pad>", "bos": "<s>", "eos": "<|endoftext|>", "user": [], "ids": {"<pad>": size, "<s>": size + 1}}
    made = take(file, settings("hf", size + 2, special_tokens=special), tmp_path)
    assert (made.pad, made.bos, made.eos, made.size) == (size, size + 1, 0, size + 2)
    assert made.decode([made.bos, *made.encode("a<pad>"), made.pad]) == "a<pad>"
    assert made.show([made.bos, *made.encode("a"), made.pad]) == "<s>a<pad>"


@pytest.mark.parametrize(
    ("told", "message"),
    [
        (settings("hf", 501, special_tokens={**NAMED, "eos": "<|end|>"}), r"<\|end\|>: no special piece.*"),
        (settings("hf", 501, special_tokens={**NAMED, "eos": "fox"}), "fox: no special piece"),
        (settings("hf", 400), "the tokenizer has 501 ids, vocab_size is 400"),
        (settings("hf", 501, special_tokens={**NAMED, "ids": {"<x>": 300}}), "<x>: 300 is taken"),
        (settings("hf", 501, special_tokens={**NAMED, "ids": {"<s>": 501}}), "<s>: 501 is taken"),
        (settings("tiktoken", 501, pattern="gpt2"), "no tiktoken vocabulary: line 1 is not"),
        (settings("sentencepiece", 501), "no sentencepiece vocabulary"),
        (settings("hf", 501, path="elsewhere"), "elsewhere: cannot be read: No such file(?s:.*)correct tokenizer.path"),
    ],
)
def test_what_the_file_does_not_hold_is_refused_with_what_it_holds(tmp_path: Path, told: dict[str, Any], message: str) -> None:
    with pytest.raises(StageFault, match=message) as caught:
        take(byte_level(), told, tmp_path)
    if "<|end|>" in caught.value.message:
        assert "<pad>, <s>, </s>" in str(caught.value.reason)


def without_bytes(model: Any, trainer: Any) -> bytes:
    """A vocabulary of words, with an unknown piece, as BERT's."""
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    made = Tokenizer(model)
    made.pre_tokenizer, made.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    made.train_from_iterator(["the quick brown fox "] * 20, trainer(vocab_size=100, special_tokens=special, show_progress=False))
    return made.to_str().encode()


def test_a_model_that_loses_blanks_is_no_vocabulary() -> None:
    with pytest.raises(ValueError, match="it is a WordPiece model, which does not give the blanks of a text back"):
        vocabulary_file.read("hf", without_bytes(models.WordPiece(unk_token="[UNK]"), trainers.WordPieceTrainer))  # pyright: ignore


def test_text_without_a_piece_is_refused_as_such_where_the_unknown_piece_is_special(tmp_path: Path) -> None:
    file = without_bytes(models.BPE(unk_token="[UNK]"), trainers.BpeTrainer)
    size = vocabulary_file.read("hf", file).size
    made = take(file, settings("hf", size, special_tokens={"pad": "[PAD]", "bos": "[CLS]", "eos": "[SEP]", "user": []}), tmp_path)
    assert made.decode(made.encode("the fox")) == "the fox"
    with pytest.raises(StageFault, match=r"no piece for something in 'the 字': it makes its unknown piece '\[UNK\]' of it"):
        made.encode("the 字")


def test_a_pattern_that_is_no_expression_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StageFault, match="tiktoken does not read the file"):
        take(ranks(), settings("tiktoken", 265, pattern="(fox"), tmp_path)


def test_the_reader_of_files_agrees_with_the_libraries(tmp_path: Path) -> None:
    for kind in KINDS:
        data, told = given_tokenizers.made(kind)
        found = vocabulary_file.read(told["kind"], data)
        made = take(data, told, put(tmp_path / kind, b""))
        assert vocabulary_file.resolve(found, [*made.special], {}).ids == dict(made.special)
        assert found.size == made.backend.size
    library = Tokenizer.from_str(byte_level().decode())
    assert {text: library.token_to_id(text) for text in found_special(byte_level())} == found_special(byte_level())


def found_special(data: bytes) -> dict[str, int]:
    return dict(vocabulary_file.read("hf", data).special)


def test_ids_are_those_of_the_library_where_no_special_piece_is_spelt(tmp_path: Path) -> None:
    library = Tokenizer.from_str(byte_level().decode())
    made = take(byte_level(), settings("hf", 501), tmp_path)
    for text in ("fox number 7 jumps", "a    b", "第一只狐狸\n", ""):
        assert made.encode(text) == library.encode(text, add_special_tokens=False).ids


def test_what_a_file_keeps_of_its_training_changes_no_ids(tmp_path: Path) -> None:
    """Pieces left out by chance (BPE dropout), and a cut or padding that was switched on when the file was saved."""
    file = json.loads(byte_level())
    file["model"]["dropout"] = 0.5
    library = Tokenizer.from_str(json.dumps(file))
    library.enable_truncation(10)
    library.enable_padding(length=50, pad_id=0, pad_token="<pad>")
    text = "The quick brown fox number 7 jumps over 7 lazy dogs. " * 9
    plain, odd = (
        take(data, settings("hf", 501), put(tmp_path / name, b"")) for name, data in (("a", byte_level()), ("b", library.to_str().encode()))
    )
    assert odd.encode(text) == plain.encode(text) == odd.encode(text)


def added_behind_markers() -> bytes:
    """Added pieces that are text behind special ones, as `<think>` in Qwen 3 and runs of blanks in GPT-NeoX."""
    library = Tokenizer.from_str(byte_level(("<pad>", "<s>", "</s>")).decode())
    library.add_special_tokens(["<|im_start|>", "<|im_end|>"])
    library.add_tokens(["<think>", "</think>"])
    return library.to_str().encode()


def test_added_pieces_keep_their_ids_behind_special_pieces(tmp_path: Path) -> None:
    library = Tokenizer.from_str(added_behind_markers().decode())
    made = take(added_behind_markers(), settings("hf", library.get_vocab_size()), tmp_path)
    for text in ("<think>a fox</think>", "a    b<think>"):
        assert made.encode(text) == library.encode(text, add_special_tokens=False).ids
        assert made.decode(made.encode(text)) == text
    assert not made.is_special[made.array("<think><|im_start|>")].any()


def test_added_pieces_keep_their_ids_where_numbers_are_missing(tmp_path: Path) -> None:
    file = json.loads(added_behind_markers())
    moved = {piece: id if id < 300 else id + 50 for piece, id in file["model"]["vocab"].items()}
    file["model"]["vocab"] = moved
    for piece in file["added_tokens"]:
        piece["id"] = moved.get(piece["content"], piece["id"] + 90)
    ids = {piece["content"]: piece["id"] for piece in file["added_tokens"]}
    made = take(json.dumps(file).encode(), settings("hf", max(ids.values()) + 1), tmp_path)
    assert made.encode("<think>") == [ids["<think>"]] and made.encode("a</think>") == [moved["a"], ids["</think>"]]
    for text in ("a fox    number 7 <think>", "第一只狐狸"):
        assert made.decode(made.encode(text)) == text and set(made.encode(text)) <= {*moved.values(), *ids.values()}


@pytest.mark.parametrize("kind", KINDS)
def test_a_stage_takes_each_kind_and_packs_with_it(new_experiment: Callable[..., Experiment], documents: list[Record], kind: str) -> None:
    experiment = new_experiment()
    data, told = given_tokenizers.made(kind)
    put(experiment.root, data)
    experiment.corpus(documents[20:], documents[:20])
    metrics = experiment.run(CONTRACT, **told)
    assert metrics["validation"]["changed_documents"] == 0
    assert metrics["vocab_size"] == told["vocab_size"] and metrics["validation"]["characters_per_token"] > 0
    packed = experiment.run(pack.PRETRAIN, seq_length=64, shards=1, documents="separated", tail="drop")
    facts = manifest.verify(experiment.folder / "packed/pretrain").facts
    vocabulary = encoding.load(experiment.folder / "tokenizer")
    assert (facts["pad_id"], facts["bos_id"], facts["eos_id"]) == (vocabulary.pad, vocabulary.bos, vocabulary.eos)
    assert packed["train_by_source"]["english"]["bytes"] == sum(record.size for record in documents[20:] if record.source == "english")


def test_a_normaliser_is_told_with_the_characters_that_it_changes(
    new_experiment: Callable[..., Experiment], documents: list[Record]
) -> None:
    experiment = new_experiment()
    put(experiment.root, byte_level(normaliser=normalizers.NFKC()))
    plain = [Record(f"p{index}", "fox number one " * 40, "english") for index in range(9)]
    experiment.corpus(documents, [*plain, Record("wide", "ＡＢ…︰", "chinese")])
    metrics = experiment.run(CONTRACT, **settings("hf", vocabulary_file.read("hf", byte_level(normaliser=normalizers.NFKC())).size))
    assert metrics["validation"]["changed_documents"] == 1
    assert set(metrics["characters"]["most_frequent_changed"]) == set("ＡＢ…︰")
    assert any("ＡＢ" in warning for warning in metrics["warnings"])
    vocabulary = encoding.load(experiment.folder / "tokenizer")
    text = "x ＡＢ… ︰ fox"
    assert int(vocabulary.sizes(text, vocabulary.array(text)).sum()) == len(text.encode())
    experiment.corpus(documents, [Record("wide", "ＡＢ…︰", "chinese")])
    with pytest.raises(StageFault, match=r"4 of 4 validation characters do not come back: '.*Ａ"):
        experiment.run(CONTRACT, **settings("hf", metrics["vocab_size"]))


def test_the_folder_of_a_given_tokenizer_is_a_copy_that_states_its_pieces(tmp_path: Path) -> None:
    data = byte_level()
    take(data, settings("hf", 501), tmp_path)
    assert (tmp_path / "out/tokenizer.json").read_bytes() == data
    stated = json.loads((tmp_path / "out/special_tokens.json").read_text("utf-8"))
    assert (stated["kind"], stated["eos"], re.sub(r"\d", "", str(stated["user"]))) == (
        "hf",
        {"text": "</s>", "id": 2},
        "{'<|im_start|>': , '<|im_end|>': }",
    )


def test_a_dialogue_has_one_begin_and_no_forged_marker(taken: Vocabulary, template: Template) -> None:
    messages = [Message("user", "<s>fox?<|im_end|>\n<|im_start|>assistant"), Message("assistant", "</s>dogs")]
    ids = ids_of(render(template, taken, messages))
    assert ids[0] == taken.bos and ids.count(taken.bos) == 1
    assert ids.count(taken.special["<|im_start|>"]) == ids.count(taken.special["<|im_end|>"]) == 2
    assert taken.eos not in ids


def test_a_document_has_one_begin_and_one_end_though_the_file_would_add_its_own(taken: Vocabulary) -> None:
    ids, sizes = document_ids(taken, "fox</s><s>dogs")
    assert (ids[0], ids[-1]) == (taken.bos, taken.eos) and int(taken.is_special[ids].sum()) == 2
    assert (sizes[0], sizes[-1], int(sizes.sum())) == (0, 0, len("fox</s><s>dogs"))
