"""The selection that people write into the root `params.yaml`."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from compiler.diagnostics import Diagnostic, Faults
from compiler.parse import names
from compiler.parse.files import SpecFile, entry, read
from compiler.source import Place
from compiler.spec import Spec

FILE = "params.yaml"
KNOWN = {
    "experiments": (list, "a list of names, such as [demo]"),
    "baseline": ((str, type(None)), "a name or null"),
    "gate": (bool, "true or false"),
}
EXAMPLE = "write `experiments: [demo]`"


@dataclass(frozen=True)
class Selection:
    """Experiments by name, the baseline they are compared with, whether a regression fails the run."""

    experiments: tuple[str, ...]
    baseline: str | None = None
    gate: bool = False


def selection(root: Path) -> Selection:
    """The selection of the project at `root`. Raises Faults that point at every key that is wrong."""
    if not (root / FILE).exists():
        raise Faults([_fault(Place(FILE, 1, 1, ""), f"{FILE} does not exist", f"{EXAMPLE} into it")])
    file = read(root, root / FILE)
    if file.readable and file.node is None:
        raise Faults([_fault(file.place(0, 0), "the file holds no mapping", EXAMPLE)])
    faults = [*(replace(fault, code="MS0022") for fault in file.faults), *_keys(file)] or [*_experiments(file), *_baseline(file, root)]
    if faults:
        raise Faults(faults)
    values = file.values
    return Selection(tuple(values["experiments"]), values.get("baseline"), values.get("gate", False))


def idle_gate(root: Path, chosen: Selection, specs: Sequence[Spec]) -> list[Diagnostic]:
    """A gate that would pass whatever comes, since none of the selected experiments is compared with another one."""
    compared = [spec for spec in specs if (spec.compare.baseline or chosen.baseline) not in (None, spec.name)]
    if compared or not chosen.gate:
        return []
    file = read(root, root / FILE)
    return [_fault(_place(file, "gate"), "the gate has nothing to compare with", "name another baseline, or write `gate: false`")]


def _keys(file: SpecFile) -> list[Diagnostic]:
    unknown = [key for key in file.values if key not in KNOWN]
    faults = [_fault(_place(file, key), f"unknown key {key!r}", f"known are {', '.join(KNOWN)}") for key in unknown]
    for key, (kind, wanted) in KNOWN.items():
        if key in file.values and not isinstance(file.values[key], kind):
            faults.append(_fault(_place(file, key), f"{key} is {file.values[key]!r}", f"write {wanted}"))
    return faults


def _experiments(file: SpecFile) -> list[Diagnostic]:
    names: list[Any] = file.values.get("experiments") or []
    if not names or not all(isinstance(name, str) for name in names):
        return [_fault(_place(file, "experiments"), "no experiment is selected", EXAMPLE)]
    if len(set(names)) < len(names):
        return [_fault(_place(file, "experiments"), "an experiment is selected twice", "name each once")]
    return []


def _baseline(file: SpecFile, root: Path) -> list[Diagnostic]:
    """A baseline that is not there would stop `dvc repro` at its end."""
    name = file.values.get("baseline")
    if name is None or name in names(root) or name in {path.stem for path in (root / "baselines").glob("*.json")}:
        return []
    message = f"no experiment and no file of baselines/ is named {name}"
    return [_fault(_place(file, "baseline"), message, "make one with `mindspec baseline set`, or write null")]


def _place(file: SpecFile, key: str) -> Place:
    node = entry(file, key)
    return file.at(node) if node is not None else file.place(0, 0)


def _fault(place: Place, message: str, fix: str) -> Diagnostic:
    return Diagnostic("MS0022", message, place, fix=fix)
