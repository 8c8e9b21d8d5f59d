"""Training: nothing is skipped, nothing depends on the machine, and a vocabulary that cannot be is refused with numbers."""

import io
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from samples import ROOT, TOKENIZER, Experiment, settings, texts
from sentencepiece import SentencePieceTrainer

from runtime import manifest, records
from runtime.contracts.tokenizer import CONTRACT, SpecialTokens
from runtime.data import encoding, tokenizer
from runtime.data.encoding import Vocabulary
from runtime.data.sentences import MAX_SENTENCE_BYTES, Sentences, draw, split_line
from runtime.data.tokenizer import check_special_tokens, train
from runtime.faults import StageFault
from runtime.records import Record

NewExperiment = Callable[..., Experiment]


@pytest.mark.parametrize("line", ["x" * 10_000, "word " * 3000, "漢字" * 4000, "a" + "\U0001f600" * 3000])
def test_long_lines_come_in_parts_of_whole_characters_that_lose_nothing(line: str) -> None:
    parts = split_line(line, MAX_SENTENCE_BYTES)
    assert "".join(parts) == line
    assert max(len(part.encode()) for part in parts) <= MAX_SENTENCE_BYTES
    assert all(part.endswith(" ") for part in parts) or " " not in line


def test_sentencepiece_gets_every_line_and_skips_none(capfd: pytest.CaptureFixture[str]) -> None:
    # As another training in this process may leave it: the level holds for the process, not for the call.
    SentencePieceTrainer.train(sentence_iterator=iter(["a b c d e"] * 9), model_writer=io.BytesIO(), vocab_size=9, minloglevel=2)
    capfd.readouterr()
    seen = Sentences()
    odd = ["x" * 9000 + " tail", "a sign \u2585 that is skipped elsewhere", "\n\n", "col\tcol", ""]
    train(seen.of([*texts(), *odd]), settings())
    log = capfd.readouterr().err
    assert "Skipped" not in log
    assert f"Loaded all {seen.sentences} sentences" in log
    assert (seen.documents, seen.split) == (len(texts()) + len(odd), 1)


def test_no_piece_reaches_across_a_line_or_a_column(vocabulary: Vocabulary) -> None:
    pieces = [vocabulary.backend.processor.id_to_piece(id) for id in range(vocabulary.size)]
    assert [piece for piece in pieces if "\n" in piece or "\t" in piece] == ["\n", "\t"]


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_a_vocabulary_larger_than_the_corpus_gives_is_refused_with_both_numbers(kind: str) -> None:
    with pytest.raises(StageFault, match=r"vocab_size is 50000, the training documents give at most (\d+) pieces") as caught:
        train(texts(), settings(vocab_size=50_000, model_type=kind))
    most = int(caught.value.message.split()[-2])
    train(texts(), settings(vocab_size=most, model_type=kind))
    with pytest.raises(StageFault):
        train(texts(), settings(vocab_size=most + 1, model_type=kind))


def test_a_vocabulary_too_small_for_the_characters_is_refused_with_both_numbers() -> None:
    with pytest.raises(StageFault, match=r"vocab_size is 270, single characters and special pieces alone need \d+"):
        train(texts(), settings(vocab_size=270))


def test_text_of_nothing_but_blank_lines_is_refused() -> None:
    with pytest.raises(StageFault, match="no training text"):
        train(Sentences().of(["", "\n\n"]), settings())


@pytest.mark.parametrize(
    "special",
    [
        SpecialTokens(pad="</s>", bos="<s>", eos="</s>", user=()),
        SpecialTokens(pad="<pad>", bos="<s>", eos="</s>", user=("<s>",)),
        SpecialTokens(pad="<pad>", bos="<s>", eos="", user=()),
        SpecialTokens(pad="<pad>", bos="<s>", eos="</s>", user=("<unk>",)),
        SpecialTokens(pad="<pad>", bos="<s>", eos="</s>", user=("a b",)),
        SpecialTokens(pad="<pad>", bos="<s>", eos="</s>", user=("a\u2581",)),
        SpecialTokens(pad="<pad>", bos="<s>", eos="</s>", user=("<0x0A>",)),
    ],
)
def test_special_pieces_with_two_meanings_or_no_text_are_refused(special: SpecialTokens) -> None:
    with pytest.raises(StageFault, match="cannot be used"):
        check_special_tokens(settings(special_tokens=special))


def test_without_byte_fallback_dropped_characters_are_listed_and_too_many_unknown_are_refused(
    new_experiment: NewExperiment, documents: list[Record]
) -> None:
    experiment = new_experiment()
    rare = [Record("r", "one ☃", "english")]
    lossy = {**TOKENIZER, "byte_fallback": False, "character_coverage": 0.998, "vocab_size": 250}
    experiment.corpus(documents + rare, documents[:20])
    metrics = experiment.run(CONTRACT, **lossy)
    assert "☃" in metrics["characters"]["most_frequent_without_piece"]
    experiment.corpus(documents + rare, [Record("v", "☃ ☃ ☃ fox", "english")])
    with pytest.raises(StageFault, match=r"\d of \d+ validation tokens? unknown"):
        experiment.run(CONTRACT, **lossy)


def test_a_rare_character_comes_back_with_byte_fallback(new_experiment: NewExperiment, documents: list[Record]) -> None:
    experiment = new_experiment()
    experiment.corpus(documents, [Record("v", "fox ☃", "english")])
    metrics = experiment.run(CONTRACT, **TOKENIZER)
    assert metrics["validation"]["changed_documents"] == 0
    assert metrics["validation"]["byte_fallback_rate"] == pytest.approx(3 / metrics["validation"]["tokens"], abs=1e-6)
    assert metrics["validation"]["bytes"] == len("fox ☃".encode())


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_another_folder_gives_the_same_bytes(new_experiment: NewExperiment, documents: list[Record], kind: str) -> None:
    trees = []
    for name in ("one", "another/and-a-longer-place"):
        experiment = new_experiment(name)
        experiment.corpus(documents, documents[:9])
        experiment.run(CONTRACT, **{**TOKENIZER, "model_type": kind})
        trees.append(experiment.tree("tokenizer"))
    assert trees[0] == trees[1]
    assert sorted(trees[0]) == ["manifest.json", "special_tokens.json", "tokenizer.model", "tokenizer.vocab"]
    assert str(ROOT).encode() not in trees[0]["tokenizer.model"] and b"another" not in trees[0]["tokenizer.model"]
    assert manifest.read(Path("tokenizer")).facts["vocab_size"] == 420


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_one_core_gives_the_bytes_of_all_cores(kind: str) -> None:
    program = (
        "import sys, samples; from runtime.data import tokenizer\n"
        f"sys.stdout.buffer.write(tokenizer.train(samples.texts(), samples.settings(model_type={kind!r})))"
    )
    path = os.pathsep.join([str(ROOT), str(Path(__file__).parent)])

    def model(before: str) -> bytes:
        environment = {**os.environ, "PYTHONPATH": path}
        return subprocess.run([sys.executable, "-c", before + program], check=True, capture_output=True, env=environment).stdout

    alone = model("import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}); ")
    assert alone == model("")
    assert len(alone) > 1000


def test_a_kind_of_model_that_sentencepiece_does_not_know_is_refused() -> None:
    with pytest.raises(StageFault, match=r"SentencePiece refused: .*wordpiece"):
        train(["some text"], settings(model_type="wordpiece"))


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_the_threads_of_a_machine_are_not_those_of_the_training(new_experiment: NewExperiment, documents: list[Record], kind: str) -> None:
    trees = []
    for name, threads in (("one", 1), ("a-longer-folder", 4)):
        experiment = new_experiment(name)
        experiment.corpus(documents, documents[:9])
        experiment.configure("../placement", {"threads": threads, "workers": threads})
        experiment.run(CONTRACT, **{**TOKENIZER, "model_type": kind})
        trees.append(experiment.tree("tokenizer"))
    assert trees[0] == trees[1]


def test_a_corpus_beyond_the_budget_is_sampled_by_document_whatever_its_order(tmp_path: Path, documents: list[Record]) -> None:
    total = sum(record.size for record in documents)
    for folder, order in (("given", documents), ("turned", documents[::-1])):
        records.write(tmp_path / folder, order)
    whole = draw(tmp_path / "given", total)
    assert (whole.documents, whole.bytes, list(whole.of(tmp_path / "given"))) == (300, total, [record.text for record in documents])
    some = draw(tmp_path / "given", total // 4)
    chosen = list(some.of(tmp_path / "given"))
    assert total // 4 - 200 < sum(len(text.encode()) for text in chosen) <= total // 4
    assert chosen == [record.text for record in documents if record.text in {*chosen}]
    assert {*draw(tmp_path / "turned", total // 4).of(tmp_path / "turned")} == {*chosen}
    assert len(list(draw(tmp_path / "given", 1).of(tmp_path / "given"))) == 1


def test_the_sample_is_what_is_trained_on_and_is_stated(new_experiment: NewExperiment, documents: list[Record]) -> None:
    experiment = new_experiment()
    experiment.corpus(documents, documents[:9])
    told = experiment.run(CONTRACT, **{**TOKENIZER, "vocab_size": 360, "training_bytes": 9000})["training"]
    assert 8000 < told["bytes"] <= 9000 and told["documents"] < told["of_documents"] == 300
    assert told["of_bytes"] == sum(record.size for record in documents)


def test_a_user_defined_piece_is_one_id_wherever_the_text_has_it(tmp_path: Path) -> None:
    asked = settings(user_defined=("owndo", "<number>"))
    made = tokenizer.write(tmp_path, train(Sentences().of(texts()), asked), asked)
    text = "a<number>owndoowndo"
    ids = made.encode(text)
    assert [made.decode([id]) for id in ids] == ["a", "<number>", "owndo", "owndo"]
    assert made.decode(ids) == text and not {*ids} & {*made.special.values()}


def test_validation_tells_bytes_and_characters_a_token_of_each_source(new_experiment: NewExperiment, documents: list[Record]) -> None:
    experiment = new_experiment()
    experiment.corpus(documents, documents[:20])
    found = experiment.run(CONTRACT, **TOKENIZER)["validation_by_source"]
    vocabulary = encoding.load(experiment.folder / "tokenizer")
    for source in ("chinese", "english"):
        held_out = [record.text for record in documents[:20] if record.source == source]
        tokens = sum(len(vocabulary.encode(text)) for text in held_out)
        assert found[source]["tokens"] == tokens
        assert found[source]["bytes_per_token"] == round(sum(len(text.encode()) for text in held_out) / tokens, 6)
        assert found[source]["characters_per_token"] == round(sum(map(len, held_out)) / tokens, 6)
