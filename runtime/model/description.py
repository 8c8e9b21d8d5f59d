"""`model.json`: what is needed to build a network again for a file of weights beside it."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runtime.faults import InputFault

NAME = "model.json"


@dataclass(frozen=True)
class Description:
    """architecture: the mindformers class; config: keyword arguments of its configuration class.

    weights_sha256: `weights.digest` of the file beside it; base_sha256, adapter_sha256: what a merged model was made of.
    """

    architecture: str
    config: dict[str, Any]
    weights_sha256: str
    base_sha256: str | None = None
    adapter_sha256: str | None = None

    @property
    def merged(self) -> bool:
        """Whether an adapter is already part of these weights."""
        return self.adapter_sha256 is not None

    def write(self, folder: Path) -> None:
        """Write `model.json` into a folder. Blocks of a configuration may themselves hold mappings."""
        (folder / NAME).write_text(json.dumps(vars(self), ensure_ascii=False, allow_nan=False, indent=2) + "\n", "utf-8")


def of_config(model: dict[str, Any], weights_sha256: str) -> Description:
    """The description of a network trained from the `model` block of a mindformers YAML; what only training needs is left out."""
    left_out = ("type", "batch_size", "pet_config")
    config = {key: value for key, value in model["model_config"].items() if key not in left_out}
    return Description(model["arch"]["type"], config, weights_sha256)


def read(folder: Path) -> Description:
    """Read `model.json`. Raises InputFault where it is missing or is not one."""
    path = folder / NAME
    try:
        return Description(**json.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError) as error:
        raise InputFault(f"not a model description: {error}", where=str(path), fix="delete the folder and run `dvc repro`") from None
