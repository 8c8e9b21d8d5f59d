"""Parameters of tokenizer and pack."""

from dataclasses import replace

from compiler.spec import Spec
from runtime.contracts import pack, tokenizer


def tokenizer_parameters(spec: Spec) -> tokenizer.Tokenizer:
    settings, special = spec.tokenizer, spec.tokenizer.special_tokens
    return tokenizer.Tokenizer(
        kind=settings.kind,
        model_type=settings.model_type,
        vocab_size=settings.vocab_size,
        character_coverage=settings.character_coverage,
        byte_fallback=settings.byte_fallback,
        special_tokens=tokenizer.SpecialTokens(pad=special.pad, bos=special.bos, eos=special.eos, user=special.user),
    )


def pack_dialogues_parameters(spec: Spec) -> pack.Pack:
    return replace(pack_parameters(spec), dialogues=spec.pack.dialogues)


def pack_parameters(spec: Spec) -> pack.Pack:
    settings = spec.pack
    return pack.Pack(seq_length=spec.model.seq_length, shards=settings.shards, documents=settings.documents, tail=settings.tail)
