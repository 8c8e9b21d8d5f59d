"""pack: token rows of one length in MindRecord files, for pre-training and for instruction data."""

from dataclasses import replace

from runtime.contracts.base import Contract, parameters


@parameters
class Pack:
    """`seq_length`: tokens the model sees; a row holds one more id, since mindformers shifts labels once.

    `documents`: separated: each is bos, its text, eos; attention crosses. `tail`: drop: what does not fill the last row is counted.
    `shards`: files of a split: one is `train.mindrecord`, several are `train/train.mindrecord0` ...
    """

    seq_length: int
    shards: int
    documents: str
    tail: str


PRETRAIN = Contract(
    name="pack-pretrain",
    program="runtime.data.pack",
    parameters=Pack,
    inputs=("corpus/split", "tokenizer"),
    output="packed/pretrain",
    environment=("python", "orjson", "zstandard", "sentencepiece", "mindspore", "numpy"),
    tracked={"model.seq_length": "seq_length"},
)

INSTRUCT = replace(PRETRAIN, name="pack-instruct", inputs=("instruct", "tokenizer"), output="packed/instruct")
