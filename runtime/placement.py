"""Where and how fast a stage runs. Nothing here may change a result, so no stage depends on it."""

import re
from dataclasses import field, fields
from pathlib import Path
from typing import Literal

from pydantic.dataclasses import dataclass

from runtime import compiled
from runtime.faults import StageFault

MEMORY = re.compile(r"[1-9][0-9]*GB")


@dataclass(frozen=True, config={"extra": "forbid"})
class Requests:
    """Where and how a model is asked. `base_url`: its address, up to /chat/completions; None for a checkpoint.

    `api_key_env`: the environment variable that holds the key; None sends none.
    `concurrency`: requests under way at once; rates are per minute, None for no limit; `retries`: repeats of one that failed.
    """

    base_url: str | None = None
    api_key_env: str | None = None
    concurrency: int = 4
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    retries: int = 6
    timeout_seconds: float = 120.0

    @property
    def address(self) -> str:
        """The address without an end that is empty."""
        return (self.base_url or "").rstrip("/")


@dataclass(frozen=True, config={"extra": "forbid"})
class Placement:
    """`workers`: processes of a data stage; `threads`: threads of a numerical library; `log_every`: steps a log line.

    `engine`: what runs the tasks of a data stage: processes of this machine, or ray; `ray_address`: of a cluster, None starts one here.
    `synthetic`: recipe -> `generator`, and `score` where another model judges, -> how it is asked.
    `max_device_memory`: what MindSpore may take of a device, as it writes it: "59GB" is 59 * 2**30 bytes; None leaves it alone.
    """

    workers: int = 1
    threads: int = 2
    log_every: int = 10
    device_ids: tuple[int, ...] = (0,)
    max_device_memory: str | None = None
    engine: Literal["processes", "ray"] = "processes"
    ray_address: str | None = None
    synthetic: dict[str, dict[str, Requests]] = field(default_factory=dict)


def read(path: Path) -> Placement:
    """Read `placement.yaml`; without the file, one worker, two threads. Raises StageFault for anything that is no placement."""
    if not path.exists():
        return Placement()
    placement: Placement = compiled.validated(Placement, compiled.read_yaml(path), path.name)
    wrong = [one.name for one in fields(Placement) if one.type is int and getattr(placement, one.name) < 1]
    wrong += [] if placement.device_ids and min(placement.device_ids) >= 0 else ["device_ids"]
    bound = placement.max_device_memory
    wrong += [] if bound is None or MEMORY.fullmatch(bound) else ["max_device_memory"]
    if wrong:
        raise StageFault(f"{', '.join(wrong)}: not in range", where=path.name, fix=compiled.FIX)
    return placement
