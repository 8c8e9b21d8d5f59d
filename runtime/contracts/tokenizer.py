"""tokenizer: a SentencePiece model trained on the training documents."""

from runtime.contracts.base import Contract, parameters

# Fixed, so that a model's configuration can be compiled before its tokenizer is trained.
PAD_ID, BOS_ID, EOS_ID, UNK_ID = 0, 1, 2, 3


@parameters
class SpecialTokens:
    """Texts of the special pieces; `user`: chat markers, whole pieces that user text cannot forge."""

    pad: str
    bos: str
    eos: str
    user: tuple[str, ...]


@parameters
class Tokenizer:
    """`kind`: sentencepiece; `model_type`: bpe | unigram; `vocab_size`: pieces, special ones included."""

    kind: str
    model_type: str
    vocab_size: int
    character_coverage: float
    byte_fallback: bool
    special_tokens: SpecialTokens


CONTRACT = Contract(
    name="tokenizer",
    program="runtime.data.tokenizer",
    parameters=Tokenizer,
    inputs=("corpus/split",),
    output="tokenizer",
    environment=("python", "orjson", "zstandard", "sentencepiece"),
    tracked={"tokenizer.vocab_size": "vocab_size", "tokenizer.model_type": "model_type"},
)
