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
from compiler.suggest import closest, did_you_mean
from compiler.wording import Said, listed, said

FILE = "params.yaml"
KNOWN = {
    "experiments": (list, said("a list of names, such as [demo]", "名称列表，例如 [demo]")),
    "baseline": ((str, type(None)), said("a name or null", "名称或 null")),
    "gate": (bool, said("true or false", "true 或 false")),
}
EXAMPLE = said("write `experiments: [demo]`", "请写 `experiments: [demo]`")


@dataclass(frozen=True)
class Selection:
    """Experiments by name, the baseline they are compared with, whether a regression fails the run."""

    experiments: tuple[str, ...]
    baseline: str | None = None
    gate: bool = False


def selection(root: Path) -> Selection:
    """The selection of the project at `root`. Raises Faults that point at every key that is wrong."""
    if not (root / FILE).exists():
        raise Faults(
            [_fault(Place(FILE, 1, 1, ""), said(f"{FILE} does not exist", f"{FILE} 不存在"), said(f"{EXAMPLE} into it", EXAMPLE.zh))]
        )
    file = read(root, root / FILE)
    if file.readable and file.node is None:
        raise Faults([_fault(file.place(0, 0), said("the file holds no mapping", "文件内容不是映射"), EXAMPLE)])
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
    message = said("the gate has nothing to compare with", "门禁没有可比较的对象")
    return [_fault(_place(file, "gate"), message, said("name another baseline, or write `gate: false`", "请另选基线，或写 `gate: false`"))]


def _keys(file: SpecFile) -> list[Diagnostic]:
    unknown = [key for key in file.values if key not in KNOWN]
    faults = [_fault(_place(file, key), said(f"unknown key {key!r}", f"未知的键 {key!r}"), _hint(key)) for key in unknown]
    for key, (kind, wanted) in KNOWN.items():
        if key in file.values and not isinstance(file.values[key], kind):
            faults.append(
                _fault(
                    _place(file, key),
                    said(f"{key} is {file.values[key]!r}", f"{key} 的值是 {file.values[key]!r}"),
                    said(f"write {wanted}", f"请写{wanted.zh}"),
                )
            )
    return faults


def _experiments(file: SpecFile) -> list[Diagnostic]:
    names: list[Any] = file.values.get("experiments") or []
    if not names or not all(isinstance(name, str) for name in names):
        return [_fault(_place(file, "experiments"), said("no experiment is selected", "没有选择任何实验"), EXAMPLE)]
    if len(set(names)) < len(names):
        return [
            _fault(
                _place(file, "experiments"),
                said("an experiment is selected twice", "同一实验被选了两次"),
                said("name each once", "每个实验只写一次"),
            )
        ]
    return []


def _baseline(file: SpecFile, root: Path) -> list[Diagnostic]:
    """A baseline that is not there would stop `dvc repro` at its end."""
    name = file.values.get("baseline")
    if name is None or name in names(root) or name in {path.stem for path in (root / "baselines").glob("*.json")}:
        return []
    message = said(f"no experiment and no file of baselines/ is named {name}", f"没有名为 {name} 的实验，baselines/ 中也没有该文件")
    fix = said("make one with `mindspec baseline set`, or write null", "请用 `mindspec baseline set` 建立一个，或写 null")
    return [_fault(_place(file, "baseline"), message, fix)]


def _place(file: SpecFile, key: str) -> Place:
    node = entry(file, key)
    return file.at(node) if node is not None else file.place(0, 0)


def _hint(key: str) -> Said:
    meant = closest(key, KNOWN)
    return did_you_mean(meant) if meant else said(f"known are {', '.join(KNOWN)}", f"可用的有：{listed(KNOWN).zh}")


def _fault(place: Place, message: Said, fix: Said) -> Diagnostic:
    return Diagnostic("MS0022", message, place, fix=fix)
