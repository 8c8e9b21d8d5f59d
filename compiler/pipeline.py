"""The compiler as the list of its steps: text -> SourceTree -> Spec -> Experiment -> Plan -> StageGraph -> {path: bytes}."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from compiler.diagnostics import Diagnostic, Faults
from compiler.emit.files import experiment_files, root_file
from compiler.emit.write import remove_stale, write_files
from compiler.graph import StageGraph, verify
from compiler.lower.graph import lower
from compiler.lower.selection import lower_selection
from compiler.parse import Incomplete, load
from compiler.planning.plan import plan
from compiler.project import Project
from compiler.resolve.experiment import resolve
from compiler.source import SourceTree
from compiler.spec import Spec
from compiler.validate import findings, review


@dataclass(frozen=True)
class Compiled:
    """`tree`: what was written, and where; `files`: path relative to the project root -> content.

    `warnings`: what does not keep it from being compiled.
    """

    tree: SourceTree
    spec: Spec
    graph: StageGraph
    files: Mapping[str, bytes]
    warnings: tuple[Diagnostic, ...] = ()


def compile_experiment(project: Project, name: str, overrides: Sequence[str] = (), *, rename: str | None = None) -> Compiled:
    """Compile one experiment in memory; `rename` gives a sweep point its own name. Raises Faults."""
    try:
        tree = load(project.root, name, overrides)
    except Incomplete as found:
        raise Faults([*found.diagnostics, *findings(found.tree, found.refused)]) from None
    return compile_tree(project, tree, rename=rename)


def compile_tree(project: Project, tree: SourceTree, *, rename: str | None = None) -> Compiled:
    """Compile what was composed: the steps behind parsing, for which only `tree` and the project's files count. Raises Faults."""
    reviewed = review(tree)
    spec = reviewed.spec
    if rename is not None:
        spec = spec.model_copy(update={"name": rename})
    experiment = resolve(spec, project)
    graph = verify(lower(plan(experiment), project))
    return Compiled(tree, spec, graph, experiment_files(graph), reviewed.warnings)


def root_files(project: Project, compiled: Sequence[Compiled]) -> dict[str, bytes]:
    """The root `dvc.yaml`: a function of `params.yaml` and the specs, never of what was compiled before."""
    return root_file(lower_selection(project, [one.spec for one in compiled]))


def write(project: Project, compiled: Sequence[Compiled], root: Mapping[str, bytes] | None = None) -> tuple[str, ...]:
    """Write what differs and delete configuration that no stage reads any more; returns the paths that changed."""
    changed: tuple[str, ...] = ()
    for one in compiled:
        changed += write_files(project.root, one.files)
        changed += remove_stale(project.root, f"experiments/{one.spec.name}/config", "*.yaml", one.files)
    return changed + write_files(project.root, root or {})
