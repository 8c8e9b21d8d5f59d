"""The manifest of a result folder: what a stage wrote, and what the next one checks before it reads."""

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from runtime.atomic import files_below
from runtime.contracts.counting import counted
from runtime.faults import InputFault

NAME = "manifest.json"


@dataclass(frozen=True)
class Entry:
    """One file of the folder: POSIX path relative to it, size in bytes, SHA-256 of its content."""

    path: str
    bytes: int
    sha256: str


class Stated(dict[str, Any]):
    """What a manifest states. Raises InputFault where it does not state what is asked for."""

    def __missing__(self, name: str) -> Any:
        raise InputFault(f"{name} is not stated", where=NAME, reason="an input was written by other code", fix="run `dvc repro`")


@dataclass(frozen=True)
class Manifest:
    """`counts`: documents, rows, tokens ...; `facts`: what the next stages must know (lengths, scales, hashes)."""

    stage: str
    files: tuple[Entry, ...]
    counts: dict[str, int] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)

    def file(self, path: str) -> Entry:
        """The entry of one file; KeyError if the folder has none of that name."""
        return {entry.path: entry for entry in self.files}[path]


def sha256_of(path: Path) -> str:
    """SHA-256 of a file's content, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def describe(folder: Path, stage: str, counts: dict[str, int], facts: dict[str, Any]) -> Manifest:
    """The manifest of a finished folder, files in the order of their paths."""
    entries = (
        Entry(path.relative_to(folder).as_posix(), path.stat().st_size, sha256_of(path))
        for path in files_below(folder)
        if path.name != NAME
    )
    return Manifest(stage, tuple(entries), dict(sorted(counts.items())), facts)


def encode(manifest: Manifest) -> bytes:
    """The manifest as the bytes of `manifest.json`."""
    content = {
        "stage": manifest.stage,
        "files": [vars(entry) for entry in manifest.files],
        "counts": manifest.counts,
        "facts": manifest.facts,
    }
    return (json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1) + "\n").encode()


def read(folder: Path) -> Manifest:
    """Read a folder's manifest. Raises InputFault where it is missing or is not one."""
    path = folder / NAME
    try:
        content = json.loads(path.read_bytes())
        return _checked(content["stage"], [Entry(**entry) for entry in content["files"]], content["counts"], content["facts"])
    except (FileNotFoundError, NotADirectoryError):
        raise InputFault(
            f"{folder} has no {NAME}",
            where=str(folder),
            reason="its stage has not finished",
            fix="run `dvc repro` in the experiment folder",
        ) from None
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputFault(f"not a manifest: {error}", where=str(path), fix="delete the folder and run `dvc repro`") from None


def _checked(stage: Any, files: list[Entry], counts: Any, facts: Any) -> Manifest:
    """Raises ValueError for values that no stage writes."""
    entries = all((type(one.path), type(one.bytes), type(one.sha256)) == (str, int, str) for one in files)
    if not (entries and isinstance(stage, str) and isinstance(counts, dict) and isinstance(facts, dict)):
        raise ValueError("stage, files, counts or facts are of another type")
    if wrong := [name for name, count in counts.items() if type(count) is not int]:
        raise ValueError(f"{', '.join(wrong)}: not counts")
    if len({one.path for one in files}) < len(files):
        raise ValueError("a file is named twice")
    return Manifest(stage, tuple(files), Stated(counts), Stated(facts))


def verify(folder: Path) -> Manifest:
    """Compare a folder with its manifest: names, sizes, contents. Raises InputFault that lists every difference."""
    manifest = read(folder)
    found = {path.relative_to(folder).as_posix(): path for path in files_below(folder) if path.name != NAME}
    wrong = [f"{entry.path} is missing" for entry in manifest.files if entry.path not in found]
    wrong += [f"{path} is not in the manifest" for path in found if path not in {entry.path for entry in manifest.files}]
    for entry in manifest.files:
        if entry.path in found:
            wrong += _differences(entry, found[entry.path])
    if wrong:
        raise InputFault(
            "; ".join(wrong),
            where=str(folder),
            reason="the folder is not what its stage wrote",
            fix="delete the folder and run `dvc repro`",
        )
    return manifest


def _differences(entry: Entry, path: Path) -> list[str]:
    size = path.stat().st_size
    if size != entry.bytes:
        return [f"{entry.path} has {counted(size, 'byte')}, not {entry.bytes}"]
    return [] if sha256_of(path) == entry.sha256 else [f"{entry.path} has other content"]
