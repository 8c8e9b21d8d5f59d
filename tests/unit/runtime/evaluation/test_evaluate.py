"""The stage `evaluate` on a tiny real model, against a Llama in NumPy that answers one prompt at a time."""

import json
import math
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml

from runtime import manifest
from runtime.contracts import installed
from runtime.contracts.evaluate import CONTRACT
from runtime.contracts.tokenizer import SpecialTokens, Tokenizer
from runtime.data import chat, tokenizer
from runtime.evaluation import evaluate, held_out, questions, suites
from runtime.evaluation.cases import Case
from runtime.evaluation.scoring import exact_match
from runtime.faults import InputFault, StageFault
from runtime.model import description, weights
from runtime.model.description import Description
from tests.unit.runtime.model.numpy_reference import logits

ROOT = Path(__file__).parents[4]
TEXT = [
    "the model reads a line of text and says what comes next",
    "一行文字，模型说出下一个字。",
    "a poem is short; a manual is long",
    "诗短，手册长。",
]
LENGTH, LIMIT, MARKERS = 64, 12, ("<|im_start|>", "<|im_end|>")
CASES = [
    {"id": "one", "group": "short", "instruction": "Say a.", "reference": "a"},
    {"id": "two", "group": "long", "instruction": "说", "input": "一行文字", "reference": "一行文字。", "language": "zh"},
    {
        "id": "three",
        "group": "short",
        "instruction": "the model reads a line",
        "input": "of text",
        "reference": "of text and more",
        "language": "en",
    },
    *({"id": f"more-{n}", "group": "long", "instruction": "a" * n, "reference": "long"} for n in range(1, 16)),
]
METRICS = ["perplexity", "bits_per_byte", "exact_match", "answer_loss"]


def config(vocabulary):
    numbers = {"num_layers": 2, "num_heads": 4, "n_kv_heads": 4, "hidden_size": 32, "intermediate_size": 48, "vocab_size": vocabulary.size}
    dtypes = dict.fromkeys(
        ("compute_dtype", "param_init_type", "layernorm_compute_type", "softmax_compute_type", "rotary_dtype"), "float32"
    )
    switches = {"use_flash_attention": False, "use_rope_slice": True, "fused_rms_norm": False}
    return {**numbers, **dtypes, **switches, "seq_length": LENGTH, "pad_token_id": vocabulary.pad, "rms_norm_eps": 1e-5, "theta": 10000.0}


def random_weights(settings, seed):
    random, hidden, inner = np.random.default_rng(seed), settings["hidden_size"], settings["intermediate_size"]
    shapes = {"model.tok_embeddings.embedding_weight": (settings["vocab_size"], hidden), "lm_head.weight": (settings["vocab_size"], hidden)}
    kv = hidden // settings["num_heads"] * settings["n_kv_heads"]
    for layer in range(settings["num_layers"]):
        place = f"model.layers.{layer}."
        shapes |= {
            f"{place}attention.{name}.weight": (rows, hidden) for name, rows in (("wq", hidden), ("wk", kv), ("wv", kv), ("wo", hidden))
        }
        shapes |= {f"{place}feed_forward.w{n}.weight": (hidden, inner) if n == 2 else (inner, hidden) for n in (1, 2, 3)}
        shapes |= {f"{place}{name}.weight": (hidden,) for name in ("attention_norm", "ffn_norm")}
    shapes["model.norm_out.weight"] = (hidden,)
    return {name: (random.normal(0, 0.3, shape) + (len(shape) == 1)).astype(np.float32) for name, shape in shapes.items()}


def finish(folder, stage, facts=None, counts=None):
    (folder / manifest.NAME).write_bytes(manifest.encode(manifest.describe(folder, stage, counts or {}, facts or {})))


def pack(folder, vocabulary, splits, columns):
    from runtime.data import mindrecord

    folder.mkdir(parents=True)
    facts = {}
    for split, rows in splits.items():
        blocks = [{column: values[np.newaxis] for column, values in row["columns"].items()} for row in rows]
        written = mindrecord.write(folder, split, blocks, columns=columns)
        counted = {"rows": len(rows), "trained_tokens": sum(row["trained"] for row in rows), "bytes": sum(row["bytes"] for row in rows)}
        facts[split] = {"files": list(written.files), **counted}
    lengths = {"seq_length": LENGTH, "row_length": LENGTH + 1}
    finish(folder, "pack", {**lengths, "columns": list(columns), "pad_id": vocabulary.pad, "splits": facts})


def text_rows(vocabulary, count, seed):
    random = np.random.default_rng(seed)
    rows = []
    for _ in range(count):
        ids = vocabulary.encode(" ".join(random.permutation(TEXT * 3)))[: LENGTH + 1]
        rows.append({"columns": {"input_ids": np.array(ids)}, "trained": LENGTH, "bytes": len(vocabulary.decode(ids[1:]).encode())})
    return rows


def dialogue_rows(vocabulary, template, prompts):
    rows = []
    for prompt in prompts:
        segments = chat.render(template, vocabulary, [chat.Message("user", prompt), chat.Message("assistant", "answer 答")])
        ids, labels = chat.ids_of(segments), chat.labels_of(segments)
        gap = LENGTH + 1 - len(ids)
        columns = {"input_ids": np.array(ids + [vocabulary.pad] * gap), "labels": np.array(labels + [chat.IGNORED] * gap)}
        rows.append({"columns": columns, "trained": sum(label != chat.IGNORED for label in labels), "bytes": 0})
    return rows


def tiny_tokenizer(folder):
    folder.mkdir()
    special = SpecialTokens(pad="<pad>", bos="<s>", eos="</s>", user=MARKERS)
    settings = {"kind": "sentencepiece", "model_type": "bpe", "vocab_size": 330, "character_coverage": 1.0, "byte_fallback": True}
    parameters = Tokenizer(**settings, special_tokens=special)
    vocabulary = tokenizer.write(folder, tokenizer.train(TEXT * 4, parameters), parameters)
    finish(folder, "tokenizer", {"identity": vocabulary.identity})
    return vocabulary


@pytest.fixture(scope="module")
def experiment(tmp_path_factory):
    """An experiment folder as the stages before `evaluate` leave it; (folder, vocabulary, template)."""
    folder = tmp_path_factory.mktemp("project") / "experiments" / "tiny"
    (folder / "config").mkdir(parents=True)
    shutil.copy(ROOT / "specs" / "template" / "chatml.yaml", folder / "config" / "template.yaml")
    vocabulary = tiny_tokenizer(folder / "tokenizer")
    template = chat.load_template(folder / "config" / "template.yaml")
    for split in ("train", "validation"):
        (folder / "corpus" / "split" / split).mkdir(parents=True)
        (folder / "corpus" / "split" / split / "part").write_text(split, "utf-8")
    finish(folder / "corpus" / "split", "split")
    pack(
        folder / "packed" / "pretrain",
        vocabulary,
        {"train": text_rows(vocabulary, 2, 0), "validation": text_rows(vocabulary, 21, 1)},
        ("input_ids",),
    )
    trained = {
        "train": dialogue_rows(vocabulary, template, ["x", "yy"]),
        "validation": dialogue_rows(vocabulary, template, ["zzz", "诗", "w"]),
    }
    pack(folder / "packed" / "instruct", vocabulary, trained, ("input_ids", "labels"))
    write_models(folder, config(vocabulary))
    (folder / "metrics").mkdir()
    (folder / "metrics" / "pack-pretrain.json").write_text('{"unigram": {"perplexity": 300.0, "bits_per_byte": 9.5}}\n', "utf-8")
    environment = {library: installed.installed_version(library) for library in CONTRACT.environment}
    (folder / "config" / "environment.yaml").write_text(yaml.safe_dump(environment), "utf-8")
    write_cases(folder, CASES)
    write_parameters(folder)
    return folder, vocabulary, template


def write_models(folder, settings):
    made_of: tuple[str, ...] = ()
    for seed, name in enumerate(("base", "merged")):
        values = random_weights(settings, seed)
        (folder / name).mkdir()
        weights.save(folder / name / "model.safetensors", values)
        Description("LlamaForCausalLM", settings, weights.digest(values), *made_of).write(folder / name)
        made_of = (weights.digest(values), "adapter")
        finish(folder / name, name)


def write_cases(folder, cases):
    (folder.parent.parent / "core.jsonl").write_text("".join(json.dumps(case, ensure_ascii=False) + "\n" for case in cases), "utf-8")


def write_parameters(folder, **changed):
    core = {"cases": "core.jsonl", "max_new_tokens": LIMIT}
    values = {
        "perplexity": {"split": "validation"},
        "core": core,
        "metrics": METRICS,
        "dtype": "float32",
        "device": "cpu",
        "seed": 1,
        **changed,
    }
    (folder / "config" / "evaluate.yaml").write_text(yaml.safe_dump(values), "utf-8")


def run(folder):
    return subprocess.run(
        [sys.executable, "-m", "runtime", "evaluate"],
        check=False,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.fixture(scope="module")
def evaluated(experiment):
    """What the stage wrote: (metrics, predictions, prompts)."""
    folder, _, _ = experiment
    write_parameters(folder)
    done = run(folder)
    assert done.returncode == 0, done.stderr
    predictions = (folder / "evaluation" / "predictions.jsonl").read_text("utf-8").splitlines()
    metrics = json.loads((folder / "metrics" / "evaluate.json").read_text("utf-8"))
    return metrics, [json.loads(line) for line in predictions], json.loads((folder / "evaluation" / "prompts.json").read_text("utf-8"))


def nats(values, settings, ids, labels):
    """Loss of one row with a label at each id's own position, and the number of labels."""
    out = logits(values, settings, ids[None, :-1])[0]
    out = out - np.log(np.exp(out - out.max(-1, keepdims=True)).sum(-1, keepdims=True)) - out.max(-1, keepdims=True)
    counted = [-out[t, labels[t + 1]] for t in range(len(ids) - 1) if labels[t + 1] != chat.IGNORED]
    return math.fsum(counted), len(counted)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["base", "merged"])
def test_perplexity_and_bits_per_byte_equal_the_reference(experiment, evaluated, name):
    folder, vocabulary, _ = experiment
    values, settings = weights.load(folder / name / "model.safetensors"), description.read(folder / name).config
    rows = text_rows(vocabulary, 21, 1)
    losses = [nats(values, settings, row["columns"]["input_ids"], row["columns"]["input_ids"]) for row in rows]
    total, tokens, size = math.fsum(loss for loss, _ in losses), sum(count for _, count in losses), sum(row["bytes"] for row in rows)
    metrics, _, _ = evaluated
    assert (metrics["scored_tokens"], metrics["scored_bytes"]) == (tokens, size)
    assert metrics[name]["perplexity"] == pytest.approx(math.exp(total / tokens), rel=1e-5)
    assert metrics[name]["bits_per_byte"] == pytest.approx(total / math.log(2) / size, rel=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["base", "merged"])
def test_answer_loss_counts_the_trained_labels_of_held_out_rows(experiment, evaluated, name):
    folder, vocabulary, template = experiment
    values, settings = weights.load(folder / name / "model.safetensors"), description.read(folder / name).config
    rows = [row["columns"] for row in dialogue_rows(vocabulary, template, ["zzz", "诗", "w"])]
    losses = [nats(values, settings, row["input_ids"], row["labels"]) for row in rows]
    metrics, _, _ = evaluated
    assert metrics["answer_tokens"] == sum(count for _, count in losses)
    assert metrics[name]["answer_loss"] == pytest.approx(math.fsum(loss for loss, _ in losses) / metrics["answer_tokens"], rel=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["base", "merged"])
def test_answers_of_a_batch_equal_one_prompt_at_a_time(experiment, evaluated, name):
    folder, vocabulary, template = experiment
    values, settings = weights.load(folder / name / "model.safetensors"), description.read(folder / name).config
    ends = {*chat.stop_ids(template, vocabulary), vocabulary.pad}
    for case, row in zip(CASES, evaluated[1], strict=True):
        ids = chat.prompt_ids(template, vocabulary, case["instruction"], case.get("input", ""))
        start, ended = len(ids), False
        while not ended and len(ids) < min(start + LIMIT, LENGTH):
            token = int(logits(values, settings, np.array([ids]))[0, -1].argmax())
            ended = token in ends
            ids += [] if ended else [token]
        text = vocabulary.decode(ids[start:])
        assert (row[name]["answer"], row[name]["ended"]) == (text, ended), case["id"]
        assert row[name]["exact_match"] == exact_match(text, case["reference"])


@pytest.mark.slow
def test_core_losses_and_groups_add_up(experiment, evaluated):
    folder, vocabulary, template = experiment
    values, settings = weights.load(folder / "merged" / "model.safetensors"), description.read(folder / "merged").config
    metrics, predictions, _ = evaluated
    for case, row in zip(CASES, predictions, strict=True):
        messages = [
            *chat.prompt_messages(template, case["instruction"], case.get("input", "")),
            chat.Message("assistant", case["reference"]),
        ]
        segments = chat.render(template, vocabulary, messages)
        loss, tokens = nats(values, settings, np.array(chat.ids_of(segments)), chat.labels_of(segments))
        assert (row["merged"]["answer_nats"], row["merged"]["answer_tokens"]) == (pytest.approx(loss, rel=1e-4), tokens)
    for group, scores in metrics["merged"]["core"]["groups"].items():
        rows = [row["merged"] for row in predictions if row["group"] == group]
        assert scores["cases"] == len(rows)
        assert scores["exact_match"] == pytest.approx(sum(row["exact_match"] for row in rows) / len(rows), abs=1e-6)
        assert scores["answer_loss"] == pytest.approx(
            sum(row["answer_nats"] for row in rows) / sum(row["answer_tokens"] for row in rows), abs=1e-5
        )


@pytest.mark.slow
def test_metrics_name_what_they_depend_on(evaluated):
    metrics, _, prompts = evaluated
    assert metrics["evaluator"] == 1
    assert (metrics["dtype"], metrics["device"]) == ("float32", "cpu")
    assert all(len(metrics[key]) == 64 for key in ("prompt_sha256", "tokenizer_sha256", "text_sha256", "held_out_sha256"))
    assert (metrics["core_cases"], metrics["core_overlap"]) == (len(CASES), 0)
    assert metrics["difference"]["perplexity"] == pytest.approx(metrics["merged"]["perplexity"] - metrics["base"]["perplexity"], abs=2e-6)
    assert metrics["unigram"]["margin"]["base"] == pytest.approx(9.5 - metrics["base"]["bits_per_byte"], abs=2e-6)
    assert prompts["prompts"][1]["text"] == "<s><|im_start|>user\n说\n一行文字<|im_end|>\n<|im_start|>assistant\n"


@pytest.mark.slow
def test_a_second_run_writes_the_same_bytes(experiment, evaluated):
    folder, _, _ = experiment
    names = ("evaluation/predictions.jsonl", "evaluation/prompts.json")
    before = [(folder / name).read_bytes() for name in names]
    assert run(folder).returncode == 0
    assert [(folder / name).read_bytes() for name in names] == before
    assert json.loads((folder / "metrics" / "evaluate.json").read_text("utf-8")) == evaluated[0]


@pytest.fixture
def own(experiment, tmp_path):
    """The experiment folder once more, for a test that changes it."""
    (tmp_path / "experiments").mkdir()
    return shutil.copytree(experiment[0], tmp_path / "experiments" / "tiny")


def test_a_case_with_an_empty_reference_is_refused_before_anything_is_loaded(own):
    folder = own
    write_cases(folder, [*CASES, {"id": "last", "group": "g", "instruction": "x", "reference": ""}])
    done = run(folder)
    assert done.returncode == 1
    assert "core.jsonl:19: reference is" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (folder / ".scratch" / "evaluate" / "out").exists()


def test_a_case_that_was_trained_on_is_refused_whatever_its_case_and_blanks(experiment):
    _, vocabulary, template = experiment
    asked = [
        Case(id="new", group="g", instruction="y", reference="y", line=1),
        Case(id="seen", group="g", instruction=" YY ", reference="y", line=2),
    ]
    made = questions.ask(asked, template, vocabulary, LENGTH, "core.jsonl")
    trained = [(row["columns"]["input_ids"], row["columns"]["labels"]) for row in dialogue_rows(vocabulary, template, ["x", "yy"])]
    found = questions.overlap(made, trained, vocabulary)
    assert [question.case.id for question in found] == ["seen"]
    with pytest.raises(StageFault, match="1 core cases have the prompt of a training row: seen") as caught:
        questions.refuse_overlap(found, "core.jsonl")
    assert caught.value.where == "core.jsonl:2"


def test_a_case_that_would_be_cut_is_refused(experiment):
    _, vocabulary, template = experiment
    wide = Case(id="wide", group="g", instruction="y x " * 40, reference="y", line=7)
    with pytest.raises(StageFault, match="the model takes") as caught:
        questions.ask([wide], template, vocabulary, LENGTH, "core.jsonl")
    assert caught.value.where == "core.jsonl:7"


def test_a_blank_between_template_and_answer_makes_other_prompts_and_nothing_else_does(experiment):
    _, vocabulary, template = experiment
    asked = [Case(id="a", group="g", instruction="y", reference="y"), Case(id="b", group="g", instruction="诗", input="x", reference="诗")]
    assistant = replace(template.roles["assistant"], header="assistant\n ")
    spaced = replace(template, roles={**template.roles, "assistant": assistant})

    def prompts(with_template, limit=LIMIT):
        return questions.document(
            questions.ask(asked, with_template, vocabulary, LENGTH, "core.jsonl"), limit, vocabulary, [vocabulary.eos]
        )

    assert prompts(template) == prompts(replace(template))
    assert prompts(template) != prompts(spaced)
    assert prompts(template) != prompts(template, LIMIT + 1)
    assert prompts(spaced)["prompts"][0]["text"].endswith("assistant\n ")


def test_another_dtype_or_network_than_the_trained_one_is_refused():
    trained = Description("LlamaForCausalLM", {"compute_dtype": "float32", "num_layers": 2}, "")
    other = Description("LlamaForCausalLM", {"compute_dtype": "float32", "num_layers": 3}, "")
    evaluate.check_networks([("base", trained), ("merged", trained)], "float32")
    with pytest.raises(StageFault, match="dtype is float16, the models were trained in float32"):
        evaluate.check_networks([("base", trained), ("merged", trained)], "float16")
    with pytest.raises(StageFault, match="merged describes another network"):
        evaluate.check_networks([("base", trained), ("merged", other)], "float32")


@pytest.mark.parametrize(("base", "merged"), [((), ()), ((), ("other", "a")), (("b", "a"), ("base", "a"))])
def test_weights_that_are_not_this_base_with_its_adapter_are_refused(base, merged):
    with pytest.raises(InputFault, match="not this base with its adapter"):
        evaluate.check_lineage(Description("", {}, "base", *base), Description("", {}, "merged", *merged))
    evaluate.check_lineage(Description("", {}, "base"), Description("", {}, "merged", "base", "a"))


@pytest.mark.parametrize("content", [None, "", "[]", '{"unigram": {}}', '{"unigram": {"perplexity": "x", "bits_per_byte": 1}}'])
def test_metrics_without_the_unigram_baseline_are_refused(tmp_path, content):
    path = tmp_path / "pack-pretrain.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(InputFault, match="no scores of the unigram baseline"):
        evaluate.read_unigram(path)


@pytest.mark.parametrize("metrics", [["perplexity"], ["bits_per_byte"], ["perplexity", "bits_per_byte"]])
def test_only_the_metrics_asked_for_are_computed(metrics):
    from runtime.evaluation import suites

    ids = np.arange(12).reshape(2, 6) % 5
    text = suites.Text(held_out.rows_of(ids, ids, pad=9), size=10)
    assert list(text.score(Uniform(), lambda: None, metrics)) == metrics


class Uniform:
    """Every token is as likely as any other."""

    def logits(self, ids):
        return np.zeros((*ids.shape, 5), np.float32)


@pytest.mark.slow
def test_cases_without_a_reference_are_answered_and_not_scored(own):
    folder = own
    poems = [{"id": f"poem-{n}", "group": "poems", "instruction": "写诗" * n} for n in (1, 2)]
    found = {}
    for name, asked in (("none", poems), ("some", [*poems, CASES[0], CASES[2]]), ("all", [CASES[0], CASES[2]])):
        write_cases(folder, asked)
        write_parameters(folder, metrics=["exact_match", "answer_loss"])
        done = run(folder)
        assert done.returncode == 0, done.stderr
        assert ("2 of" in done.stderr and "have no reference" in done.stderr) == (name != "all")
        metrics = json.loads((folder / "metrics" / "evaluate.json").read_text("utf-8"))
        predictions = (folder / "evaluation" / "predictions.jsonl").read_text("utf-8").splitlines()
        found[name] = metrics, [json.loads(line) for line in predictions]
    (none, answers), (some, _), (scored, _) = found.values()
    assert none["merged"]["exact_match"] is None and none["merged"]["exact_match_reason"] == suites.NOT_COMPUTED
    assert none["merged"]["core"]["answer_loss"] is None and none["merged"]["core"]["without_reference"] == 2
    assert "exact_match" not in none["difference"] and isinstance(none["difference"]["answer_loss"], float)
    assert [(row["reference"], row["merged"]["exact_match"], type(row["merged"]["answer"])) for row in answers] == [("", None, str)] * 2
    assert some["merged"]["exact_match"] == scored["merged"]["exact_match"]
    assert some["merged"]["core"]["answer_loss"] == scored["merged"]["core"]["answer_loss"]
    assert some["merged"]["core"]["groups"]["short"] == scored["merged"]["core"]["groups"]["short"]
    assert "without_reference" not in scored["merged"]["core"]
