"""A floor of rows that people wrote: rows of synthetic sources beyond their largest share of the training rows are left out."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from runtime.contracts.counting import counted
from runtime.contracts.format import Format
from runtime.data import row_index
from runtime.data.ordering import rank
from runtime.data.row_index import Entries
from runtime.faults import StageFault
from runtime.stage import Stage


def synthetic_sources(parameters: Format) -> NDArray[np.bool_]:
    """Which sources, in their order, models wrote."""
    return np.array([source.synthetic or source.made for source in parameters.sources.values()])


def floored(entries: Entries, choices: NDArray[Any], parameters: Format) -> NDArray[Any]:
    """The choices without as many of synthetic sources as it takes for the rest to keep its share of the rows.

    Repeats go first, then rows in a hashed order. Raises StageFault where every row is synthetic.
    """
    written = synthetic_sources(parameters)[entries["source"][choices["row"]]]
    allowed = most(int((~written).sum()), parameters.synthetic_max)
    if written.sum() <= allowed:
        return choices
    if written.all():
        raise StageFault(
            "all training rows are synthetic",
            where="config/format.yaml",
            reason=f"data.instruct.synthetic_max={parameters.synthetic_max} asks for rows that people wrote beside them",
            fix="add a source that people wrote, or set data.instruct.synthetic_max=1",
        )
    places = np.flatnonzero(written)
    ranks = np.fromiter((rank(parameters.seed, "floor", id) for id in row_index.ids_of(entries, choices[places])), np.uint64, len(places))
    left_out = places[np.lexsort((ranks, choices["copy"][places]))][allowed:]
    return np.delete(choices, left_out)


def most(real: int, share: float) -> int:
    """How many synthetic rows may stand beside `real` ones, so that they are at most `share` of all."""
    if share >= 1:
        return 2**62
    count = int(real * share / (1 - share)) + 1  # the product may fall short of a whole number by one rounding
    while count > share * (real + count):
        count -= 1
    return count


def told(stage: Stage[Format], entries: Entries, before: NDArray[Any], after: NDArray[Any]) -> dict[str, Any]:
    """The realised share, for the metrics, and a warning where rows were left out; nothing without synthetic sources."""
    parameters = stage.parameters
    if not synthetic_sources(parameters).any():
        return {}
    chosen = entries[after["row"]]
    written = synthetic_sources(parameters)[chosen["source"]]
    ids = chosen["ids"].astype(np.int64)
    left_out = len(before) - len(after)
    warnings = (
        [f"left out: {counted(left_out, 'synthetic row')}, since data.instruct.synthetic_max={parameters.synthetic_max}"]
        if left_out
        else []
    )
    for warning in warnings:
        stage.terminal.say(f"warning: {warning}")
    shares = {"rows": round(float(written.mean()), 6), "tokens": round(float(ids[written].sum() / ids.sum()), 6)}
    return {"synthetic": {"share": shares, "left_out": left_out, "max": parameters.synthetic_max}, "warnings": warnings}
