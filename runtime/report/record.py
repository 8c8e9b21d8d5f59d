"""`record.json`: which data, which model, how good; strict JSON, the same bytes for the same experiment.

Titles and descriptions stay out of it: what a reader is told must not change what was done.
"""

from typing import Any

from runtime import processor
from runtime.contracts.registry import BEFORE_REPORT
from runtime.report.evidence import Evidence, value_at
from runtime.report.funnel import mix
from runtime.report.training import training
from runtime.stage import JSON

VERSION = 1
CORPUS = {"ingest": "pretrain", "format": "instruct"}  # stage that reads raw text -> part of the spec's data
DATASETS = tuple(one.name for one in BEFORE_REPORT if one.program.startswith("runtime.data.") and one.name != "tokenizer")
SIZES = (
    "hidden_size", "intermediate_size", "num_layers", "num_heads", "n_kv_heads", "seq_length", "vocab_size",
)  # fmt: skip
DTYPES = ("compute_dtype", "param_init_type", "softmax_compute_type", "layernorm_compute_type", "rotary_dtype")


def record(evidence: Evidence) -> JSON:
    """The whole record of an experiment."""
    return {
        "record_version": VERSION,
        "experiment": evidence.experiment,
        "data_version": data_version(evidence),
        "model_version": model_version(evidence),
        "evaluation": evaluation(evidence),
        "environment": dict(sorted(evidence.environment.items())),
        "numerics": numerics(evidence),
    }


def data_version(evidence: Evidence) -> JSON:
    """Sources, mix, split, tokenizer, and the identity of every data set."""
    return {
        "sources": {name: _source(evidence, "ingest", name) for name in evidence.setting("ingest", "sources") or {}},
        "instruct_sources": {name: _source(evidence, "format", name) for name in evidence.setting("format", "sources") or {}},
        **_made_rows(evidence),
        "mix": _mix(evidence),
        "split": evidence.configs.get("split"),
        "tokenizer": _tokenizer(evidence),
        "datasets": {name: evidence.results[name].identity for name in DATASETS if name in evidence.results},
    }


def _source(evidence: Evidence, stage: str, name: str) -> JSON:
    told = value_at(evidence.presentation, "sources", CORPUS[stage], name) or {}
    counted = evidence.metric(stage, "sources", name) or {}
    raw = evidence.fact(stage, "raw", name) or {}
    return {
        **evidence.setting(stage, "sources", name),
        "licence": told.get("licence") or None,
        "date": told.get("date") or None,
        "files": raw.get("files"),
        "documents": _first(counted.get("documents_in"), counted.get("read")),
        "bytes": counted.get("bytes_in"),
        "sha256": raw.get("sha256"),
    }


def _made_rows(evidence: Evidence) -> JSON:
    """How much of the instruction rows of training a model wrote; nothing where no source says so."""
    if evidence.metric("format", "synthetic") is None:
        return {}
    shares = {f"share_of_{unit}": evidence.quantity("format", "synthetic", "share", unit).value for unit in ("rows", "tokens")}
    asked = {name: evidence.quantity("format", "synthetic", name).value for name in ("max", "left_out")}
    return {"instruct_synthetic": {**shares, **asked}}


def _mix(evidence: Evidence) -> JSON:
    config, shares = evidence.configs.get("mix", {}), mix(evidence)
    return {
        **{key: config.get(key) for key in ("budget_bytes", "epochs_max", "synthetic_max", "seed")},
        **{key: config[key] for key in ("budget_tokens", "exhausted", "temperature") if key in config},
        "target": {share.name: share.target.value for share in shares},
        "realised": {share.name: share.realised.value for share in shares},
        "repeats": {share.name: share.repeats.value for share in shares},
        "synthetic_share": evidence.quantity("mix", "synthetic_share").value,
    }


def _tokenizer(evidence: Evidence) -> JSON:
    result = evidence.results.get("tokenizer")
    return {
        **evidence.configs.get("tokenizer", {}),
        "files": result.hashes() if result else {},
        "identity": result.identity if result else None,
    }


def model_version(evidence: Evidence) -> JSON:
    """Architecture, both trainings, and the hashes of what they left."""
    model = evidence.setting("pretrain", "model", "model_config") or {}
    return {
        "family": model.get("type"),
        "sizes": {key: model[key] for key in SIZES if key in model},
        "parameters": evidence.quantity("pretrain", "parameters").value,
        "pretrain": _training(evidence, "pretrain"),
        "finetune": _training(evidence, "finetune"),
        "checkpoints": {name: _weights(evidence, name) for name in ("pretrain", "finetune", "merge") if name in evidence.results},
        "mindir": evidence.results["export"].hashes(".mindir") if "export" in evidence.results else None,
    }


def _training(evidence: Evidence, stage: str) -> JSON | None:
    if stage not in evidence.configs:
        return None
    told = training(evidence, stage)
    return {
        "seed": told.seed,
        "steps": evidence.quantity(stage, "steps").value,
        "tokens": tokens_seen(evidence, stage),
        "batch": {
            "micro_batch": told.micro_batch,
            "accumulation": told.accumulation,
            "data_parallel": told.data_parallel,
            "effective": told.effective_batch,
            "tokens_per_step": told.tokens_per_step,
        },
        "schedule": {"type": told.schedule, "steps": told.steps, "peak": told.peak, "final": told.final, "warmup_steps": told.warmup_steps},
        "optimizer": {
            "type": told.optimizer,
            "betas": list(told.betas),
            "eps": told.eps,
            "weight_decay": told.weight_decay,
            "clip_norm": told.clip_norm,
        },
        "lora": told.lora,
        "loss_first": evidence.quantity(stage, "loss_first").value,
        "loss_last": evidence.quantity(stage, "loss_last").value,
    }


def tokens_seen(evidence: Evidence, stage: str) -> float | int | None:
    """Positions that counted in the loss of a training, over all its steps."""
    return evidence.quantity(stage, "trained_tokens").value


def _weights(evidence: Evidence, stage: str) -> JSON:
    result = evidence.results[stage]
    return {
        "folder": result.folder,
        "identity": result.identity,
        "files": result.hashes(".safetensors"),
        "weights_sha256": evidence.fact(stage, "weights_sha256"),
    }


def evaluation(evidence: Evidence) -> JSON:
    """All that the evaluation measured. The baseline is named where experiments are compared, not here."""
    metrics = evidence.metrics.get("evaluate", {})
    return {"baseline": None, **{key: metrics.get(key) for key in ("evaluator", "prompt_sha256", "dtype")}, "metrics": metrics}


def numerics(evidence: Evidence) -> JSON:
    """On what, and in which types, the numbers were computed; byte identity holds within it."""
    model = evidence.setting("pretrain", "model", "model_config") or {}
    trained_on = evidence.fact("pretrain", "processor")
    return {
        "device": evidence.setting("pretrain", "context", "device_target"),
        "dtypes": {key: model[key] for key in DTYPES if key in model},
        "threads": evidence.fact("pretrain", "threads"),
        "processor": trained_on or processor.family(),
        "processor_of": "pretrain" if trained_on else "report",
    }


def _first(*candidates: Any) -> Any:
    return next((candidate for candidate in candidates if candidate is not None), None)
