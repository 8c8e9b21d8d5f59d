"""tokenizer: a SentencePiece model trained on the training documents, or a vocabulary that is given."""

from dataclasses import field

from runtime.contracts.base import Contract, parameters

# Fixed for what is trained, so that a model's configuration can be compiled before its tokenizer is.
PAD_ID, BOS_ID, EOS_ID, UNK_ID = 0, 1, 2, 3

# How published tiktoken vocabularies split a text before pieces are merged; their files do not say.
PATTERNS = {
    "gpt2": r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    "cl100k": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    "o200k": "|".join(
        (
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
            r"\p{N}{1,3}",
            r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
            r"\s*[\r\n]+",
            r"\s+(?!\S)",
            r"\s+",
        )
    ),
    "qwen": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
}


@parameters
class SpecialTokens:
    """Texts of the special pieces; `user`: chat markers, whole pieces that user text cannot forge.

    `ids`: of special pieces that a given file does not hold, or does not number.
    """

    pad: str
    bos: str
    eos: str
    user: tuple[str, ...]
    ids: dict[str, int] = field(default_factory=dict[str, int])


@parameters
class Tokenizer:
    """`kind`: sentencepiece | hf | tiktoken; `model_type`: bpe | unigram; `vocab_size`: ids, special ones included.

    `path`: the given file, relative to the project root; None trains one. `pattern`: how tiktoken splits a text, a name of
    PATTERNS or a regular expression. `user_defined`: texts that are always one piece. `training_bytes`: of text, at most, that a
    model is trained on.
    """

    kind: str
    model_type: str
    vocab_size: int
    character_coverage: float
    byte_fallback: bool
    special_tokens: SpecialTokens
    path: str | None = None
    pattern: str | None = None
    user_defined: tuple[str, ...] = ()
    training_bytes: int = 100_000_000


CONTRACT = Contract(
    name="tokenizer",
    program="runtime.data.tokenizer",
    parameters=Tokenizer,
    inputs=("corpus/split",),
    output="tokenizer",
    environment=("python", "orjson", "zstandard", "sentencepiece", "tokenizers", "tiktoken", "numpy"),
    tracked={"tokenizer.vocab_size": "vocab_size", "tokenizer.model_type": "model_type"},
)
