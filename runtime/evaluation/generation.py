"""Greedy decoding of many prompts at once, with the answers that each prompt alone would give.

Prompts stand at the left of a window of fixed width and the padding follows them. Under a causal mask no prompt sees
it, positions start at zero in every row, and each step reads the logits of the row's own last token: neither the other
prompts nor the padding side can change an answer. A row whose answer has ended takes the next prompt.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

NextLogits = Callable[[NDArray[np.int32], NDArray[np.int32]], NDArray[np.floating]]
"""ids [rows, width], lengths [rows] -> logits [rows, vocabulary] of the token after each row's last one."""
FREE = -1


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


def greedy(
    next_logits: NextLogits,
    prompts: Sequence[Sequence[int]],
    ends: frozenset[int],
    limit: int,
    window: Window,
    *,
    finished: Callable[[], None] = lambda: None,
) -> list[Answer]:
    """The most likely token again and again, until an end marker or `limit` tokens; of equal ones the lowest id.

    A prompt that leaves less room than `limit` is answered as far as the window goes. `finished` is called for every
    answer. ValueError for a prompt that fills the window or is empty.
    """
    answers: dict[int, Answer] = {}
    waiting = deque(enumerate(prompts))
    board = _Board(window)
    while board.seat(waiting):
        tokens = next_logits(board.ids, board.lengths).argmax(axis=-1)
        for number, answer in board.append(tokens, ends, limit):
            answers[number] = answer
            finished()
    return [answers[number] for number in range(len(prompts))]


@dataclass
class _Board:
    """The rows of the window: whose prompt each holds (or FREE), its ids, and how far prompt and answer go."""

    window: Window
    ids: NDArray[np.int32] = field(init=False)
    lengths: NDArray[np.int32] = field(init=False)
    prompts: NDArray[np.int32] = field(init=False)
    owners: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        """A free row holds one pad, so that every row has a last token."""
        self.ids = np.full((self.window.rows, self.window.width), self.window.pad, np.int32)
        self.lengths = np.ones(self.window.rows, np.int32)
        self.prompts = np.ones(self.window.rows, np.int32)
        self.owners = np.full(self.window.rows, FREE)

    def seat(self, waiting: deque[tuple[int, Sequence[int]]]) -> bool:
        """Give free rows to waiting prompts; whether any row is taken."""
        for row in np.flatnonzero(self.owners == FREE):
            if not waiting:
                break
            self.owners[row], prompt = waiting.popleft()
            if not 0 < len(prompt) < self.window.width:
                raise ValueError(f"a prompt of {len(prompt)} tokens leaves no room in a window of {self.window.width}")
            self.ids[row] = self.window.pad
            self.ids[row, : len(prompt)] = prompt
            self.lengths[row] = self.prompts[row] = len(prompt)
        return bool((self.owners != FREE).any())

    def append(self, tokens: NDArray[np.integer], ends: frozenset[int], limit: int) -> Iterator[tuple[int, Answer]]:
        """Put one token a row, and yield the answers that it ended."""
        for row in np.flatnonzero(self.owners != FREE):
            ended = int(tokens[row]) in ends
            if not ended:
                self.ids[row, self.lengths[row]] = tokens[row]
                self.lengths[row] += 1
            if ended or self.lengths[row] in (self.prompts[row] + limit, self.window.width):
                yield int(self.owners[row]), Answer(tuple(self.ids[row, self.prompts[row] : self.lengths[row]].tolist()), ended)
                self.owners[row] = FREE
