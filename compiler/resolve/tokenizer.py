"""Ids of the special pieces: fixed where a tokenizer is trained, else those of the given file."""

from pathlib import Path

from compiler import tokenizer_file
from compiler.experiment import SpecialIds
from compiler.spec import Spec
from runtime.contracts.tokenizer import BOS_ID, EOS_ID, PAD_ID


def special_ids(spec: Spec, root: Path) -> SpecialIds:
    """The rules have seen that a given file is there and holds the pieces."""
    found = tokenizer_file.pieces(spec, root)
    if found is None:
        return SpecialIds(pad=PAD_ID, bos=BOS_ID, eos=EOS_ID)
    special, ids = spec.tokenizer.special_tokens, tokenizer_file.resolved(spec.tokenizer, found).ids
    return SpecialIds(pad=ids[special.pad], bos=ids[special.bos], eos=ids[special.eos])
