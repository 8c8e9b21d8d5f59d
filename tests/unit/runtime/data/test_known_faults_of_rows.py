"""Faults of data that people have met elsewhere, with the very inputs they met them with: templates, truncation, tokenizers, files."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import given_tokenizers
import pytest
import yaml
from given_tokenizers import put
from samples import TOKENIZER, Experiment

from runtime import manifest
from runtime.contracts import format as format_contract
from runtime.contracts import pack, tokenizer
from runtime.data import chat, encoding, given, mindrecord
from runtime.data.chat import Message, ids_of, render
from runtime.data.encoding import Vocabulary
from runtime.faults import InputFault, StageFault
from runtime.records import Record

NewExperiment = Callable[..., Experiment]
ROWS = {"seq_length": 64, "shards": 1, "documents": "separated", "tail": "drop"}


@pytest.fixture(scope="module", params=["byte_level", "llama_json", "llama_model"])
def adds_a_begin(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Vocabulary:
    """A tokenizer whose own library puts a begin piece before what it encodes, or a blank."""
    folder = tmp_path_factory.mktemp(request.param)
    data, told = given_tokenizers.made(request.param)
    (folder / "out").mkdir()
    given.take(folder / "out", put(folder, data), given_tokenizers.parameters(told))
    return encoding.load(folder / "out")


@pytest.mark.parametrize("asked", ["你好", "<s>你好", "<s><s>", ""])
def test_a_row_begins_once_though_template_and_tokenizer_both_would(adds_a_begin: Vocabulary, tmp_path: Path, asked: str) -> None:
    content = {
        "begin": "<s>",
        "roles": {
            "user": {"open": None, "header": "用户:", "close": None, "after": "\n", "trained": False, "follows": ["start"]},
            "assistant": {"open": None, "header": "助手:", "close": "</s>", "after": "", "trained": True, "follows": ["user"]},
        },
        "instruction_input": "\n",
    }
    (tmp_path / "template.yaml").write_text(yaml.safe_dump(content, allow_unicode=True), "utf-8")
    template = chat.load_template(tmp_path / "template.yaml")
    prompt = chat.prompt_ids(template, adds_a_begin, asked)
    row = ids_of(render(template, adds_a_begin, [Message("user", asked), Message("assistant", "<s>好")]))
    assert row[0] == adds_a_begin.bos and row.count(adds_a_begin.bos) == 1
    assert row[: len(prompt)] == prompt
    assert adds_a_begin.decode(row).replace(" ", "") == f"用户:{asked}\n助手:<s>好"


def formatted(experiment: Experiment, rows: list[dict[str, Any]], **changes: Any) -> dict[str, Any]:
    experiment.rows("data/odd.jsonl", rows)
    experiment.rows("data/more.jsonl", [{"instruction": f"fox {i}?", "output": f"{i} dogs"} for i in range(20)])
    sources = {name: {"path": f"data/{name}.jsonl", "format": "alpaca"} for name in ("odd", "more")}
    usual = {"truncation": "middle", "train_on": "assistant", "validation": 0.1, "by": "row", "seq_length": 64, "seed": 42}
    return experiment.run(format_contract.CONTRACT, sources=sources, **{**usual, **changes})


@pytest.fixture
def ready(new_experiment: NewExperiment, documents: list[Record]) -> Experiment:
    experiment = new_experiment()
    experiment.corpus(documents[20:], documents[:20])
    experiment.run(tokenizer.CONTRACT, **TOKENIZER)
    return experiment


def test_a_prompt_of_a_hundred_tokens_leaves_an_answer_of_three_whole_or_the_row_is_counted(ready: Experiment) -> None:
    vocabulary = encoding.load(ready.folder / "tokenizer")
    asked, answer = "fox " * 98 + "fox", " lazy dogs;"
    assert (len(vocabulary.encode(asked)), len(vocabulary.encode(answer))) == (100, 3)
    rows = [{"instruction": asked, "output": answer}, {"instruction": "one", "output": "two"}]
    cut = formatted(ready, rows)["sources"]["odd"]
    assert (cut["truncated"], cut["dropped"], cut["train"] + cut["validation"]) == (1, {}, 2)
    sample = (ready.folder / "instruct/sample.txt").read_text("utf-8")
    assert f"⟦{answer}<|im_end|>⟧" in sample
    none = formatted(ready, rows, truncation="none")["sources"]["odd"]
    assert (none["truncated"], none["dropped"], none["train"] + none["validation"]) == (0, {"too_long": 1}, 1)
    long = formatted(ready, [{"instruction": "one", "output": answer * 100}, rows[1]])["sources"]["odd"]
    assert (long["dropped"], long["train"] + long["validation"]) == ({"answer_too_long": 1}, 1)


def test_one_rare_character_in_ten_thousand_comes_back(new_experiment: NewExperiment, documents: list[Record]) -> None:
    experiment = new_experiment()
    rare = Record("rare", "fox 龘 dogs", "chinese")
    assert 10_000 < sum(len(record.text) for record in documents) < 40_000
    experiment.corpus([*documents, rare], [rare, *documents[:20]])
    lossless = experiment.run(tokenizer.CONTRACT, **{**TOKENIZER, "character_coverage": 0.9995})
    assert lossless["validation"]["changed_documents"] == 0
    assert encoding.load(experiment.folder / "tokenizer").decode(encoding.load(experiment.folder / "tokenizer").encode("龘")) == "龘"
    lossy = experiment.run(tokenizer.CONTRACT, **{**TOKENIZER, "character_coverage": 0.9995, "byte_fallback": False, "vocab_size": 250})
    assert "龘" in lossy["characters"]["most_frequent_without_piece"]


def packed(experiment: Experiment, **changes: Any) -> dict[str, bytes]:
    experiment.run(pack.PRETRAIN, **{**ROWS, **changes})
    return experiment.tree("packed/pretrain")


def test_packing_again_is_the_same_and_another_length_replaces_all_of_it(ready: Experiment) -> None:
    first = packed(ready)
    assert packed(ready) == first
    shorter = packed(ready, seq_length=32)
    assert sorted(shorter) == sorted(first) and shorter["train.mindrecord"] != first["train.mindrecord"]
    assert {len(row["input_ids"]) for row in mindrecord.read(ready.folder / "packed/pretrain", "train.mindrecord")} == {33}
    assert packed(ready) == first


@pytest.mark.parametrize("shards", [(4, 2), (12, 1), (1, 12)])
def test_another_number_of_shards_leaves_its_own_files_and_all_rows(ready: Experiment, shards: tuple[int, int]) -> None:
    for count in shards:
        packed(ready, shards=count, seq_length=16)
    folder = ready.folder / "packed/pretrain"
    told = manifest.verify(folder).facts["splits"]["train"]
    digits = len(str(shards[1] - 1))
    names = [f"train/train.mindrecord{shard:0{digits}d}" for shard in range(shards[1])] if shards[1] > 1 else ["train.mindrecord"]
    assert told["files"] == names
    assert sorted(path for path in ready.tree("packed/pretrain") if path.startswith("train")) == sorted(
        [*names, *(f"{name}.db" for name in names)]
    )
    assert sum(1 for name in names for _ in mindrecord.read(folder, name)) == told["rows"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("train.mindrecord", b"of somebody else", "train.mindrecord has 16 bytes, not"),
        ("train.mindrecord.db", None, "train.mindrecord.db is missing"),
        ("train.mindrecord1", b"of the last time", "train.mindrecord1 is not in the manifest"),
        ("说明 1.0.txt", b"a note", "说明 1.0.txt is not in the manifest"),
    ],
)
def test_a_file_of_somebody_else_among_the_rows_is_named(ready: Experiment, name: str, content: bytes | None, message: str) -> None:
    packed(ready)
    path = ready.folder / "packed/pretrain" / name
    path.unlink(missing_ok=True)
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputFault) as fault:
        manifest.verify(ready.folder / "packed/pretrain")
    assert message in fault.value.message and "dvc repro" in fault.value.fix


def test_a_file_where_the_rows_should_be_is_named_before_the_work(ready: Experiment) -> None:
    (ready.folder / "packed").mkdir()
    (ready.folder / "packed/pretrain").write_text("of somebody else")
    with pytest.raises(StageFault) as fault:
        packed(ready)
    assert "packed/pretrain" in f"{fault.value.where} {fault.value.message}"
    assert (ready.folder / "packed/pretrain").read_text() == "of somebody else"
