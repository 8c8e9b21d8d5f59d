"""What a command works on: one experiment, or those that `params.yaml` selects."""

from collections.abc import Sequence

from compiler.diagnostics import Diagnostic, Faults
from compiler.pipeline import Compiled, compile_experiment
from compiler.project import Project
from compiler.selection import idle_gate


def compile_selected(project: Project, name: str | None, overrides: Sequence[str]) -> tuple[Compiled, ...]:
    """Compile in memory and collect the faults of all experiments. Raises Faults."""
    if name is not None:
        return (compile_experiment(project, name, overrides),)
    compiled: list[Compiled] = []
    faults: list[Diagnostic] = []
    for selected in project.selection.experiments:
        try:
            compiled.append(compile_experiment(project, selected))
        except Faults as found:
            faults.extend(found.diagnostics)
    faults = faults or idle_gate(project.root, project.selection, [one.spec for one in compiled])
    if faults:
        raise Faults(faults)
    return tuple(compiled)
