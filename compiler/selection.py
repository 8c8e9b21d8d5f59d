"""The selection that people write into the root `params.yaml`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import yaml

from compiler.diagnostics import Diagnostic, Faults
from compiler.source import Place

FILE = "params.yaml"
KNOWN = {
    "experiments": (list, "a list of names, such as [demo]"),
    "baseline": ((str, type(None)), "a name or null"),
    "gate": (bool, "true or false"),
}


@dataclass(frozen=True)
class Selection:
    """Experiments by name, the baseline they are compared with, whether a regression fails the run."""

    experiments: tuple[str, ...]
    baseline: str | None = None
    gate: bool = False


def parse_selection(text: str) -> Selection:
    """Raises Faults that point at every key that is wrong."""
    try:
        content: Any = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise Faults([_fault(text, "", f"not YAML: {str(error).splitlines()[0]}", "mend it")]) from None
    if not isinstance(content, dict):
        raise Faults([_fault(text, "", "not a mapping", "write `experiments: [demo]`")])
    values = cast(Mapping[str, Any], content)
    faults = [_fault(text, str(key), f"unknown key {key!r}", f"known are {', '.join(KNOWN)}") for key in values if key not in KNOWN]
    for key, (kind, wanted) in KNOWN.items():
        if key in values and not isinstance(values[key], kind):
            faults.append(_fault(text, key, f"{key} is {values[key]!r}", f"write {wanted}"))
    names = cast(list[Any], values.get("experiments") or [])
    if not faults and (not names or not all(isinstance(name, str) for name in names)):
        faults.append(_fault(text, "experiments", "no experiment is selected", "write `experiments: [demo]`"))
    if not faults and len(set(names)) < len(names):
        faults.append(_fault(text, "experiments", "an experiment is selected twice", "name each once"))
    if faults:
        raise Faults(faults)
    return Selection(tuple(names), values.get("baseline"), bool(values.get("gate", False)))


def _fault(text: str, key: str, message: str, fix: str) -> Diagnostic:
    lines = text.splitlines() or [""]
    found = next((number for number, line in enumerate(lines) if key and line.startswith(key)), 0)
    return Diagnostic("MS0022", message, Place(FILE, found + 1, 1, lines[found]), fix=fix)
