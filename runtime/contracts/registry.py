"""All stages, in the order of the main job: `EVERY` one there is, and `CONTRACTS`, which every experiment has."""

from runtime.contracts import (
    clean,
    dedup,
    evaluate,
    export,
    filter,
    finetune,
    format,
    ingest,
    merge,
    mix,
    pack,
    pretrain,
    report,
    sieve,
    split,
    synthesize,
    tokenizer,
)
from runtime.contracts.base import Contract

BEFORE_REPORT: tuple[Contract, ...] = (
    sieve.CONTRACT,
    synthesize.CONTRACT,
    ingest.CONTRACT,
    clean.CONTRACT,
    dedup.CONTRACT,
    filter.CONTRACT,
    mix.CONTRACT,
    split.CONTRACT,
    tokenizer.CONTRACT,
    pack.PRETRAIN,
    pretrain.CONTRACT,
    format.CONTRACT,
    pack.INSTRUCT,
    finetune.CONTRACT,
    merge.CONTRACT,
    export.CONTRACT,
    evaluate.CONTRACT,
)
REPORT = report.contract(BEFORE_REPORT)
EVERY: tuple[Contract, ...] = (*BEFORE_REPORT, REPORT)
CONTRACTS: tuple[Contract, ...] = tuple(contract for contract in EVERY if not contract.optional)
BY_NAME: dict[str, Contract] = {contract.name: contract for contract in EVERY}
