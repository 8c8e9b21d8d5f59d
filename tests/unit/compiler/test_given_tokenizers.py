"""What a given tokenizer becomes: ids of the file in the mindformers files, a dependency of its stage, and no library imported."""

import base64
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml
from sentencepiece import SentencePieceTrainer

from compiler import tokenizer_file, tokenizer_library
from compiler.pipeline import Compiled
from compiler.resolve.tokenizer import special_ids
from compiler.spec.tokenizer import Tokenizer
from runtime.contracts import vocabulary_file
from tests.property.contexts import GIVEN
from tests.property.mutation import Experiments, changed

RANKS = b"".join(base64.b64encode(bytes([byte])) + b" %d\n" % byte for byte in range(256))


@pytest.fixture(scope="module")
def experiments(tmp_path_factory: pytest.TempPathFactory) -> Experiments:
    return Experiments(tmp_path_factory.mktemp("project"))


def compiled(experiments: Experiments, **changes: object) -> Compiled:
    return experiments.compiled(changed(experiments.values, {**GIVEN, **changes}))


def config(found: Compiled, name: str) -> dict:
    (node,) = (node for node in found.graph.stages if node.name == name)
    return yaml.safe_load(yaml.safe_dump(node.config))


def test_special_pieces_of_a_tiktoken_file_are_counted_on_behind_its_last_rank(experiments: Experiments) -> None:
    found = compiled(experiments)
    for stage in ("pretrain", "finetune"):
        model = config(found, stage)["model"]["model_config"]
        assert {name: model[f"{name}_token_id"] for name in ("pad", "bos", "eos")} == {"pad": 256, "bos": 257, "eos": 258}
        assert model["vocab_size"] == 261


def test_the_file_is_a_dependency_of_its_stage_alone(experiments: Experiments) -> None:
    depends = {
        node.name for node in compiled(experiments).graph.stages if any(path.endswith("data/small.tiktoken") for path in node.dependencies)
    }
    assert depends == {"tokenizer"}


def test_mindformers_own_prediction_is_written_for_sentencepiece_alone(experiments: Experiments) -> None:
    assert "predict" not in compiled(experiments).graph.apart
    assert "predict" in experiments.compiled(experiments.values).graph.apart


def test_rows_with_padding_are_read_with_their_labels(experiments: Experiments) -> None:
    values = changed(experiments.values, {"pack.documents": "whole", "pack.tail": "pad"})
    assert config(experiments.compiled(values), "pretrain")["train_dataset"]["input_columns"] == ["input_ids", "labels"]
    assert config(experiments.compiled(experiments.values), "pretrain")["train_dataset"]["input_columns"] == ["input_ids"]


def test_a_trained_tokenizer_has_the_fixed_ids(experiments: Experiments) -> None:
    spec = experiments.compiled(experiments.values).spec
    assert vars(special_ids(spec, experiments.root)) == {"pad": 0, "bos": 1, "eos": 2}
    assert tokenizer_file.pieces(spec, experiments.root) is None


def test_checking_imports_no_tokenizer_library(experiments: Experiments) -> None:
    program = (
        "import sys; from compiler.pipeline import compile_experiment; from compiler import tokenizer_file; "
        "from runtime.contracts import vocabulary_file; "
        f"print(vocabulary_file.read('tiktoken', open({str(experiments.root / 'data/small.tiktoken')!r}, 'rb').read()).size); "
        "print([name for name in ('tokenizers', 'tiktoken', 'sentencepiece', 'numpy') if name in sys.modules])"
    )
    root = Path(__file__).parents[3]
    told = subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=True)
    assert told.stdout.split("\n")[:2] == ["256", "[]"]


@pytest.mark.parametrize(
    ("kind", "data", "why"),
    [
        ("hf", b"", "no tokenizer.json"),
        ("hf", b"[]", "no tokenizer.json"),
        ("hf", b'{"model": {"vocab": {}}}', "it holds no piece"),
        ("hf", b'{"model": {"vocab": [1, 2]}}', "no tokenizer.json"),
        ("hf", b'{"model": {"vocab": [[]]}}', "no tokenizer.json"),
        ("hf", b'{"model": {"vocab": {"a": [1]}}}', "no tokenizer.json"),
        ("hf", b"[" * 100_000, "no tokenizer.json"),
        ("hf", b'{"model": {"vocab": {"a": "1", "b": 2}}}', "the id '1' of a piece is no number"),
        ("hf", b'{"model": {"vocab": {"a": -5, "b": 3}}}', "the id -5 of a piece is no number"),
        ("hf", b'{"model": {"vocab": {"a": 1.5}}}', "the id 1.5 of a piece is no number"),
        ("hf", b'{"model": {"vocab": {"a": 1000000000000}}}', "the id 1000000000000 of a piece is no number"),
        ("hf", b'{"model": {"vocab": {"a": 0}}, "added_tokens": [{"content": "x", "id": "1"}]}', "the id '1' of a piece"),
        ("hf", b'{"model": {"vocab": []}, "added_tokens": [{"content": "x", "id": 1}, {"content": "y", "id": 1}]}', "'x' and 'y' have one"),
        ("hf", b'{"model": {"vocab": {"a": 7}}, "added_tokens": [{"content": "<s>", "id": 7}]}', "'a' and '<s>' have one id, 7"),
        ("hf", b'{"model": {"vocab": [["a", 0.0]]}, "added_tokens": [{"content": "<s>", "id": 0}]}', "'a' and '<s>' have one id, 0"),
        ("tiktoken", RANKS + b"YWI= -4\n", "the id -4 of a piece"),
        ("tiktoken", RANKS + b"YWI= 99999999999\n", "the id 99999999999 of a piece"),
        ("tiktoken", RANKS + b"IQ== 300\n", "line 257: the piece has the rank 33 already"),
        ("sentencepiece", b"\x0a\x02\x08\x01", "no SentencePiece model"),
        ("tiktoken", b"IQ== 0\n", "255 of the 256 bytes have no piece, the first is 0x00"),
        ("tiktoken", b"IQ== 0 1\n", "line 1 is not"),
        ("tiktoken", b"\xff\xfe 0\n", "line 1 is not"),
        ("sentencepiece", b"", "it holds no piece"),
        ("sentencepiece", b"\x0a\xff\xff\xff\xff\x0f", "no SentencePiece model"),
        ("sentencepiece", b"version https://git-lfs.github.com/spec/v1\n", "no SentencePiece model"),
    ],
)
def test_what_is_no_vocabulary_is_refused_with_the_reason(kind: str, data: bytes, why: str) -> None:
    with pytest.raises(vocabulary_file.NoVocabulary, match=why) as caught:
        vocabulary_file.read(kind, data)
    assert max(caught.value.zh) >= "\u4e00"  # a person who reads Chinese is told in Chinese


def test_pieces_that_are_not_seen_are_shown_in_quotes() -> None:
    assert [vocabulary_file.visible(text) for text in ("<s>", "第", "    ", "\n", "\u200b", "a b")] == [
        "<s>", "第", "'    '", "'\\n'", "'\\u200b'", "a b",
    ]  # fmt: skip


SMALL = {"version": "1.0", "added_tokens": [], "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}}


@pytest.mark.parametrize(
    ("file", "told"),
    [
        ({**SMALL, "model": {**SMALL["model"], "type": "Odd"}}, "ModelUntagged"),
        ({**SMALL, "normalizer": {"type": "Odd"}}, "NormalizerUntagged"),
        ({**SMALL, "model": {**SMALL["model"], "merges": ["a c"]}}, "`c` out of vocabulary"),
        ({**SMALL, "model": {**SMALL["model"], "vocab": {"a": 0, "b": 1, "ab": 5}}}, None),  # numbers may have holes
        (SMALL, None),
    ],
)
def test_a_file_that_its_library_does_not_read_is_refused(file: dict, told: str | None, tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text(json.dumps(file), "utf-8")
    why = tokenizer_library.refusal(Tokenizer(kind="hf", path="tokenizer.json", vocab_size=3), tmp_path)
    assert (why is None) if told is None else (why and told in why)


def test_a_model_that_ends_too_early_is_refused(tmp_path: Path) -> None:
    model = tmp_path / "whole.model"
    SentencePieceTrainer.train(sentence_iterator=iter(["a b c d e f g"] * 20), model_prefix=str(model.with_suffix("")), vocab_size=11)
    settings = Tokenizer(path="whole.model", vocab_size=11)
    assert tokenizer_library.refusal(settings, tmp_path) is None
    whole = model.read_bytes()
    pieces = vocabulary_file.read("sentencepiece", whole).size
    for kept in (len(whole) // 4, len(whole) // 2, whole.rindex(b"\x0a") - 1):
        model.write_bytes(whole[:kept])
        try:
            fewer = vocabulary_file.read("sentencepiece", whole[:kept]).size < pieces
        except vocabulary_file.NoVocabulary:
            continue
        assert fewer or tokenizer_library.refusal(settings, tmp_path)


@pytest.mark.parametrize("pattern", ["[a-", "(?<name", r"\p{Odd}", "((a{1,300}){1,300}){1,300}", "(" * 5000 + ")" * 5000])
def test_a_pattern_that_is_none_is_refused_at_once(pattern: str) -> None:
    begun = time.process_time()
    assert tokenizer_library.pattern_refusal(pattern)
    assert time.process_time() - begun < 1


def test_patterns_that_are_ones_pass() -> None:
    assert [tokenizer_library.pattern_refusal(one) for one in ("gpt2", r"\p{L}+|\s+(?!\S)|.", "(a*)*b")] == [None, None, None]


def test_a_checked_demo_imports_no_library() -> None:
    program = (
        "import sys; from pathlib import Path; from compiler.parse import load; from compiler.validate import review; "
        "review(load(Path('.'), 'demo')); print([one for one in ('tokenizers', 'tiktoken', 'sentencepiece') if one in sys.modules])"
    )
    root = Path(__file__).parents[3]
    assert subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=True).stdout == "[]\n"
