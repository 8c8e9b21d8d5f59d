"""StageGraph -> {path: bytes}: the files of one experiment, relative to the project root."""

from typing import Any

from compiler.emit.yaml_text import to_json, to_yaml
from compiler.graph import StageGraph, StageNode
from compiler.lower.selection import RootGraph

NOTICE = "Written by `mindspec compile`; change the spec instead."
PLACEMENT_NOTICE = "Where and how fast: no stage depends on this file. " + NOTICE
APART_NOTICE = "For mindformers itself, started in the folder above: no stage reads this file. " + NOTICE
PRESENTATION_NOTICE = "What a reader sees: only the report depends on this file. " + NOTICE


def experiment_files(graph: StageGraph) -> dict[str, bytes]:
    """Path -> content of everything that is compiled for one experiment."""
    files = {
        "dvc.yaml": to_yaml({"stages": {node.name: _stage(node) for node in graph.stages}}, NOTICE),
        "params.json": to_json(_params(graph)),
        "config/environment.yaml": to_yaml(graph.environment, "Locked versions. " + NOTICE),
        "config/template.yaml": to_yaml(graph.template, NOTICE),
        "config/compare.yaml": to_yaml(graph.compare, NOTICE),
        "presentation.yaml": to_yaml(graph.presentation, PRESENTATION_NOTICE),
        "placement.yaml": to_yaml(graph.placement, PLACEMENT_NOTICE),
    }
    files |= {node.contract.config: to_yaml(node.config, NOTICE) for node in graph.stages}
    files |= {f"config/mindformers-{name}.yaml": to_yaml(content, APART_NOTICE) for name, content in graph.apart.items()}
    return {f"experiments/{graph.name}/{path}": content for path, content in files.items()}


def _stage(node: StageNode) -> dict[str, Any]:
    contract = node.contract
    stage: dict[str, Any] = {"cmd": f"python -m runtime {node.name}", "deps": list(node.dependencies), "params": _tracked(node)}
    # DVC keeps no run-cache entry for a stage with an uncached output that is neither metric nor plot: the report, seconds of
    # work, is written again where other stages are restored.
    stage["outs"] = [contract.output, *({path: {"cache": False}} for path in contract.records)]
    if contract.metrics:
        stage["metrics"] = [{contract.metrics_file: {"cache": False}}]
    if contract.plots:
        stage["plots"] = [{path: {"cache": False, **contract.drawn(path)}} for path in contract.plots]
    return stage


def _tracked(node: StageNode) -> list[dict[str, list[str]]]:
    """Few parameters, for `dvc params diff`; changes are detected through the config file."""
    environment = {"config/environment.yaml": sorted(node.contract.environment)}
    return [{"params.json": list(node.tracked)}, environment] if node.tracked else [environment]


def _params(graph: StageGraph) -> dict[str, Any]:
    params: dict[str, Any] = {}
    for node in graph.stages:
        for name, value in node.tracked.items():
            _put(params, name.split("."), value)
    return params


def _put(tree: dict[str, Any], path: list[str], value: Any) -> None:
    *around, last = path
    for part in around:
        tree = tree.setdefault(part, {})
    tree[last] = value


def root_file(graph: RootGraph) -> dict[str, bytes]:
    """The root `dvc.yaml`: compare, perhaps gate, and what `dvc metrics|plots|params` show."""
    stages: dict[str, Any] = {
        "compare": {
            "cmd": "python -m runtime compare",
            "deps": list(graph.compare),
            "params": [{"params.yaml": ["baseline", "experiments", "gate"]}],
            "outs": ["comparison.html", {"comparison.json": {"cache": False}}],
        }
    }
    if graph.gate is not None:
        stages["gate"] = {"cmd": "python -m runtime gate", "deps": [*graph.gate, "comparison.json"]}
    plots = [{path: dict(axes)} for path, axes in graph.plots.items()]
    return {"dvc.yaml": to_yaml({"stages": stages, "metrics": list(graph.metrics), "plots": plots, "params": list(graph.params)}, NOTICE)}
