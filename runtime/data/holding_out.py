"""Which documents are held out: whole groups, of every source in its share. Memory: about 100 bytes a document."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from runtime.contracts.counting import counted
from runtime.faults import StageFault

Numbers = NDArray[np.int64]
TRAIN, VALIDATION, REPEAT = 0, 1, 2


@dataclass(frozen=True)
class Looks:
    """What decides about each document, in order: arrays of one length.

    text: its fingerprint, as two numbers, shape (documents, 2); file: a number for the raw file it came from; place: where its group,
    as far as this document tells, falls in [0, 1); stratum: what is held out in its own share, as a source.
    """

    text: NDArray[np.uint64]
    file: NDArray[np.uint64]
    place: NDArray[np.float64]
    stratum: Numbers

    @classmethod
    def joined(cls, parts: list["Looks"]) -> "Looks":
        """All documents of all parts."""
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in ("text", "file", "place", "stratum")))


@dataclass(frozen=True)
class Sides:
    """TRAIN, VALIDATION or REPEAT (a copy that validation goes without) of each document, and how many groups there were."""

    sides: NDArray[np.int8]
    groups: int


def divide(looks: Looks, share: float, by: str) -> Sides:
    """Put every group on one side: about `share` of the groups of each stratum, at least one, never all, to validation.

    A group holds the documents of one fingerprint and, by file, all documents of the files in which it occurs. A stratum of a single
    group goes to training, unless there is nothing else to hold out. Raises StageFault for fewer than two groups.
    """
    texts, first = _numbered(looks.text)
    groups = _with_files(texts, looks.file) if by == "file" else texts
    count = int(groups.max()) + 1 if len(groups) else 0
    if count < 2:
        raise _too_few(count, by)
    leader = _leaders(groups, looks.file if by == "file" else None)
    foremost = _leaders(groups, None)
    held = _held_out(looks.place[leader], looks.stratum[foremost], share)[groups]
    sides = np.where(held, np.where(first, VALIDATION, REPEAT), TRAIN).astype(np.int8)
    return Sides(sides, count)


def _too_few(count: int, by: str) -> StageFault:
    what = counted(count, "distinct document")
    if by == "file":
        what = f"{counted(count, 'file')} without a text in common"
    return StageFault(
        f"the mix has {what}, too few for a training and a validation set",
        where="config/split.yaml",
        fix="add text, or raise the budget in data.pretrain.mix" + ("" if by == "document" else ", or set data.pretrain.split.by=document"),
    )


def _numbered(keys: NDArray[np.uint64]) -> tuple[Numbers, NDArray[np.bool_]]:
    """A number for each distinct row, and whether a row is the first of its number."""
    order = np.lexsort(keys.T)  # stable: equal rows stay in order
    ordered = keys[order]
    begins = np.ones(len(keys), bool)
    begins[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    numbers, first = np.empty(len(keys), np.int64), np.empty(len(keys), bool)
    numbers[order], first[order] = np.cumsum(begins) - 1, begins
    return numbers, first


def _with_files(texts: Numbers, file: NDArray[np.uint64]) -> Numbers:
    """Groups of documents that are linked by a text or by a file."""
    from scipy.sparse import coo_matrix  # takes longer to import than many a split
    from scipy.sparse.csgraph import connected_components

    files, _ = _numbered(file[:, np.newaxis])
    size = int(texts.max()) + 1 if len(texts) else 0
    nodes = size + (int(files.max()) + 1 if len(files) else 0)
    links = coo_matrix((np.ones(len(texts), np.int8), (texts, size + files)), shape=(nodes, nodes))
    _, labels = connected_components(links, directed=False)
    return labels[texts].astype(np.int64)


def _leaders(groups: Numbers, file: NDArray[np.uint64] | None) -> Numbers:
    """The document that speaks for each group: the first one, or the first one of the file with the least number, so that the order of
    documents decides nothing."""
    order = np.argsort(groups, kind="stable") if file is None else np.lexsort((file, groups))
    ordered = groups[order]
    return order[np.flatnonzero(np.diff(ordered, prepend=-1))]


def _held_out(place: NDArray[np.float64], stratum: Numbers, share: float) -> NDArray[np.bool_]:
    held = np.zeros(len(place), bool)
    order = np.lexsort((place, stratum))
    starts = np.flatnonzero(np.diff(stratum[order], prepend=-1))
    for start, end in zip(starts, [*starts[1:], len(order)], strict=True):
        wanted = int((place[order[start:end]] < share).sum())
        held[order[start : start + min(max(wanted, 1), end - start - 1)]] = True
    if not held.any():
        held[int(np.argmin(place))] = True
    return held
