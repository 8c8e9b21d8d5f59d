from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from runtime.contracts.installed import installed_version

LIBRARIES = ("python", "mindspore", "mindformers", "numpy", "safetensors")


@pytest.fixture
def environment() -> Callable[[Path], None]:
    """Write `config/environment.yaml` of an experiment folder, locked to what is installed."""

    def write(folder: Path) -> None:
        (folder / "config").mkdir(parents=True, exist_ok=True)
        locked = {library: installed_version(library) for library in LIBRARIES}
        (folder / "config" / "environment.yaml").write_text(yaml.safe_dump(locked))

    return write
