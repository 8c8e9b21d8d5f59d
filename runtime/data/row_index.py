"""What the format stage remembers of every row while the rows themselves wait in scratch files: INDEX.itemsize (60) bytes a row,
and some 170 more while they are brought into order.

Rows are chosen and ordered here, on NumPy arrays; the files are read again only to write the result.
"""

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from runtime.contracts.counting import counted
from runtime.data.ordering import rank
from runtime.faults import StageFault

Entries = NDArray[Any]  # of INDEX
Places = NDArray[np.int64]

# key, prompt: fingerprints of the dialogue and of what precedes its first answer; verdict: index in the reasons, 0 for a usable row
# file, place: where the row lies in scratch; ids, trained: how many; length: ids before anything was cut
INDEX = np.dtype(
    [
        *((name, "<u8", (2,)) for name in ("key", "prompt")),
        ("place", "<i8"),
        *((name, "<i4") for name in ("file", "ids", "trained", "length")),
        *((name, "<i2") for name in ("source", "verdict")),
    ]
)
PACKED = struct.Struct("<4Qq4i2h")  # one of INDEX
BLOCK = 10_000  # fingerprints that are written together
CHOICE = np.dtype([("row", "<i8"), ("copy", "<i4")])


def names_of(keys: NDArray[np.uint64]) -> Iterator[str]:
    """Fingerprints, (rows, 2), as they are written: 32 hexadecimal digits each."""
    for start in range(0, len(keys), BLOCK):
        digits = keys[start : start + BLOCK].astype(">u8").tobytes().hex()
        yield from (digits[place : place + 32] for place in range(0, len(digits), 32))


def key_of(name: str) -> tuple[int, int]:
    """A written fingerprint as two numbers."""
    return int(name[:16], 16), int(name[16:], 16)


def repeated(keys: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Which keys, (rows, 2), stood further up already."""
    order = np.lexsort((keys[:, 1], keys[:, 0]))
    again = np.zeros(len(keys), np.bool_)
    again[order[1:]] = (keys[order[1:]] == keys[order[:-1]]).all(axis=1)
    return again


def split_rows(entries: Entries, share: float, seed: int) -> NDArray[np.bool_]:
    """Which rows are validation: whole groups of one prompt, in hashed order, until they hold `share` of the rows.

    Raises StageFault where one side would be empty.
    """
    prompts, group = np.unique(entries["prompt"], axis=0, return_inverse=True)
    group, sizes = group.reshape(-1), np.bincount(group.reshape(-1), minlength=len(prompts))
    order = _by_rank(names_of(prompts), len(prompts), seed)
    wanted = max(1, round(share * len(entries)))
    held_before = np.concatenate([[0], np.cumsum(sizes[order])[:-1]]) if len(order) else order
    chosen = np.zeros(len(prompts), np.bool_)
    chosen[order[held_before < wanted]] = True
    validation = chosen[group]
    if validation.all() or not validation.any():
        raise StageFault(
            f"{counted(len(entries), 'usable row')} with {counted(len(prompts), 'different prompt')} cannot be split",
            where="config/format.yaml",
            reason="training and validation each need a row, and share no prompt",
            fix="give more rows, with different prompts",
        )
    return validation


def once(entries: Entries) -> NDArray[Any]:
    """Every row, of CHOICE."""
    return _choices(np.arange(len(entries)), len(entries))


def weigh(entries: Entries, weights: Sequence[float], seed: int) -> NDArray[Any]:
    """The rows to take, of CHOICE: repeated or left out so that the sources stand in the ratio of `weights`, as many as before.

    `weights`: one a source, in the order of their numbers.
    """
    rows = [_in_hashed_order(entries, np.flatnonzero(entries["source"] == source), seed) for source in range(len(weights))]
    present = [source for source in range(len(weights)) if len(rows[source])]
    whole = sum(weights[source] for source in present)
    return np.concatenate([_choices(rows[source], round(len(entries) * weights[source] / whole)) for source in present])


def _choices(rows: Places, count: int) -> NDArray[Any]:
    """`count` rows: all of them as often as they fit whole, then the first ones once more."""
    made = np.empty(count, CHOICE)
    made["row"], made["copy"] = rows[np.arange(count) % len(rows)], np.arange(count) // len(rows)
    return made


def _in_hashed_order(entries: Entries, rows: Places, seed: int) -> Places:
    return rows[_by_rank(names_of(entries["key"][rows]), len(rows), seed)]


def ids_of(entries: Entries, choices: NDArray[Any]) -> Iterator[str]:
    """The ids of chosen rows; a repeated one has `#1`, `#2` ... behind it."""
    names = names_of(entries["key"][choices["row"]])
    return (f"{name}#{copy}" if copy else name for name, copy in zip(names, choices["copy"].tolist(), strict=True))


def shuffled(entries: Entries, choices: NDArray[Any], seed: int) -> NDArray[Any]:
    """The choices in the order of their ranks."""
    return choices[_by_rank(ids_of(entries, choices), len(choices), seed)]


def _by_rank(ids: Iterable[str], count: int, seed: int) -> Places:
    return np.argsort(np.fromiter((rank(seed, id) for id in ids), np.uint64, count), kind="stable")


@dataclass(frozen=True)
class Lengths:
    """How long rows are before anything is cut, against the longest row that fits."""

    limit: int

    def as_dict(self, lengths: NDArray[np.int32]) -> dict[str, Any]:
        """Rows by length, up to each power of two and the limit, and how many are longer than the limit."""
        bounds = sorted({2**power for power in range(5, 31) if 2**power <= max(int(lengths.max(initial=0)) * 2, 32)} | {self.limit})
        counts = np.histogram(lengths, [0, *(bound + 1 for bound in bounds), 1 << 31])[0]
        found = {str(bound): int(count) for bound, count in zip(bounds, counts, strict=False) if count}
        quantiles = {f"p{share}": int(np.quantile(lengths, share / 100, method="lower")) for share in (50, 90, 99)} if len(lengths) else {}
        longest = int(lengths.max(initial=0))
        return {"up_to": found, **quantiles, "longest": longest, "longer_than_row": int((lengths > self.limit).sum())}


def totals(entries: Entries) -> dict[str, int]:
    """Rows, tokens and trained tokens."""
    return {"rows": len(entries), "tokens": int(entries["ids"].sum()), "trained_tokens": int(entries["trained"].sum())}


def by_source(entries: Entries, names: Sequence[str]) -> Mapping[str, int]:
    """Rows of each source."""
    counts = np.bincount(entries["source"], minlength=len(names))
    return {name: int(count) for name, count in zip(names, counts, strict=True)}


def parts(sizes: NDArray[np.int64], rows: int, total: int) -> Iterator[slice]:
    """Cut a sequence of rows into parts that end with the row that reaches `rows` rows or a sum of `total` sizes."""
    start = 0
    ends = np.cumsum(sizes)
    while start < len(sizes):
        before = int(ends[start - 1]) if start else 0
        end = min(start + rows, int(np.searchsorted(ends, before + total)) + 1, len(sizes))
        yield slice(start, end)
        start = end
