"""What is installed against what an experiment was compiled for; both sides of the compiler ask."""

import sys
from collections.abc import Iterable, Mapping
from importlib import metadata


def installed_version(library: str) -> str | None:
    """The installed version of a library, `major.minor` for python itself; None where it is not installed."""
    if library == "python":
        return f"{sys.version_info.major}.{sys.version_info.minor}"
    try:
        return metadata.version(library)
    except metadata.PackageNotFoundError:
        return None


def differences(locked: Mapping[str, str], libraries: Iterable[str]) -> list[str]:
    """One line for every library whose installed version is not the locked one."""
    found = ((library, locked.get(library), installed_version(library)) for library in libraries)
    return [f"{library} is {have or 'not installed'}, locked is {want or 'nothing'}" for library, want, have in found if have != want]
