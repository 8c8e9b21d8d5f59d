"""A few texts behind the counts: what each step dropped, and groups of duplicates with what stays of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest

from runtime.report.evidence import Evidence
from runtime.stage import JSON

PER_REASON, GROUPS, MEMBERS = 3, 6, 4


@dataclass(frozen=True)
class Dropped:
    """Documents that one step dropped for one reason, as their source and the beginning of their text."""

    reason: str
    texts: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Group:
    """Duplicates of each other; `members`: (source, beginning of the text), the one that stays first; `more`: further ones."""

    kind: str
    similarity: str
    members: tuple[tuple[str, str], ...]
    more: int


def dropped(evidence: Evidence) -> dict[str, tuple[Dropped, ...]]:
    """Step -> examples by reason, in the order of their names."""
    found: dict[str, tuple[Dropped, ...]] = {}
    for stage in evidence.data_stages:
        rows: dict[str, dict[str, list[JSON]]] = {}
        for row in evidence.dropped.get(stage, ()):
            rows.setdefault(str(row.get("reason")), {}).setdefault(str(row.get("source")), []).append(row)
        if rows:
            found[stage] = tuple(Dropped(reason, _in_turn(of_sources)) for reason, of_sources in sorted(rows.items()))
    return found


def _in_turn(of_sources: Mapping[str, Sequence[JSON]]) -> tuple[tuple[str, str], ...]:
    """The first text of every source, then the second of every source, up to PER_REASON."""
    turns = (row for turn in zip_longest(*of_sources.values()) for row in turn if row is not None)
    return tuple(map(_told, islice(turns, PER_REASON)))


def groups(evidence: Evidence) -> tuple[Group, ...]:
    """Groups of each kind in turn, as many as a reader looks at."""
    by_kind: dict[str, list[JSON]] = {}
    for one in evidence.clusters:
        by_kind.setdefault(str(one.get("kind")), []).append(one)
    each = max(1, GROUPS // max(1, len(by_kind)))
    return tuple(_group(one) for kind in sorted(by_kind) for one in by_kind[kind][:each])


def _group(one: JSON) -> Group:
    members = sorted(one.get("members") or (), key=lambda member: member.get("id") != one.get("kept"))
    similarity, size = one.get("similarity"), one.get("size", len(members))
    shown = tuple(map(_told, members[:MEMBERS]))
    return Group(str(one.get("kind")), "" if similarity is None else f"{similarity:.2f}", shown, max(0, size - len(shown)))


def _told(row: JSON) -> tuple[str, str]:
    return str(row.get("source") or ""), " ".join(str(row.get("text") or "").split())
