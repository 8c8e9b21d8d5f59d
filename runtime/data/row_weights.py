"""Weights of the sources of instruction rows: how often the training rows of each are used, and what to say of it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from runtime.contracts.counting import counted
from runtime.contracts.format import Format
from runtime.data import row_index
from runtime.data.row_index import Entries
from runtime.stage import Stage


def chosen(entries: Entries, parameters: Format) -> NDArray[Any]:
    """The training rows to take, of CHOICE: in the ratio of the weights, each row once where no source has one.

    Beside a source that has a weight, one without counts as 1. Of a source of weight 0 nothing was read.
    """
    weights = [source.weight for source in parameters.sources.values()]
    if not any(weights):
        return row_index.once(entries)
    return row_index.weigh(entries, [1.0 if weight is None else weight for weight in weights], parameters.seed)


def effect(entries: Entries, choices: NDArray[Any], names: Sequence[str]) -> Mapping[str, Mapping[str, int]]:
    """Of each source: how many of its training rows weights leave out, and how many they add as repeats."""
    uses = np.bincount(choices["row"], minlength=len(entries))
    left_out, repeats = (np.bincount(entries["source"], counts, len(names)) for counts in (uses == 0, np.maximum(uses - 1, 0)))
    return {name: {"left_out": int(left_out[place]), "repeats": int(repeats[place])} for place, name in enumerate(names)}


def told(stage: Stage[Format], entries: Entries, by_weight: Mapping[str, Mapping[str, int]]) -> list[str]:
    """The warning, for the metrics, where weights leave training rows out or repeat them."""
    there = row_index.by_source(entries, list(by_weight))
    phrases = [phrase for name, counts in by_weight.items() for phrase in _phrases(name, there[name], counts)]
    warnings = [f"weights of the sources: {'; '.join(phrases)}; where no source has a weight, every row is used once"] if phrases else []
    for warning in warnings:
        stage.terminal.say(f"warning: {warning}")
    return warnings


def _phrases(name: str, there: int, counts: Mapping[str, int]) -> Iterator[str]:
    if left_out := counts["left_out"]:
        yield f"{left_out} of {counted(there, 'training row')} of {name} left out"
    if repeats := counts["repeats"]:
        yield f"{counted(there, 'training row')} of {name} became {there + repeats} by repeats"
