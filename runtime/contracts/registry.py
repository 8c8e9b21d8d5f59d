"""All stages of an experiment, in the order of the main job."""

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
    split,
    tokenizer,
)
from runtime.contracts.base import Contract

CONTRACTS: tuple[Contract, ...] = (
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
    report.CONTRACT,
)
BY_NAME: dict[str, Contract] = {contract.name: contract for contract in CONTRACTS}
