"""Where and how fast a stage runs. Nothing here may change a result, so no stage depends on it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from runtime.faults import StageFault


@dataclass(frozen=True)
class Placement:
    """`workers`: processes of a data stage; `threads`: threads of a numerical library; `log_every`: steps a log line."""

    workers: int = 1
    threads: int = 2
    log_every: int = 10
    device_ids: tuple[int, ...] = (0,)


def read(path: Path) -> Placement:
    """Read `placement.yaml`; without the file, one worker, two threads. Raises StageFault on unknown keys."""
    if not path.exists():
        return Placement()
    values: dict[str, Any] = yaml.safe_load(path.read_text("utf-8")) or {}
    unknown = sorted(set(values) - set(Placement.__dataclass_fields__))
    if unknown:
        raise StageFault(f"unknown keys {', '.join(unknown)}", where=path.name, fix="run `mindspec compile`, which writes this file")
    return Placement(**{**values, "device_ids": tuple(values.get("device_ids", (0,)))})
