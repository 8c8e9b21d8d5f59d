"""Greedy decoding of many prompts at once, with the answers that each prompt alone would give.

Prompts stand at the left of a window of fixed width and the padding follows them. Under a causal mask no prompt sees
it, positions start at zero in every row, and each step reads the logits of the row's own last token: neither the other
prompts nor the padding side can change an answer.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

NextLogits = Callable[[NDArray[np.int32], NDArray[np.int32]], NDArray[np.floating]]
"""ids [batch, width], lengths [batch] -> logits [batch, vocabulary] of the token after each row's last one."""


@dataclass(frozen=True)
class Window:
    """`rows` prompts at a time, each with its answer within `width` tokens; `pad` fills the rest."""

    rows: int
    width: int
    pad: int


@dataclass(frozen=True)
class Answer:
    """`ids` without the end marker; `ended`: the model closed it, rather than the limit or the window."""

    ids: tuple[int, ...]
    ended: bool


def greedy(next_logits: NextLogits, prompts: Sequence[Sequence[int]], ends: frozenset[int], limit: int, window: Window) -> list[Answer]:
    """The most likely token again and again, until an end marker or `limit` tokens; of equal ones the lowest id.

    A prompt that leaves less room than `limit` is answered as far as the window goes. ValueError for a prompt that
    fills the window or is empty.
    """
    answers: list[Answer] = []
    for start in range(0, len(prompts), window.rows):
        answers += _greedy_block(next_logits, prompts[start : start + window.rows], ends, limit, window)
    return answers


def _greedy_block(next_logits: NextLogits, prompts: Sequence[Sequence[int]], ends: frozenset[int], limit: int, window: Window) -> list[Answer]:
    ids, lengths = _lay_out(prompts, window)
    first = lengths.copy()
    ended = np.zeros(window.rows, bool)
    open_rows = np.arange(window.rows) < len(prompts)
    for _ in range(limit):
        if not open_rows.any():
            break
        tokens = next_logits(ids, lengths).argmax(axis=-1)
        ended |= open_rows & np.isin(tokens, [*ends])
        growing = np.flatnonzero(open_rows & ~ended)
        ids[growing, lengths[growing]] = tokens[growing]
        lengths[growing] += 1
        open_rows &= ~ended & (lengths < window.width)
    return [Answer(tuple(ids[row, first[row] : lengths[row]].tolist()), bool(ended[row])) for row in range(len(prompts))]


def _lay_out(prompts: Sequence[Sequence[int]], window: Window) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """ids [rows, width] and lengths [rows]; rows without a prompt hold one pad, so that every shape is the same."""
    ids = np.full((window.rows, window.width), window.pad, np.int32)
    lengths = np.ones(window.rows, np.int32)
    for row, prompt in enumerate(prompts):
        if not 0 < len(prompt) < window.width:
            raise ValueError(f"a prompt of {len(prompt)} tokens leaves no room in a window of {window.width}")
        ids[row, : len(prompt)] = prompt
        lengths[row] = len(prompt)
    return ids, lengths
