"""evaluate: base and merged model on held-out text, held-out instruction rows and core cases.

Both models answer in one process, through one compiled graph and in the dtype of training, so that a difference between
them is a difference of weights.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runtime.contracts.evaluate import Core as CoreSettings
from runtime.contracts.evaluate import Evaluate
from runtime.contracts.pack import SEVERAL
from runtime.data import chat, encoding
from runtime.data.encoding import Vocabulary
from runtime.evaluation import cases, questions
from runtime.faults import InputFault, StageFault
from runtime.model import context, description
from runtime.model.description import Description
from runtime.stage import JSON, Stage, finite

if TYPE_CHECKING:
    from runtime.evaluation.scorer import Scorer
    from runtime.evaluation.suites import Core, HeldOut, Model, Text

EVALUATOR = 1  # raise it with every change that gives the same weights other numbers: scoring, decoding, normalisation
MODELS = ("base", "merged")
CORPUS, TEXT, DIALOGUES = "corpus/split", "packed/pretrain", "packed/instruct"
TARGETS = {"cpu": "CPU", "gpu": "GPU", "ascend": "Ascend"}


def run(stage: Stage[Evaluate]) -> None:
    """Score both models; write `evaluation/` and the metrics."""
    base, merged = (description.read(stage.input(name)) for name in MODELS)
    check_networks([("base", base), ("merged", merged)], stage.parameters.dtype)
    check_lineage(base, merged)
    context.prepare(stage.scratch / "mindspore", stage.placement.threads)
    asked = prepare(stage)
    scorer = _scorer(stage)
    scores, results = {}, {}
    for name in MODELS:
        scorer.load(Path(name))
        scores[name], results[name] = score(stage, asked, scorer, name)
    write(stage.out, asked, results)
    stage.counts = asked.counts
    stage.metrics(
        {
            **identity(stage, asked),
            **asked.counts,
            **scores,
            "difference": difference(scores["base"], scores["merged"]),
            **margin(stage, asked, scores),
        }
    )


def check_networks(models: Sequence[tuple[str, Description]], dtype: str) -> None:
    """Raise StageFault unless all models are one network of other weights, trained in the dtype that they are scored in."""
    first = models[0][1]
    for name, described in models:
        if (described.architecture, described.config) != (first.architecture, first.config):
            raise StageFault(
                f"{name} describes another network than {models[0][0]}",
                where=f"{name}/{description.NAME}",
                fix="delete the folder and run `dvc repro`",
            )
    trained = first.config.get("compute_dtype")
    if trained != dtype:
        raise StageFault(
            f"dtype is {dtype}, the models were trained in {trained}",
            where="config/evaluate.yaml",
            reason="scores of another precision are scores of another model",
            fix="run `mindspec compile`, which takes the dtype of the model",
        )


def check_lineage(base: Description, merged: Description) -> None:
    """Raise InputFault unless `merged` is `base` with an adapter."""
    if base.merged or not merged.merged or merged.base_sha256 != base.weights_sha256:
        raise InputFault(
            "merged is not this base with its adapter",
            where=f"merged/{description.NAME}",
            reason="scores would be told of another model than the one that was fine-tuned",
            fix="delete the folder merged and run `dvc repro`",
        )


def _scorer(stage: Stage[Evaluate]) -> "Scorer":
    context.check_device(TARGETS[stage.parameters.device])
    from runtime.evaluation.scorer import Scorer
    from runtime.model.network import open_device

    open_device(TARGETS[stage.parameters.device])
    return Scorer(Path("base"), stage.parameters.dtype)


@dataclass(frozen=True)
class Asked:
    """What every model is asked; None for what the parameters leave out. `prompts`: the content of `prompts.json`."""

    text: "Text | None"
    held_out: "HeldOut | None"
    core: "Core | None"
    prompts: JSON | None

    @property
    def counts(self) -> dict[str, int]:
        """How much is scored, for each model."""
        counts: dict[str, int] = {}
        if self.text:
            counts |= {"scored_tokens": self.text.rows.tokens, "scored_bytes": self.text.size}
        if self.held_out:
            counts |= {"answer_tokens": self.held_out.rows.tokens, "answer_rows": len(self.held_out.rows.ids)}
        if self.core:
            counts |= {"core_cases": len(self.core.questions), "core_overlap": 0}
        return counts


def prepare(stage: Stage[Evaluate]) -> Asked:
    """Read rows and cases. Raises StageFault for a case that is wrong or that was trained on."""
    parameters, vocabulary = stage.parameters, encoding.load(stage.input("tokenizer"))
    wanted = {*parameters.metrics}
    core = _core(stage, parameters.core, vocabulary) if parameters.core and wanted & {"exact_match", "answer_loss"} else None
    prompts = questions.document(core.questions, core.limit, vocabulary, sorted(core.ends)) if core else None
    text = _text(stage, parameters.perplexity.split) if parameters.perplexity and wanted & {"perplexity", "bits_per_byte"} else None
    return Asked(text, _held_out(stage) if "answer_loss" in wanted else None, core, prompts)


def _text(stage: Stage[Evaluate], split: str) -> "Text":
    from runtime.evaluation import held_out, suites

    packed = stage.manifest(TEXT)
    rows, facts = held_out.text_rows(stage.input(TEXT), packed, split), packed.facts["splits"][split]
    if rows.tokens != facts["trained_tokens"]:
        raise InputFault(
            f"{rows.tokens} tokens of {split} can be scored, its bytes belong to {facts['trained_tokens']}",
            where=TEXT,
            fix="delete the folder and run `dvc repro`",
        )
    return suites.Text(rows, facts["bytes"])


def _held_out(stage: Stage[Evaluate]) -> "HeldOut":
    from runtime.evaluation import held_out, suites

    return suites.HeldOut(held_out.dialogue_rows(stage.input(DIALOGUES), stage.manifest(DIALOGUES), "validation"))


def _core(stage: Stage[Evaluate], settings: CoreSettings, vocabulary: Vocabulary) -> "Core":
    template, packed = chat.load_template(stage.file("config/template.yaml")), stage.manifest(DIALOGUES)
    chat.check_pieces(template, vocabulary)
    length, pad = packed.facts["seq_length"], vocabulary.pad
    asked = questions.ask(cases.read(stage.root / settings.cases, settings.cases), template, vocabulary, length, settings.cases)
    if unscored := sum(not question.case.reference for question in asked):
        stage.terminal.say(f"evaluate: {unscored} of {len(asked)} core cases have no reference: they are answered and not scored")
    from runtime.evaluation import held_out, suites

    trained = ((row["input_ids"].tolist(), row["labels"].tolist()) for row in held_out.read(stage.input(DIALOGUES), packed, "train"))
    several = packed.facts.get("dialogues") == SEVERAL
    questions.refuse_overlap(questions.overlap(asked, trained, vocabulary, several=several), settings.cases)
    rows = held_out.padded_rows([(question.ids, question.labels) for question in asked], length + 1, pad)
    window = suites.window_for([question.prompt for question in asked], settings.max_new_tokens, length, pad)
    ends = frozenset({*chat.stop_ids(template, vocabulary), pad})
    return suites.Core(asked, rows, ends, settings.max_new_tokens, window, vocabulary.decode)


def score(stage: Stage[Evaluate], asked: Asked, model: "Model", name: str) -> tuple[JSON, list[JSON]]:
    """(the scores of one model, what it did with each core case)."""
    from runtime.evaluation import suites

    metrics, scores, results = stage.parameters.metrics, {}, []
    with stage.bar(suites.units(asked.text, asked.held_out, asked.core, metrics), "rows", f"evaluate {name}") as bar:
        if asked.text:
            scores |= asked.text.score(model, bar.advance, metrics)
        if asked.held_out:
            scores |= asked.held_out.score(model, bar.advance)
        if asked.core:
            results = asked.core.results(model, bar.advance, metrics)
            core = suites.core_scores(asked.core.questions, results)
            scores |= {key: core.pop(key) for key in ("exact_match", "exact_match_reason") if key in core} | {"core": core}
    return scores, results


def identity(stage: Stage[Evaluate], asked: Asked) -> JSON:
    """What the numbers depend on besides the weights; numbers of another identity are not compared."""
    found: JSON = {"evaluator": EVALUATOR, "dtype": stage.parameters.dtype, "device": stage.parameters.device}
    found["tokenizer_sha256"] = stage.manifest("tokenizer").facts["identity"]
    if asked.text and stage.parameters.perplexity:
        split = stage.parameters.perplexity.split
        files = [(entry.path, entry.sha256) for entry in stage.manifest(CORPUS).files if entry.path.startswith(f"{split}/")]
        found["text_sha256"] = _sha256([split, files])
    if asked.held_out:
        found["held_out_sha256"] = asked.held_out.rows.sha256
    if asked.prompts:
        found["prompt_sha256"] = _sha256(asked.prompts)
    return found


def _sha256(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, ensure_ascii=False, sort_keys=True).encode()).hexdigest()


def difference(base: Mapping[str, Any], merged: Mapping[str, Any]) -> JSON:
    """Every score of the merged model minus the one of the base model; counts are left out."""
    found: JSON = {}
    for key, value in merged.items():
        if isinstance(value, Mapping):
            found[key] = difference(base[key], value)
        elif isinstance(value, float):
            found[key] = round(value - base[key], 6)
    return found


def margin(stage: Stage[Evaluate], asked: Asked, scores: Mapping[str, Mapping[str, Any]]) -> JSON:
    """How many bits per byte each model is better than tokens drawn by their frequency, a baseline that learns no order."""
    validation = stage.parameters.perplexity and stage.parameters.perplexity.split == "validation"
    if not asked.text or not validation or "bits_per_byte" not in stage.parameters.metrics:
        return {}
    unigram = read_unigram(stage.file("metrics/pack-pretrain.json"))
    margins = {name: round(unigram["bits_per_byte"] - scores[name]["bits_per_byte"], 6) for name in MODELS}
    if not margins["base"] > 0:
        frequencies = f"token frequencies ({unigram['bits_per_byte']} bits per byte)"
        stage.terminal.say(f"evaluate: the base model is no better than {frequencies}: it has learned no order yet")
    return {"unigram": {"perplexity": unigram["perplexity"], "bits_per_byte": unigram["bits_per_byte"], "margin": margins}}


def read_unigram(path: Path) -> JSON:
    """The scores of the unigram baseline. Raises InputFault where the metrics do not hold them."""
    try:
        found = json.loads(path.read_bytes())["unigram"]
        return {name: float(found[name]) for name in ("perplexity", "bits_per_byte")}
    except (OSError, ValueError, KeyError, TypeError):
        raise InputFault("holds no scores of the unigram baseline", where=str(path), fix="delete the file and run `dvc repro`") from None


def write(folder: Path, asked: Asked, results: Mapping[str, Sequence[JSON]]) -> None:
    """`prompts.json`: what was asked; `predictions.jsonl`: what each model answered, one case a line."""
    if not asked.core or asked.prompts is None:
        return
    (folder / "prompts.json").write_text(_json(asked.prompts, 1) + "\n", "utf-8", newline="\n")
    with (folder / "predictions.jsonl").open("w", encoding="utf-8", newline="\n") as file:
        for index, question in enumerate(asked.core.questions):
            case = question.case
            row = {"id": case.id, "group": case.group, "language": case.language, "prompt": question.text, "reference": case.reference}
            file.write(_json(finite({**row, **{name: results[name][index] for name in MODELS}})) + "\n")


def _json(content: Any, indent: int | None = None) -> str:
    return json.dumps(content, ensure_ascii=False, allow_nan=False, indent=indent)
