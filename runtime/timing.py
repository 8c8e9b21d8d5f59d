"""How long a stage took and how much memory, in `timings/`: such figures vary, so they never enter a result."""

import json
import resource
from pathlib import Path

from runtime import atomic

STATUS = Path("/proc/self/status")


def write(name: str, seconds: float) -> None:
    """Write `timings/NAME.json`: wall seconds, CPU seconds of this process and its workers, bytes of the largest of them."""
    own, workers = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    content = {
        "seconds": round(seconds, 3),
        "cpu_seconds": round(own.ru_utime + own.ru_stime + workers.ru_utime + workers.ru_stime, 3),
        "peak_bytes": max(resident_at_most(), workers.ru_maxrss * 1024),
    }
    atomic.write_bytes(Path("timings") / f"{name}.json", (json.dumps(content, indent=2) + "\n").encode())


def resident_at_most() -> int:
    """The largest resident set of this process so far, in bytes.

    `ru_maxrss` has the memory of the process that started this one in it, where that had more. Workers are started by this one.
    """
    lines = STATUS.read_text().splitlines() if STATUS.exists() else []
    found = [int(line.split()[1]) for line in lines if line.startswith("VmHWM:")]
    return 1024 * (found[0] if found else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
