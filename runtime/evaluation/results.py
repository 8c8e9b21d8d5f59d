"""Reading what `compare` compares: the selection, each experiment's settings, records and metrics, baseline files."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from runtime.evaluation.comparison import REASONS, Scores, Settings, Tolerance, direction
from runtime.faults import StageFault

PARAMS = Path("params.yaml")
EXPERIMENTS = Path("experiments")
BASELINES = Path("baselines")
MODEL_METRICS = ("perplexity", "bits_per_byte", "answer_loss", "exact_match")
CORE_METRICS = ("answer_loss", "answer_bits_per_byte")


@dataclass(frozen=True)
class Selection:
    """What the root `params.yaml` selects."""

    experiments: tuple[str, ...]
    baseline: str | None
    gate: bool


def selection(path: Path = PARAMS) -> Selection:
    """The selection of `params.yaml`. Raises StageFault that names the key."""
    content = _mapping(_yaml(path, "run `python -m runtime compare` in the project root"), path)
    names, baseline, gate = content.get("experiments"), content.get("baseline"), content.get("gate", False)
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise StageFault(f"experiments is {names!r}", where=str(path), fix="write a list of names, `experiments: [demo]`")
    if not isinstance(baseline, str | None):
        raise StageFault(f"baseline is {baseline!r}", where=str(path), fix="write a name, in quotes if it looks like a number, or null")
    if not isinstance(gate, bool):
        raise StageFault(f"gate is {gate!r}", where=str(path), fix="write true or false")
    return Selection(tuple(names), baseline, gate)


def settings(name: str, chosen: Selection) -> Settings:
    """How an experiment is judged: its `config/compare.yaml`, with the root's baseline where it names none.

    The gate holds where the root or the experiment asks for it. Raises StageFault for an unknown metric or limit.
    """
    path = EXPERIMENTS / name / "config" / "compare.yaml"
    content = _mapping(_yaml(path, "run `mindspec compile`") if path.exists() else {}, path)
    limits = _mapping(content.get("tolerance") or {}, path, "tolerance")
    tolerance = {metric: _tolerance(metric, limit, path) for metric, limit in limits.items()}
    return Settings(content.get("baseline") or chosen.baseline, bool(content.get("gate")) or chosen.gate, tolerance)


def _tolerance(metric: str, limit: Any, path: Path) -> Tolerance:
    try:
        direction(metric)
    except KeyError:
        raise StageFault(
            f"tolerance of an unknown metric {metric!r}", where=str(path), fix=f"known are {', '.join(MODEL_METRICS)}"
        ) from None
    content = _mapping(limit, path, f"tolerance.{metric}")
    bad = [
        key
        for key, value in content.items()
        if key not in ("relative", "absolute") or not (value is None or (_number(value) and value >= 0))
    ]
    if bad:
        raise StageFault(
            f"tolerance.{metric}.{bad[0]} is {content[bad[0]]!r}",
            where=str(path),
            fix="give `relative` or `absolute`, a number of at least 0",
        )
    return Tolerance(content.get("relative"), content.get("absolute"))


def experiment(name: str) -> Scores:
    """The scores of an experiment of this project. Raises StageFault that names the file which is missing or wrong."""
    folder = EXPERIMENTS / name
    metrics, record = folder / "metrics" / "evaluate.json", folder / "record.json"
    versions = _mapping(_json(record, _how_to_run(name)), record)
    return scores(name, _mapping(_json(metrics, _how_to_run(name)), metrics), versions, metrics)


def baseline(name: str) -> Scores:
    """The scores of `baselines/<name>.json` if there is one, else of the experiment of that name."""
    path = BASELINES / f"{name}.json"
    if not path.exists():
        if (EXPERIMENTS / name).is_dir():
            return experiment(name)
        raise StageFault(
            f"baseline {name!r} is neither an experiment nor {path}",
            where=str(PARAMS),
            fix="make one with `mindspec baseline set`, or name another",
        )
    content = _mapping(_json(path, "make it with `mindspec baseline set`"), path)
    metrics, record = (_mapping(content.get(key), path, key) for key in ("evaluate", "record"))
    return scores(name, metrics, record, path)


def scores(name: str, metrics: Mapping[str, Any], record: Mapping[str, Any], path: Path) -> Scores:
    """Metrics and record as Scores. Raises StageFault for a value that is neither a number nor null with a reason."""
    found: dict[str, tuple[Any, str]] = {}
    for model, prefix in (("merged", ""), ("base", "base.")):
        part = _mapping(metrics.get(model), path, model)
        found |= {prefix + key: (part[key], part.get(f"{key}_reason", "")) for key in MODEL_METRICS if key in part}
        found |= _core(part.get("core"), path) if model == "merged" else {}
    values = {key: _checked(value, f"metric {key}", path) for key, (value, _) in found.items()}
    if not values:
        raise StageFault("no metric that can be compared", where=str(path), fix="run the stage again: dvc repro evaluate")
    reasons = {key: reason for key, (value, reason) in found.items() if value is None}
    identity = {key: metrics.get(key) for key in REASONS}
    return Scores(name, values, identity, reasons, record.get("data_version"), record.get("model_version"))


def _core(core: Any, path: Path) -> dict[str, tuple[Any, str]]:
    if core is None:
        return {}
    content = _mapping(core, path, "core")
    found = {f"core.{key}": (content[key], content.get(f"{key}_reason", "")) for key in CORE_METRICS if key in content}
    groups = _mapping(content.get("groups") or {}, path, "core.groups")
    parts = {group: _mapping(part, path, f"core.groups.{group}") for group, part in groups.items()}
    return found | {
        f"core.exact_match.{group}": (part["exact_match"], part.get("exact_match_reason", ""))
        for group, part in parts.items()
        if "exact_match" in part
    }


def _checked(value: Any, what: str, path: Path) -> float | None:
    if value is None or _number(value):
        return value
    raise StageFault(
        f"{what} is {value!r}",
        where=str(path),
        reason="it is not a number, so it can be neither compared nor drawn",
        fix="delete the file and run the evaluate stage again",
    )


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _how_to_run(name: str) -> str:
    return f"run the experiment first: mindspec run {name}"


def _json(path: Path, fix: str) -> Any:
    try:
        return json.loads(path.read_bytes(), parse_constant=_refuse_constant)
    except FileNotFoundError:
        raise StageFault(f"{path} does not exist", where=str(path), fix=fix) from None
    except (ValueError, RecursionError) as error:
        raise StageFault(f"not JSON: {error}", where=str(path), fix="delete the file and run its stage again") from None


def _refuse_constant(text: str) -> Any:
    raise ValueError(f"{text} is not a JSON number")


def _yaml(path: Path, fix: str) -> Any:
    try:
        return yaml.safe_load(path.read_text("utf-8-sig"))
    except FileNotFoundError:
        raise StageFault(f"{path} does not exist", where=str(path), fix=fix) from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # ValueError: not UTF-8, or a date that is none
        raise StageFault(f"not YAML: {error}", where=str(path), fix="mend the file") from None


def _mapping(content: Any, path: Path, what: str = "") -> Mapping[str, Any]:
    if isinstance(content, dict):
        return content
    raise StageFault(f"{what or 'the file'} is not a mapping", where=str(path), fix="delete the file and make it again")
