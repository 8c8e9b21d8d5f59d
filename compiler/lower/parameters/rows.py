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
        special_tokens=tokenizer.SpecialTokens(pad=special.pad, bos=special.bos, eos=special.eos, user=special.user, ids=dict(special.ids)),
        path=settings.path,
        pattern=settings.pattern,
        user_defined=settings.user_defined,
        training_bytes=settings.training_bytes,
    )


def pack_dialogues_parameters(spec: Spec) -> pack.Pack:
    """How documents are laid out is nothing to dialogues."""
    return replace(pack_parameters(spec), documents=pack.SEPARATED, tail=pack.DROP, dialogues=spec.pack.dialogues)


def pack_parameters(spec: Spec) -> pack.Pack:
    settings = spec.pack
    return pack.Pack(seq_length=spec.model.seq_length, shards=settings.shards, documents=settings.documents, tail=settings.tail)
