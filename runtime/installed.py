"""What is installed against what the experiment was compiled for (`config/environment.yaml`)."""

import sys
from collections.abc import Iterable, Mapping
from importlib import metadata

from runtime.faults import EnvironmentFault


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


def check(locked: Mapping[str, str], libraries: Iterable[str]) -> None:
    """Raise EnvironmentFault that names every library of another version than the locked one."""
    wrong = differences(locked, libraries)
    if wrong:
        raise EnvironmentFault(
            "; ".join(wrong),
            where="config/environment.yaml",
            reason="other versions write other bytes, or fail hours later (mindspore and mindformers only work in matching pairs)",
            fix="activate the project's environment (`source .venv/bin/activate`, made by `make setup`), or lock the new versions and compile again",
        )
