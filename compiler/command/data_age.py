"""Which figures are older than what is compiled now, or than what the stages before have made since: by what DVC recorded of their runs."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import yaml

from compiler.wording import Said, listed, said
from runtime.contracts.base import Contract
from runtime.contracts.registry import BY_NAME, EVERY

Hashes = Mapping[str, str]  # path -> MD5
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True)
class Recorded:
    """What the last run of a stage has read and written."""

    read: Hashes
    written: Hashes


def older(folder: Path) -> dict[str, Said]:
    """Stage -> what it is older than, for every stage that would run again because of settings or of stages before it.

    Code, library versions and raw files are not compared. Nothing is known of a stage that DVC has not run.
    """
    runs, found = recorded(folder / "dvc.lock"), dict[str, Said]()
    for contract in EVERY:
        if contract.name in runs and (folder / contract.config).exists():
            causes = [*_settings(folder, contract, runs[contract.name]), *_inputs(contract, runs, found)]
            if causes:
                found[contract.name] = listed(dict.fromkeys(causes))
    return found


def told(folder: Path, stages: Sequence[str]) -> Said | None:
    """One sentence on those of the stages whose figures are older; None where there are none."""
    causes = {stage: cause for stage, cause in older(folder).items() if stage in stages}
    if not causes:
        return None
    english = "; ".join(f"{stage} than {cause}" for stage, cause in causes.items())
    chinese = "；".join(f"{stage} 早于 {cause.zh}" for stage, cause in causes.items())
    again = f"mindspec run {folder.name}"
    return said(f"older figures: {english}; bring them up to date: {again}", f"以下数字已过时：{chinese}；更新：{again}")


def recorded(lock: Path) -> dict[str, Recorded]:
    """The runs in DVC's lock file, by stage; none where there is no such file, or one that DVC did not write."""
    try:
        content: Any = yaml.load(lock.read_bytes(), LOADER)
        stages = cast("Mapping[str, Any]", content["stages"])
        return {name: Recorded(_hashes(run.get("deps")), _hashes(run.get("outs"))) for name, run in stages.items() if name in BY_NAME}
    except (OSError, yaml.YAMLError, ValueError, LookupError, TypeError, AttributeError):
        return {}


def _hashes(files: Any) -> Hashes:
    return {str(one["path"]): str(one["md5"]) for one in files or () if "md5" in one}


def _settings(folder: Path, contract: Contract, run: Recorded) -> Iterator[Said]:
    """The compiled files that are not as the run has read them; none where its figures are of another run than the recorded one."""
    figures = run.written.get(contract.metrics_file)
    if figures and (folder / contract.metrics_file).exists() and _md5(folder / contract.metrics_file) != figures:
        return
    for path in (contract.config, *contract.reads_files):
        if path in run.read and (folder / path).exists() and _md5(folder / path) != run.read[path]:
            yield said(path, path)


def _inputs(contract: Contract, runs: Mapping[str, Recorded], found: Mapping[str, Said]) -> Iterator[Said]:
    """The stages before that have run again since, or are to."""
    makers = {one.output: one.name for one in EVERY if one.name in runs}
    for path in contract.inputs:
        maker = makers.get(path)
        if maker and path in runs[contract.name].read:
            again = runs[maker].written.get(path) != runs[contract.name].read[path]
            if again or maker in found:
                yield said(maker, maker)


def _md5(path: Path) -> str:
    return hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest()
