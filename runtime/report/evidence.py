"""Everything the report is made from, read once: metrics, configurations, manifests, curves, predictions."""

import csv
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn, cast

from runtime.compiled import JSON, read_yaml
from runtime.contracts.registry import BEFORE_REPORT
from runtime.contracts.report import Report
from runtime.faults import InputFault
from runtime.manifest import NAME, Manifest, sha256_of
from runtime.stage import Stage

PRODUCER = {contract.output: contract.name for contract in BEFORE_REPORT}
CURVES = {"pretrain": "plots/pretrain.csv", "finetune": "plots/finetune.csv"}
PREDICTIONS, DROPPED, CLUSTERS = "predictions.jsonl", "dropped.jsonl", "clusters.jsonl"


@dataclass(frozen=True)
class Quantity:
    """A measured number. `value` None with a `reason`: measured, but not finite; None without: not measured."""

    value: float | int | None = None
    reason: str | None = None

    def __bool__(self) -> bool:
        return self.value is not None


@dataclass(frozen=True)
class Curve:
    """One training, step by step; a cell that is empty or not finite is None."""

    step: tuple[int, ...]
    series: Mapping[str, tuple[float | None, ...]]


@dataclass(frozen=True)
class Result:
    """A result folder. `identity`: SHA-256 of its manifest, which holds the size and SHA-256 of every file."""

    folder: str
    manifest: Manifest
    identity: str

    @property
    def bytes(self) -> int:
        """Size of all files, the manifest left out."""
        return sum(entry.bytes for entry in self.manifest.files)

    def hashes(self, suffix: str = "") -> dict[str, str]:
        """SHA-256 of each file whose name ends in `suffix`."""
        return {entry.path: entry.sha256 for entry in self.manifest.files if entry.path.endswith(suffix)}


@dataclass(frozen=True)
class Evidence:
    """What an experiment left behind; every mapping is keyed by the stage's name."""

    experiment: str
    presentation: JSON
    environment: JSON
    metrics: Mapping[str, JSON]
    configs: Mapping[str, JSON]
    results: Mapping[str, Result]
    curves: Mapping[str, Curve]
    predictions: tuple[JSON, ...]
    dropped: Mapping[str, tuple[JSON, ...]] = field(default_factory=dict[str, tuple[JSON, ...]])
    clusters: tuple[JSON, ...] = ()

    @property
    def data_stages(self) -> list[str]:
        """The stages of the data that have metrics, in the order of the main job."""
        return [one.name for one in BEFORE_REPORT if one.program.startswith("runtime.data.") and one.name in self.metrics]

    def quantity(self, stage: str, *path: str) -> Quantity:
        """A number of `metrics/<stage>.json`, by its path of keys."""
        return quantity(self.metrics.get(stage, {}), *path)

    def metric(self, stage: str, *path: str) -> Any:
        """Any value of `metrics/<stage>.json`; None where there is none."""
        return value_at(self.metrics.get(stage, {}), *path)

    def setting(self, stage: str, *path: str) -> Any:
        """A value of `config/<stage>.yaml`; None where there is none."""
        return value_at(self.configs.get(stage, {}), *path)

    def fact(self, stage: str, *path: str) -> Any:
        """A fact of the manifest of a stage's result; None where there is none."""
        result = self.results.get(stage)
        return value_at(result.manifest.facts, *path) if result else None


def gather(stage: Stage[Report]) -> Evidence:
    """Read all of it. Raises InputFault for a file that is not what its stage writes; what is absent stays absent.

    What an optional stage left behind that the experiment no longer has is not read: no dependency says that it is there.
    """
    stages = [one for one in BEFORE_REPORT if not one.optional or one.name in stage.parameters.optional]
    folders = {one.name: one.output for one in stages if Path(one.output).exists()}
    metrics = {one.name: stage.file(one.metrics_file) for one in stages}
    configs = {one.name: stage.file(one.config) for one in stages}
    curves = {name: stage.file(path) for name, path in CURVES.items() if path in stage.contract.reads_plots}
    results = {name: Result(folder, stage.manifest(folder), sha256_of(Path(folder) / NAME)) for name, folder in folders.items()}
    return Evidence(
        experiment=stage.parameters.experiment,
        presentation=read_yaml(stage.file("presentation.yaml")),
        environment=read_yaml(stage.file("config/environment.yaml")),
        metrics={name: read_metrics(path) for name, path in metrics.items() if path.exists()},
        configs={name: read_yaml(path) for name, path in configs.items() if path.exists()},
        results=results,
        curves={name: read_curve(path) for name, path in curves.items() if path.exists()},
        predictions=read_predictions(stage.input("evaluation") / PREDICTIONS) if "evaluate" in folders else (),
        dropped={name: read_examples(result, DROPPED) for name, result in results.items() if DROPPED in result.hashes()},
        clusters=read_examples(results["dedup"], CLUSTERS) if "dedup" in results else (),
    )


def read_metrics(path: Path) -> JSON:
    """Read a metrics file as strict JSON. Raises InputFault (a bare NaN is not JSON)."""
    try:
        content = json.loads(path.read_bytes(), parse_constant=_refuse_constant)
    except ValueError as error:
        raise InputFault(f"not strict JSON: {error}", where=str(path), fix="delete the file and run `dvc repro`") from None
    if not isinstance(content, dict):
        raise InputFault("not a JSON object", where=str(path), fix="delete the file and run `dvc repro`")
    return cast(JSON, content)


def read_curve(path: Path) -> Curve:
    """Read a CSV file whose first column is `step`. Raises InputFault with the line that cannot be read."""
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        names = [name for name in reader.fieldnames or [] if name != "step"]
        steps: list[int] = []
        series: dict[str, list[float | None]] = {name: [] for name in names}
        for row in reader:
            try:
                steps.append(int(row["step"]))
                for name in names:
                    series[name].append(_finite(row[name]))
            except (KeyError, TypeError, ValueError) as error:
                raise InputFault(
                    f"not a row of numbers: {error}", where=f"{path}:{reader.line_num}", fix="delete the file and run `dvc repro`"
                ) from None
    return Curve(tuple(steps), {name: tuple(values) for name, values in series.items()})


def read_predictions(path: Path) -> tuple[JSON, ...]:
    """Read one case a line; none where the core suite was not run. Raises InputFault for a line that is not a case."""
    if not path.exists():
        return ()
    lines = enumerate(path.read_bytes().split(b"\n"), 1)
    return tuple(_case(line, f"{path}:{number}") for number, line in lines if line.strip())


def read_examples(result: Result, name: str) -> tuple[JSON, ...]:
    """The rows of a small file of a result folder, whose other files stay unread. Raises InputFault for one that was changed."""
    path, wanted = Path(result.folder) / name, result.hashes().get(name)
    if wanted is None:
        return ()
    if not path.exists() or sha256_of(path) != wanted:
        raise InputFault("not what its stage wrote", where=str(path), fix="delete the folder and run `dvc repro`")
    return tuple(json.loads(line) for line in path.read_bytes().splitlines())


def _case(line: bytes, where: str) -> JSON:
    try:
        case = json.loads(line)
    except ValueError as error:
        raise InputFault(f"not JSON: {error}", where=where, fix="delete the folder and run `dvc repro`") from None
    if not isinstance(case, dict) or not {"id", "group"} <= case.keys():
        raise InputFault("not a case with an id and a group", where=where, fix="delete the folder and run `dvc repro`")
    return cast(JSON, case)


def value_at(tree: Any, *path: str) -> Any:
    """The value at a path of keys; None where there is none."""
    for key in path:
        if not isinstance(tree, Mapping):
            return None
        tree = cast(Mapping[str, Any], tree).get(key)
    return tree


def quantity(tree: Any, *path: str) -> Quantity:
    """The number at a path of keys, with the reason beside it (`<key>_reason`) where it is null."""
    value = value_at(tree, *path)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return Quantity(value)
    reason = value_at(tree, *path[:-1], f"{path[-1]}_reason")
    return Quantity(None, str(reason) if reason else None)


def _finite(cell: str) -> float | None:
    value = float(cell) if cell else math.nan
    return value if math.isfinite(value) else None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")
