"""Training: nothing is skipped, nothing depends on the machine, and a vocabulary that cannot be is refused with numbers."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from samples import ROOT, TOKENIZER, Experiment, settings, texts

from runtime import manifest
from runtime.contracts.tokenizer import CONTRACT, SpecialTokens
from runtime.data.encoding import Vocabulary
from runtime.data.sentences import MAX_SENTENCE_BYTES, Sentences, split_line
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
    with pytest.raises(StageFault, match=r"\d of \d+ validation tokens are unknown"):
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
