"""LoRA adapters as arrays: names, checks, and the merge. No MindSpore.

The merge is W' = W + (alpha / rank) B A of Hu et al., "LoRA: Low-Rank Adaptation of Large Language Models", 2021,
section 4.1, with A of shape (rank, in) and B of shape (out, rank).
"""

import difflib
import re
from collections.abc import Callable, Mapping

import numpy as np

from runtime.faults import StageFault
from runtime.model.weights import Weights, summary

A, B = ".mindpet_delta_lora_a", ".mindpet_delta_lora_b"
BODY = "model."


def is_adapter(name: str) -> bool:
    """Whether a parameter belongs to an adapter."""
    return name.endswith((A, B))


def split(weights: Mapping[str, np.ndarray]) -> tuple[Weights, Weights]:
    """The adapter's tensors, and the others."""
    adapter = {name: array for name, array in weights.items() if is_adapter(name)}
    return adapter, {name: array for name, array in weights.items() if not is_adapter(name)}


def cells_of(adapter: Mapping[str, np.ndarray]) -> list[str]:
    """The cells that an adapter changes, sorted."""
    return sorted({name.removesuffix(A).removesuffix(B) for name in adapter})


def match_targets(target_modules: str, base: Mapping[str, np.ndarray]) -> dict[str, list[str]]:
    """The cells each alternative of mindformers' `target_modules` selects: it is matched against local cell names.

    Only linear cells of the body can carry an adapter, not the head. Raises StageFault for an alternative without a cell;
    mindformers itself only notices when none of them has any.
    """
    cells = [
        name.removesuffix(".weight")
        for name, array in base.items()
        if name.startswith(BODY) and name.endswith(".weight") and array.ndim == 2
    ]
    locals_ = sorted({cell.rpartition(".")[2] for cell in cells})
    matched = {pattern: [c for c in cells if _matches(pattern, c.rpartition(".")[2])] for pattern in target_modules.split("|")}
    missing = [pattern for pattern, found in matched.items() if not found]
    if missing:
        raise StageFault(
            "; ".join(f"{pattern!r} matches no cell{_closest(pattern, locals_)}" for pattern in missing),
            where="finetune.lora.targets",
            reason="a part of the intended adapter would be absent, and the training would not say so",
            fix=f"choose among {', '.join(locals_)}",
        )
    return matched


def _matches(pattern: str, local_name: str) -> bool:
    try:
        return re.match(pattern, local_name) is not None
    except re.error as error:
        raise StageFault(f"{pattern!r} is not a regular expression: {error}", where="finetune.lora.targets") from None


def _closest(pattern: str, names: list[str]) -> str:
    close = difflib.get_close_matches(re.sub(r"\W", "", pattern), names, n=1)
    return f" (did you mean {close[0]}?)" if close else ""


def pair(adapter: Mapping[str, np.ndarray], cell: str, weight: np.ndarray, rank: int) -> tuple[np.ndarray, np.ndarray]:
    """A (rank, in) and B (out, rank) of one cell. Raises StageFault where one is missing or does not fit the weight (out, in)."""
    found = {half: adapter.get(cell + half) for half in (A, B)}
    a, b = found[A], found[B]
    if a is None or b is None:
        raise StageFault(
            f"{cell} has only one half of its adapter", where="adapter", reason="half an adapter changes nothing", fix="run finetune again"
        )
    if a.shape != (rank, weight.shape[1]) or b.shape != (weight.shape[0], rank):
        raise StageFault(
            f"{cell}: A {a.shape} and B {b.shape} do not fit a weight {weight.shape} at rank {rank}",
            where="adapter",
            reason="the adapter was trained for another model or another rank",
            fix="run finetune again from this base",
        )
    return a, b


def merge(
    base: Mapping[str, np.ndarray], adapter: Mapping[str, np.ndarray], rank: int, alpha: float, done: Callable[[], None] = lambda: None
) -> Weights:
    """W + (alpha / rank) B A for every adapted cell, computed in float32; the other tensors as they are.

    `done` is called after each cell.
    Raises StageFault where a pair is incomplete, does not fit, or has no weight in the base.
    """
    cells = cells_of(adapter)
    homeless = [cell for cell in cells if f"{cell}.weight" not in base]
    if homeless or not cells:
        raise StageFault(
            f"no weight in the base for: {summary(homeless)}" if homeless else "the adapter is empty",
            where="adapter",
            reason="a part of the adapter would be left out",
            fix="run finetune again from this base",
        )
    merged = dict(base)
    scale = np.float32(alpha / rank)
    for cell in cells:
        weight = base[f"{cell}.weight"]
        a, b = pair(adapter, cell, weight, rank)
        delta = scale * (b.astype(np.float32) @ a.astype(np.float32))
        merged[f"{cell}.weight"] = (weight.astype(np.float32) + delta).astype(weight.dtype)
        done()
    return merged
