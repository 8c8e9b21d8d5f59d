"""Spec -> Experiment: bring in the lock file and the template, and check that they fit."""

from compiler.diagnostics import Diagnostic, Faults
from compiler.experiment import Experiment
from compiler.project import Project
from compiler.resolve.template import template
from compiler.spec import Spec
from runtime.contracts.registry import CONTRACTS

# Releases that were published for each other, by the release notes of MindSpore Transformers.
MATCHING = {"1.9.0": ("2.9.0",)}


def resolve(spec: Spec, project: Project) -> Experiment:
    """Raises Faults where versions that the stages need are not locked, or are locked in a pair that does not match."""
    faults = [*_unlocked(project), *_mismatch(project)]
    if faults:
        raise Faults(faults)
    needed = {library for contract in CONTRACTS for library in contract.environment}
    locked = {library: _locked(project, library) for library in sorted(needed)}
    return Experiment(spec, template(spec, project.root), locked)


def _locked(project: Project, library: str) -> str:
    return project.python if library == "python" else project.locked[library]


def _unlocked(project: Project) -> list[Diagnostic]:
    needed = sorted({library for contract in CONTRACTS for library in contract.environment if library != "python"})
    return [
        Diagnostic("MS0026", f"{library} is not locked", project.lock_place(library), fix="add it to pyproject.toml and run `make lock`")
        for library in needed
        if library not in project.locked
    ]


def _mismatch(project: Project) -> list[Diagnostic]:
    mindformers, mindspore = project.locked.get("mindformers", ""), project.locked.get("mindspore", "")
    if not mindformers or not mindspore or mindspore in MATCHING.get(mindformers, ()):
        return []
    pairs = ", ".join(f"mindformers {one} + mindspore {other}" for one, others in MATCHING.items() for other in others)
    wanted = " or ".join(MATCHING.get(mindformers, ())) or "unknown to this version of mindspec"
    return [
        Diagnostic(
            "MS0023",
            f"mindformers {mindformers} goes with mindspore {wanted}, but mindspore {mindspore} is locked",
            project.lock_place("mindspore"),
            reason="pairs that were not released together fail on import, or train and export other numbers",
            fix=f"lock one of these pairs: {pairs}",
        )
    ]
