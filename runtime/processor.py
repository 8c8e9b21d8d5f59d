"""The processor family that byte identity is claimed for: machine and widest vector unit, never a host or model name."""

import platform
from collections.abc import Iterable
from pathlib import Path

_WIDEST_FIRST = (
    ("avx512f", "avx512"), ("avx2", "avx2"), ("avx", "avx"), ("sse4_2", "sse4.2"), ("sve2", "sve2"), ("sve", "sve"), ("asimd", "neon"),
)  # fmt: skip


def family() -> str:
    """`x86_64 avx512`, `aarch64 neon`; the machine alone where the system does not list its vector units."""
    return describe(platform.machine(), _flags(Path("/proc/cpuinfo")))


def describe(machine: str, flags: Iterable[str]) -> str:
    """The family of a machine with these processor flags."""
    have = set(flags)
    level = next((name for flag, name in _WIDEST_FIRST if flag in have), "")
    return f"{machine} {level}".rstrip()


def _flags(cpuinfo: Path) -> list[str]:
    if not cpuinfo.exists():
        return []
    lines = (line.partition(":") for line in cpuinfo.read_text("utf-8", "replace").splitlines())
    return next((value.split() for key, _, value in lines if key.strip() in ("flags", "Features")), [])
