"""pack: token rows of one length in MindRecord files, for pre-training and for instruction data."""

from dataclasses import replace

from runtime.contracts.base import Contract, parameters

SEPARATED, WHOLE = "separated", "whole"
DROP, PAD = "drop", "pad"
ONE, SEVERAL = "one", "several"


@parameters
class Pack:
    """`seq_length`: tokens the model sees; a row holds one more id, since mindformers shifts labels once.

    `documents`: each is bos, its text, eos. separated: joined, and cut into rows wherever a row ends; whole: none is cut that a row
    can hold, and what is left of a row is pad. Attention crosses the ends of documents in both.
    `tail`: drop: what does not fill the last row is counted and left out; pad: it is filled up.
    `dialogues`: one | several in a row of instruction data, none of them cut; attention crosses from one to the next.
    `shards`: files of a split: one is `train.mindrecord`, several are `train/train.mindrecord0` ...
    """

    seq_length: int
    shards: int
    documents: str
    tail: str
    dialogues: str = ONE


PRETRAIN = Contract(
    name="pack-pretrain",
    program="runtime.data.pack",
    parameters=Pack,
    inputs=("corpus/split", "tokenizer"),
    output="packed/pretrain",
    environment=("python", "orjson", "zstandard", "sentencepiece", "tokenizers", "tiktoken", "mindspore", "numpy"),
    tracked={"model.seq_length": "seq_length"},
)

INSTRUCT = replace(PRETRAIN, name="pack-instruct", inputs=("instruct", "tokenizer"), output="packed/instruct")


def columns_of(documents: str, tail: str) -> tuple[str, ...]:
    """Columns of packed text: labels are the ids themselves, unless some do not count."""
    return ("input_ids", "labels") if documents == WHOLE or tail == PAD else ("input_ids",)
