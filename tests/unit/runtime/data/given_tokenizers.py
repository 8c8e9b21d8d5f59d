"""Small vocabularies of each kind, made by their own libraries."""

import base64
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from samples import texts
from sentencepiece import SentencePieceTrainer
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from runtime.contracts import tokenizer
from runtime.contracts.tokenizer import SpecialTokens

SPECIAL = ("<pad>", "<s>", "</s>", "<|im_start|>", "<|im_end|>")
NAMED = {"pad": "<pad>", "bos": "<s>", "eos": "</s>", "user": ["<|im_start|>", "<|im_end|>"]}


def byte_level(special: Sequence[str] = SPECIAL, *, normaliser: Any = None, size: int = 500) -> bytes:
    """A byte-level BPE as GPT-2's, with its special pieces in front; a post-processor adds begin and end to what it encodes."""
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    if normaliser is not None:
        made.normalizer = normaliser
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=size, special_tokens=list(special), initial_alphabet=alphabet, show_progress=False)
    made.train_from_iterator(texts(), trainer)
    if {"<s>", "</s>"} <= set(special):
        from tokenizers.processors import TemplateProcessing

        ids = {text: made.token_to_id(text) for text in ("<s>", "</s>")}
        made.post_processor = TemplateProcessing(single="<s> $A </s>", special_tokens=list(ids.items()))
    made.add_tokens([AddedToken("    ", special=False, normalized=False)])  # text, as in GPT-NeoX
    return made.to_str().encode()


def llama_like() -> bytes:
    """A BPE on blanks as U+2581 with a blank before the text and bytes for the rest, as the tokenizer.json of Llama 2."""
    made = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    made.normalizer = normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
    parts = [decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(content=" ", left=1)]
    made.decoder = decoders.Sequence(parts)
    bytes_ = [f"<0x{byte:02X}>" for byte in range(256)]
    trainer = trainers.BpeTrainer(vocab_size=700, special_tokens=["<unk>", *SPECIAL, *bytes_], show_progress=False)
    made.train_from_iterator(texts(), trainer)
    file = json.loads(made.to_str())
    file["added_tokens"] = [piece for piece in file["added_tokens"] if piece["content"] not in bytes_]
    return json.dumps(file).encode()


def ranks(pieces: Sequence[bytes] = (b"ox", b"fox", b" f", "\u7b2c".encode())) -> bytes:
    """A `.tiktoken` file of all bytes and some pieces."""
    everything = [*(bytes([byte]) for byte in range(256)), *pieces]
    return b"".join(base64.b64encode(piece) + f" {rank}\n".encode() for rank, piece in enumerate(everything))


def llama_model() -> bytes:
    """A SentencePiece model with the settings of Llama 2: unknown first, no pad, a blank before the text; a user-defined marker."""
    model = io.BytesIO()
    SentencePieceTrainer.train(
        sentence_iterator=iter(line for text in texts() for line in text.split("\n")),
        model_writer=model,
        model_type="bpe",
        vocab_size=500,
        character_coverage=1.0,
        byte_fallback=True,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        add_dummy_prefix=True,
        user_defined_symbols=["<|im_start|>", "<|im_end|>"],
        num_threads=1,
    )
    return model.getvalue()


def settings(kind: str, vocab_size: int, path: str = "vocabulary", **changes: Any) -> dict[str, Any]:
    """Parameters of the tokenizer stage for a given file, as the compiler writes them."""
    usual = {"kind": kind, "model_type": "bpe", "vocab_size": vocab_size, "character_coverage": 1.0, "byte_fallback": True}
    return {**usual, "path": path, "special_tokens": NAMED, **changes}


def parameters(told: dict[str, Any]) -> tokenizer.Tokenizer:
    """The parameter record of such settings."""
    special = told["special_tokens"]
    return tokenizer.Tokenizer(**{**told, "special_tokens": SpecialTokens(**{**special, "user": tuple(special["user"])})})


def put(folder: Path, data: bytes) -> Path:
    """The file that `settings` name, below a root."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocabulary").write_bytes(data)
    return folder


def made(kind: str) -> tuple[bytes, dict[str, Any]]:
    """(file, settings) of the four vocabularies by name."""
    if kind == "byte_level":
        return byte_level(), settings("hf", 501)
    if kind == "llama_json":
        return llama_like(), settings("hf", 700)
    if kind == "ranks":
        return ranks(), settings("tiktoken", 265, pattern="cl100k")
    return llama_model(), settings("sentencepiece", 500, special_tokens={**NAMED, "pad": "<unk>"})
