"""Which result came from which: a layered graph of the stages, for `lineage.svg.j2` and the table beside it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from runtime.contracts.registry import BY_NAME
from runtime.report import formatting
from runtime.report.evidence import PRODUCER, Evidence, Result

NODE_WIDTH, NODE_HEIGHT, ROW, TRACK, TOP = 164, 42, 64, 6, 6
SHORT = 12


@dataclass(frozen=True)
class Node:
    """One stage. `inputs`: the stages whose results it reads; `identity`: SHA-256 of its result's manifest."""

    name: str
    folder: str
    inputs: tuple[str, ...]
    identity: str
    files: int
    size: str
    row: int
    column: int
    x: float = 0.0
    y: float = 0.0

    @property
    def short(self) -> str:
        """The first digits of the identity, enough to tell two results apart by eye."""
        return self.identity[:SHORT]


@dataclass(frozen=True)
class Edge:
    """The result of one stage as the input of another, as SVG path data."""

    source: str
    target: str
    path: str


@dataclass(frozen=True)
class Lineage:
    """The whole graph, nodes in the order of the main job."""

    width: int
    height: int
    node_width: int
    node_height: int
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]


def lineage(evidence: Evidence) -> Lineage:
    """Lay out the stages that have a result; those of other stages are left out."""
    names = tuple(evidence.results)
    inputs = {name: tuple(PRODUCER[folder] for folder in BY_NAME[name].inputs if PRODUCER.get(folder) in names) for name in names}
    rows = layers(inputs)
    columns = lanes(inputs, rows)
    detours = tracks(inputs, rows, columns)
    lefts = column_places(columns, detours)
    nodes = {name: _node(evidence.results[name], inputs[name], rows[name], columns[name], lefts) for name in names}
    edges = tuple(
        Edge(before, name, _path(nodes[before], nodes[name], detours.get((before, name)))) for name in names for before in inputs[name]
    )
    return Lineage(
        lefts[-1] + NODE_WIDTH + TOP,
        2 * TOP + max(rows.values(), default=0) * ROW + NODE_HEIGHT,
        NODE_WIDTH,
        NODE_HEIGHT,
        tuple(nodes.values()),
        edges,
    )


def layers(inputs: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """The length of the longest chain of inputs before each stage; stages come after their inputs in the mapping."""
    rows: dict[str, int] = {}
    for name, before in inputs.items():
        rows[name] = max((rows[stage] + 1 for stage in before), default=0)
    return rows


def lanes(inputs: Mapping[str, Sequence[str]], rows: Mapping[str, int]) -> dict[str, int]:
    """A column for each stage: that of its first input, or the next one that is free in its row."""
    taken: set[tuple[int, int]] = set()
    columns: dict[str, int] = {}
    for name, before in inputs.items():
        column = columns[before[0]] if before else 0
        while (rows[name], column) in taken:
            column += 1
        taken.add((rows[name], column))
        columns[name] = column
    return columns


def tracks(
    inputs: Mapping[str, Sequence[str]], rows: Mapping[str, int], columns: Mapping[str, int]
) -> dict[tuple[str, str], tuple[int, int]]:
    """(column, track) of every edge that must go round other nodes: down the gutter on the column's left, tracks counted from 1.

    Edges to the nearest rows take the tracks next to the column, then those from the highest rows, so that few cross.
    """
    taken = {(rows[name], columns[name]) for name in inputs}
    long = [
        (before, name)
        for name in inputs
        for before in inputs[name]
        if rows[name] - rows[before] > 1
        and (columns[before] != columns[name] or any((row, columns[name]) in taken for row in range(rows[before] + 1, rows[name])))
    ]
    used: dict[int, int] = {}
    made: dict[tuple[str, str], tuple[int, int]] = {}
    for before, name in sorted(long, key=lambda edge: (rows[edge[1]], -columns[edge[0]], rows[edge[0]])):
        lane = max(columns[before], columns[name])
        used[lane] = used.get(lane, 0) + 1
        made[before, name] = lane, used[lane]
    return made


def column_places(columns: Mapping[str, int], detours: Mapping[tuple[str, str], tuple[int, int]]) -> list[int]:
    """The left edge of every column, each gutter as wide as its tracks need."""
    lefts: list[int] = []
    for column in range(max(columns.values(), default=0) + 1):
        most = max((track for lane, track in detours.values() if lane == column), default=0)
        lefts.append((lefts[-1] + NODE_WIDTH + 20 if lefts else TOP) + (most + 2) * TRACK)
    return lefts


def _node(result: Result, inputs: tuple[str, ...], row: int, column: int, lefts: Sequence[int]) -> Node:
    files, size = len(result.manifest.files), formatting.size(result.bytes)
    return Node(PRODUCER[result.folder], result.folder, inputs, result.identity, files, size, row, column, lefts[column], TOP + row * ROW)


def _path(source: Node, target: Node, detour: tuple[int, int] | None) -> str:
    if detour:
        return _detour(source, target, *detour)
    x1, y1 = source.x + NODE_WIDTH / 2, source.y + NODE_HEIGHT
    x2, y2 = target.x + NODE_WIDTH / 2, target.y - 4
    middle = (y1 + y2) / 2
    return f"M{x1:.1f} {y1:.1f}C{x1:.1f} {middle:.1f} {x2:.1f} {middle:.1f} {x2:.1f} {y2:.1f}"


def _detour(source: Node, target: Node, lane: int, track: int) -> str:
    """Down the gutter on the left of column `lane`, each edge on a track of its own."""
    left = target.x if target.column == lane else source.x
    x = left - 8 - track * TRACK
    x1, out = _side(source, lane)
    x2, back = _side(target, lane)
    y1, y2 = source.y + NODE_HEIGHT / 2 + track, target.y + NODE_HEIGHT / 2
    bend = 6
    return (
        f"M{x1:.1f} {y1:.1f}H{x - out * bend:.1f}Q{x:.1f} {y1:.1f} {x:.1f} {y1 + bend:.1f}"
        f"V{y2 - bend:.1f}Q{x:.1f} {y2:.1f} {x - back * bend:.1f} {y2:.1f}H{x2 + back * 4:.1f}"
    )


def _side(node: Node, lane: int) -> tuple[float, int]:
    """The side of a node that faces the gutter, and the direction from it to the gutter (-1 left, 1 right)."""
    return (node.x, -1) if node.column == lane else (node.x + NODE_WIDTH, 1)
