"""What training reads: packed rows of each split, instruction rows of each source, and what the data stages warned of."""

from dataclasses import dataclass
from typing import Any

from runtime.report.evidence import Evidence, Quantity

SPLITS = ("train", "validation")
PACKED = {"pretrain": "pack-pretrain", "finetune": "pack-instruct"}


@dataclass(frozen=True)
class Packed:
    """The rows of one split of one training; `trained`: tokens that count in the loss, `documents` also dialogues."""

    training: str
    split: str
    rows: Quantity
    documents: Quantity
    tokens: Quantity
    trained: Quantity


@dataclass(frozen=True)
class Instructions:
    """What became of the instruction rows of one source."""

    name: str
    read: Quantity
    duplicates: Quantity
    dropped: dict[str, Quantity]
    truncated: Quantity
    train: Quantity
    validation: Quantity


def packed(evidence: Evidence) -> tuple[Packed, ...]:
    """Every split of every training, in the order of the main job."""
    return tuple(_packed(evidence, training, stage, split) for training, stage in PACKED.items() for split in SPLITS)


def _packed(evidence: Evidence, training: str, stage: str, split: str) -> Packed:
    rows, documents, tokens, trained = (
        evidence.quantity(stage, "splits", split, key) for key in ("rows", "documents", "tokens", "trained_tokens")
    )
    if stage == "pack-instruct":
        documents = evidence.quantity("format", "splits", split, "rows")
    return Packed(training, split, rows, documents, tokens, trained)


def instructions(evidence: Evidence) -> tuple[Instructions, ...]:
    """The sources of instruction rows in the order of their configuration."""
    return tuple(_instructions(evidence, name) for name in evidence.setting("format", "sources") or {})


def _instructions(evidence: Evidence, name: str) -> Instructions:
    def get(*path: str) -> Quantity:
        return evidence.quantity("format", "sources", name, *path)

    reasons = evidence.metric("format", "sources", name, "dropped") or {}
    dropped = {reason: get("dropped", reason) for reason in reasons if get("dropped", reason).value}
    return Instructions(name, get("read"), get("duplicates"), dropped, get("truncated"), get("train"), get("validation"))


def warnings(evidence: Evidence) -> list[tuple[str, str]]:
    """(stage, sentence) of everything the data stages warned of."""
    told: list[tuple[str, Any]] = [(stage, evidence.metric(stage, "warnings") or ()) for stage in evidence.data_stages]
    return [(stage, str(sentence)) for stage, sentences in told for sentence in sentences]
