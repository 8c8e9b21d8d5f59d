"""The graph that DVC will run: stages, what they read, what they write. Verified after lowering."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from runtime.contracts.base import Contract


@dataclass(frozen=True)
class StageNode:
    """One DVC stage; all paths are relative to the experiment folder.

    config: content of `config/<name>.yaml`; tracked: names listed under `params:` of `params.json`.
    """

    contract: Contract
    dependencies: tuple[str, ...]
    config: Mapping[str, Any]
    tracked: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The name of the DVC stage."""
        return self.contract.name

    @property
    def committed(self) -> tuple[str, ...]:
        """Results that are committed to Git instead of cached."""
        return self.contract.records

    @property
    def results(self) -> tuple[str, ...]:
        """Everything that the stage writes."""
        metrics = (self.contract.metrics_file,) if self.contract.metrics else ()
        return (self.contract.output, *self.contract.records, *self.contract.plots, *metrics)


@dataclass(frozen=True)
class StageGraph:
    """The stages of one experiment and the further files that they read.

    `apart`: mindformers files that no stage reads, by name, for people who run mindformers themselves.
    """

    name: str
    stages: tuple[StageNode, ...]
    environment: Mapping[str, str]
    template: Mapping[str, Any]
    compare: Mapping[str, Any]
    presentation: Mapping[str, Any]
    placement: Mapping[str, Any]
    apart: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])


class BrokenGraph(AssertionError):
    """The lowering made a graph that cannot run: our fault, never the user's."""


def verify(graph: StageGraph) -> StageGraph:
    """Return the graph. Raises BrokenGraph unless every result has one producer, before its readers, and no overlap."""
    producers: dict[str, str] = {}
    compiled = {
        "config/template.yaml",
        "config/environment.yaml",
        "presentation.yaml",
        *(f"config/{node.name}.yaml" for node in graph.stages),
    }
    for node in graph.stages:
        for path in node.dependencies:
            if not path.startswith("../../") and path not in compiled and path not in producers:
                raise BrokenGraph(f"{node.name} reads {path}, which no earlier stage writes")
        for path in node.results:
            clash = next((other for other in producers if _overlap(path, other)), None)
            if clash:
                raise BrokenGraph(f"{node.name} writes {path} and {producers[clash]} writes {clash}")
            producers[path] = node.name
    return graph


def _overlap(one: str, other: str) -> bool:
    return one == other or one.startswith(f"{other}/") or other.startswith(f"{one}/")
