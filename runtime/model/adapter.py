"""`adapter.json`: how an adapter was trained, and for which base."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from runtime.faults import InputFault

NAME = "adapter.json"


@dataclass(frozen=True)
class Adapter:
    """rank, alpha: as trained; target_modules: mindformers' expression; cells: what each of its alternatives selected.

    base_sha256, weights_sha256: `weights.digest` of the base it was trained on, and of the adapter's own tensors.
    """

    rank: int
    alpha: float
    target_modules: str
    cells: dict[str, list[str]]
    base_sha256: str
    weights_sha256: str

    def write(self, folder: Path) -> None:
        """Write `adapter.json` into a folder."""
        (folder / NAME).write_text(json.dumps(asdict(self), ensure_ascii=False, allow_nan=False, indent=2) + "\n", "utf-8")


def read(folder: Path) -> Adapter:
    """Read `adapter.json`. Raises InputFault where it is missing or is not one."""
    path = folder / NAME
    try:
        return Adapter(**json.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError) as error:
        raise InputFault(f"not an adapter description: {error}", where=str(path), fix="delete the folder and run `dvc repro`") from None
