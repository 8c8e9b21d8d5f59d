"""Where and how fast a stage runs. Nothing here may change a result, so no stage depends on it."""

from dataclasses import fields
from pathlib import Path

from pydantic.dataclasses import dataclass

from runtime import compiled
from runtime.faults import StageFault


@dataclass(frozen=True, config={"extra": "forbid"})
class Placement:
    """`workers`: processes of a data stage; `threads`: threads of a numerical library; `log_every`: steps a log line."""

    workers: int = 1
    threads: int = 2
    log_every: int = 10
    device_ids: tuple[int, ...] = (0,)


def read(path: Path) -> Placement:
    """Read `placement.yaml`; without the file, one worker, two threads. Raises StageFault for anything that is no placement."""
    if not path.exists():
        return Placement()
    placement: Placement = compiled.validated(Placement, compiled.read_yaml(path), path.name)
    wrong = [one.name for one in fields(Placement) if one.name != "device_ids" and getattr(placement, one.name) < 1]
    wrong += [] if placement.device_ids and min(placement.device_ids) >= 0 else ["device_ids"]
    if wrong:
        raise StageFault(f"{', '.join(wrong)}: not in range", where=path.name, fix=compiled.FIX)
    return placement
