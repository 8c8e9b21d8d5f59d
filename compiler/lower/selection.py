"""What the root stages `compare` and `gate` read, from the selection in `params.yaml`."""

from collections.abc import Mapping
from typing import Any

from compiler.project import Project
from runtime.contracts.registry import CONTRACTS

COMPARE = "runtime.evaluation.compare"
GATE = "runtime.evaluation.gate"


def comparison_stage(project: Project) -> Mapping[str, Any]:
    """Dependencies of `compare` and `gate`, and the files that `dvc metrics|plots|params` show at the root."""
    selection = project.selection
    compared = [*selection.experiments, *_baseline_experiment(project)]
    results = [f"experiments/{name}/{path}" for name in compared for path in ("record.json", "metrics/evaluate.json")]
    policies = [f"experiments/{name}/config/compare.yaml" for name in selection.experiments]
    return {
        "deps": [*project.code_of(COMPARE), *results, *policies, *_baseline_file(project)],
        "gate": list(project.code_of(GATE)),
        "metrics": [contract.name for contract in CONTRACTS if contract.metrics],
        "plots": [plot for contract in CONTRACTS for plot in contract.plots],
    }


def _baseline_file(project: Project) -> list[str]:
    path = f"baselines/{project.selection.baseline}.json"
    return [path] if project.selection.baseline and (project.root / path).is_file() else []


def _baseline_experiment(project: Project) -> list[str]:
    name = project.selection.baseline
    return [name] if name and not _baseline_file(project) and name not in project.selection.experiments else []
