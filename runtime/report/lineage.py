"""Which result came from which: a layered graph of the stages, for `lineage.svg.j2` and the table beside it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from runtime.contracts.registry import BY_NAME
from runtime.report import formatting
from runtime.report.evidence import PRODUCER, Evidence

NODE_WIDTH, NODE_HEIGHT, ROW, GUTTER, TRACK, TOP = 176, 42, 64, 46, 7, 6
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
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]


def lineage(evidence: Evidence) -> Lineage:
    """Lay out the stages that have a result; those of other stages are left out."""
    names = tuple(evidence.results)
    inputs = {name: tuple(PRODUCER[folder] for folder in BY_NAME[name].inputs if PRODUCER.get(folder) in names) for name in names}
    rows = layers(inputs)
    columns = lanes(inputs, rows)
    nodes = {name: _node(evidence, name, inputs[name], rows[name], columns[name]) for name in names}
    width = GUTTER + (max(columns.values(), default=0) + 1) * (NODE_WIDTH + GUTTER)
    height = 2 * TOP + max(rows.values(), default=0) * ROW + NODE_HEIGHT
    return Lineage(width, height, tuple(nodes.values()), edges(nodes))


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


def _node(evidence: Evidence, name: str, inputs: tuple[str, ...], row: int, column: int) -> Node:
    result = evidence.results[name]
    x, y = GUTTER + column * (NODE_WIDTH + GUTTER), TOP + row * ROW
    return Node(name, result.folder, inputs, result.identity, len(result.manifest.files), formatting.size(result.bytes), row, column, x, y)


def edges(nodes: Mapping[str, Node]) -> tuple[Edge, ...]:
    """All edges: a short curve to the next row, a detour through the gutter where other nodes lie between."""
    taken = {(node.row, node.column) for node in nodes.values()}
    tracks: dict[int, int] = {}
    made: list[Edge] = []
    for target in nodes.values():
        for source in (nodes[name] for name in target.inputs):
            made.append(Edge(source.name, target.name, _edge(source, target, taken, tracks)))
    return tuple(made)


def _edge(source: Node, target: Node, taken: set[tuple[int, int]], tracks: dict[int, int]) -> str:
    between = any((row, source.column) in taken for row in range(source.row + 1, target.row))
    if target.row - source.row == 1 or (source.column == target.column and not between):
        return _direct(source, target)
    lane = max(source.column, target.column) if source.column != target.column else source.column
    track = tracks[lane] = tracks.get(lane, 0) + 1
    return _detour(source, target, lane, track)


def _direct(source: Node, target: Node) -> str:
    x1, y1 = source.x + NODE_WIDTH / 2, source.y + NODE_HEIGHT
    x2, y2 = target.x + NODE_WIDTH / 2, target.y - 4
    middle = (y1 + y2) / 2
    return f"M{x1:.1f} {y1:.1f}C{x1:.1f} {middle:.1f} {x2:.1f} {middle:.1f} {x2:.1f} {y2:.1f}"


def _detour(source: Node, target: Node, lane: int, track: int) -> str:
    """Down the gutter on the left of column `lane`, each edge on a track of its own."""
    x = GUTTER + lane * (NODE_WIDTH + GUTTER) - 5 - track * TRACK
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
