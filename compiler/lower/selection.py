"""What the root stages `compare` and `gate` read: the selected experiments and what they are compared with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from compiler.lower.present import present
from compiler.project import Project
from compiler.spec import Spec

COMPARE = "runtime.evaluation.compare"
GATE = "runtime.evaluation.gate"


@dataclass(frozen=True)
class RootGraph:
    """Dependencies of `compare` and, where there is a gate, of `gate`; files that `dvc metrics|plots|params` show at the root.

    plots: file -> how it is drawn.
    """

    compare: tuple[str, ...]
    gate: tuple[str, ...] | None
    metrics: tuple[str, ...]
    plots: Mapping[str, Mapping[str, str]]
    params: tuple[str, ...]


def lower_selection(project: Project, specs: Sequence[Spec]) -> RootGraph:
    """The gate is there when `params.yaml` or one of the selected experiments asks for it."""
    folders = [f"experiments/{spec.name}" for spec in specs]
    policies = [f"{folder}/config/compare.yaml" for folder in folders]
    programs = project.programs()
    gated = project.selection.gate or any(spec.compare.gate for spec in specs)
    return RootGraph(
        compare=(*programs.files(COMPARE), *policies, *_results(folders), *_baselines(project, specs)),
        gate=programs.files(GATE) if gated else None,
        metrics=tuple(f"experiments/{spec.name}/{one.metrics_file}" for spec in specs for one in present(spec) if one.metrics),
        plots={f"experiments/{spec.name}/{plot}": one.drawn(plot) for spec in specs for one in present(spec) for plot in one.plots},
        params=tuple(f"{folder}/params.json" for folder in folders),
    )


def _results(folders: Sequence[str]) -> list[str]:
    return [f"{folder}/{path}" for folder in folders for path in ("record.json", "metrics/evaluate.json")]


def _baselines(project: Project, specs: Sequence[Spec]) -> list[str]:
    """A baseline is a file of `baselines/`, or the record and metrics of an experiment that is not selected itself."""
    named = {project.selection.baseline, *(spec.compare.baseline for spec in specs)} - {None}
    names = sorted(str(name) for name in named)
    files = [f"baselines/{name}.json" for name in names if (project.root / "baselines" / f"{name}.json").is_file()]
    selected = {spec.name for spec in specs}
    others = [name for name in names if f"baselines/{name}.json" not in files and name not in selected]
    return [*files, *_results([f"experiments/{name}" for name in others])]
