"""Plan -> the parameter record of each stage that has one. What is not in a record cannot reach a stage."""

from collections.abc import Callable
from typing import Any

from compiler.lower.parameters.cleaning import clean_parameters, sieve_parameters
from compiler.lower.parameters.deduplication import dedup_parameters
from compiler.lower.parameters.delivery import evaluate_parameters, export_parameters, merge_parameters, report_parameters
from compiler.lower.parameters.instruct import format_parameters
from compiler.lower.parameters.mixing import filter_parameters, mix_parameters, split_parameters
from compiler.lower.parameters.rows import pack_dialogues_parameters, pack_parameters, tokenizer_parameters
from compiler.lower.parameters.sources import ingest_parameters
from compiler.lower.parameters.synthetic import synthesize_parameters
from compiler.spec import Spec

BUILDERS: dict[str, Callable[[Spec], Any]] = {
    "sieve": sieve_parameters,
    "synthesize": synthesize_parameters,
    "ingest": ingest_parameters,
    "clean": clean_parameters,
    "dedup": dedup_parameters,
    "filter": filter_parameters,
    "mix": mix_parameters,
    "split": split_parameters,
    "tokenizer": tokenizer_parameters,
    "pack-pretrain": pack_parameters,
    "format": format_parameters,
    "pack-instruct": pack_dialogues_parameters,
    "merge": merge_parameters,
    "export": export_parameters,
    "evaluate": evaluate_parameters,
    "report": report_parameters,
}
