"""evaluate: base and merged model on held-out text and on core cases."""

from runtime.contracts.base import Contract, parameters


@parameters
class Perplexity:
    """`split`: which packed split is scored."""

    split: str


@parameters
class Core:
    """`cases`: a JSONL file relative to the project root; `max_new_tokens`: limit of a greedy answer."""

    cases: str
    max_new_tokens: int


@parameters
class Evaluate:
    """`metrics`: what is written, of perplexity, bits_per_byte, answer_loss, exact_match; a suite that is None is not run.

    `dtype`: compute type, refused if it is not the one of training; `device`: cpu | gpu | ascend.
    """

    perplexity: Perplexity | None
    core: Core | None
    metrics: tuple[str, ...]
    dtype: str
    device: str
    seed: int


CONTRACT = Contract(
    name="evaluate",
    program="runtime.evaluation.evaluate",
    parameters=Evaluate,
    inputs=("corpus/split", "tokenizer", "packed/pretrain", "packed/instruct", "base", "merged"),
    output="evaluation",
    reads_metrics=("pack-pretrain",),
    reads_files=("config/template.yaml",),
    environment=("python", "sentencepiece", "tokenizers", "tiktoken", "mindspore", "mindformers", "numpy", "safetensors"),
)
