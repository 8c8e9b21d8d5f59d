"""The harness of every stage program: what is checked before it works, where it writes, how its results come into place.

A stage builds its whole result folder in `.scratch/<stage>/<key>/out`, under its final file names. When the program is
done, the folder gets its manifest, is flushed to the disk, and is renamed into place; metrics, plots and records follow.
Killed at any moment, nothing half-written stands under a final name.
"""

import csv
import fcntl
import hashlib
import importlib
import io
import json
import math
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

from runtime import atomic, manifest, placement, timing
from runtime.compiled import JSON, Settings, read_json, read_yaml, validated
from runtime.contracts import installed
from runtime.contracts.base import Contract
from runtime.contracts.counting import counted
from runtime.faults import EnvironmentFault, StageFault
from runtime.manifest import Manifest
from runtime.terminal import Bar, Terminal

P = TypeVar("P")
MADE = "synthetic"  # the result of `synthesize`, which makes sources


@dataclass
class Stage(Generic[P]):
    """What a program's `run(stage)` gets.

    parameters: the stage's parameter record, or a mapping where the config is a mindformers YAML.
    out: the scratch folder that becomes the result folder (for a stage that ends in a file: the file's folder).
    placement: workers, threads, log frequency; must not change a result.
    terminal: where progress and messages go.
    """

    contract: Contract
    folder: Path
    parameters: P
    placement: placement.Placement
    terminal: Terminal
    out: Path
    scratch: Path
    counts: dict[str, int] = field(default_factory=dict)
    facts: JSON = field(default_factory=dict)
    _metrics: JSON | None = None
    _files: dict[str, bytes] = field(default_factory=dict)

    @property
    def root(self) -> Path:
        """The project root, to which the paths of raw data are relative."""
        return Path("../..")

    def place_of(self, made: bool) -> Path:
        """What the path of a source is relative to: the project root, or the experiment where a stage has made it.

        What was made is compared with its manifest first. Raises InputFault.
        """
        if made:
            self.input(MADE)
        return Path() if made else self.root

    @property
    def config_file(self) -> Path:
        """The concrete configuration of the stage."""
        return Path(self.contract.config)

    def input(self, folder: str) -> Path:
        """An input folder, after its names, sizes and contents were compared with its manifest. Raises InputFault."""
        self._declared(folder, self.contract.inputs)
        manifest.verify(Path(folder))
        return Path(folder)

    def manifest(self, folder: str) -> Manifest:
        """The manifest of an input folder, without reading the rest of it. Raises InputFault."""
        self._declared(folder, self.contract.inputs)
        return manifest.read(Path(folder))

    def file(self, path: str) -> Path:
        """A compiled file, metrics file or plot that the contract declares as read."""
        metrics = tuple(f"metrics/{name}.json" for name in self.contract.reads_metrics)
        self._declared(path, (*self.contract.reads_files, *self.contract.reads_plots, *metrics))
        return Path(path)

    def bar(self, total: int | None, unit: str, title: str | None = None) -> Bar:
        """A progress bar of the stage; use it in a `with`."""
        return self.terminal.bar(total, unit, title or self.contract.name)

    def metrics(self, values: Mapping[str, Any]) -> None:
        """Set what goes to `metrics/<stage>.json`. Numbers that are not finite are written as null with a reason."""
        self._metrics = finite(values)

    def plot(self, path: str, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Set the content of a declared plot file (CSV, LF ends)."""
        self._declared(path, self.contract.plots)
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([header, *rows])
        self._files[path] = text.getvalue().encode()

    def record(self, path: str, content: Mapping[str, Any]) -> None:
        """Set the content of a declared record (JSON)."""
        self._declared(path, self.contract.records)
        self._files[path] = encode_json(finite(content))

    def finish(self) -> None:
        """Bring the result, then metrics, plots and records, into place."""
        final = Path(self.contract.output)
        single = bool(final.suffix)
        built = self.out / final.name if single else self.out
        if not single:
            made = manifest.describe(self.out, self.contract.name, self.counts, self.facts)
            (self.out / manifest.NAME).write_bytes(manifest.encode(made))
        atomic.sync_tree(self.out)
        atomic.move_into_place(built, final, self.scratch / "replaced")
        if self.contract.metrics:
            self._files[self.contract.metrics_file] = encode_json(self._metrics or {})
        for path, data in self._files.items():
            atomic.write_bytes(Path(path), data)

    def _declared(self, path: str, allowed: Sequence[str]) -> None:
        if path not in allowed:
            raise AssertionError(f"stage {self.contract.name} does not declare {path}")


def finite(values: Mapping[str, Any]) -> JSON:
    """A copy in which a number that is not finite became null beside `<key>_reason`."""
    result: JSON = {}
    for key, value in values.items():
        if isinstance(value, Mapping):
            result[key] = finite(cast(Mapping[str, Any], value))
        elif isinstance(value, float) and not math.isfinite(value):
            result[key], result[f"{key}_reason"] = None, "overflow" if math.isinf(value) else "not a number"
        else:
            result[key] = value
    return result


def encode_json(content: Mapping[str, Any]) -> bytes:
    """Strict JSON (no NaN), readable, in the order given, LF at the end."""
    return (json.dumps(content, ensure_ascii=False, allow_nan=False, indent=2) + "\n").encode()


def execute(contract: Contract) -> None:
    """Run one stage in the current experiment folder. Raises StageFault for what the user can mend."""
    started = time.monotonic()
    parameters = read_parameters(contract)
    environment = read_yaml(Path("config/environment.yaml"))
    check_installed(environment, contract)
    with _claim(Path(".scratch") / contract.name) as scratch, _log(contract.name) as terminal:
        _check_one_disk(scratch, Path(contract.output))
        _check_replaceable(Path(contract.output))
        key = stage_key(contract, environment)
        out = _fresh(scratch, key)
        stage = Stage(contract, Path.cwd(), parameters, placement.read(Path("placement.yaml")), terminal, out, out.parent)
        importlib.import_module(contract.program).run(stage)
        stage.finish()
        atomic.remove(out.parent)
    timing.write(contract.name, time.monotonic() - started)


def check_installed(locked: Mapping[str, str], contract: Contract) -> None:
    """Raise EnvironmentFault that names every library of another version than the locked one."""
    wrong = installed.differences(locked, contract.environment)
    if wrong:
        raise EnvironmentFault(
            "; ".join(wrong),
            where="config/environment.yaml",
            reason="other versions write other bytes, or fail hours later (mindspore and mindformers only work in matching pairs)",
            fix="activate the project's environment (`source .venv/bin/activate`, made by `make setup`), "
            "or lock the new versions and compile again",
        )


def read_parameters(contract: Contract) -> Any:
    """The typed parameters of a stage, after `params.json` and the config were found to agree. Raises StageFault."""
    config = read_yaml(Path(contract.config))
    _check_tracked(contract, config)
    if contract.parameters is None:
        return Settings(config, contract.config)
    return validated(contract.parameters, config, contract.config)


def _check_tracked(contract: Contract, config: JSON) -> None:
    """A changed `params.json` must not leave the training as it was while the record shows the new value."""
    if not contract.tracked:
        return
    recorded = read_json(Path("params.json"))
    for name, path in contract.tracked.items():
        in_params, in_config = look_up(recorded, name), look_up(config, path)
        if in_params != in_config or type(in_params) is not type(in_config):
            raise StageFault(
                f"{name} is {in_params!r} in params.json but {in_config!r} in {contract.config}",
                where="params.json",
                reason="the run would use one value and record the other",
                fix=f"change the spec or use an override (mindspec run NAME {name}=VALUE) and compile; never edit params.json",
            )


def look_up(tree: JSON, dotted: str) -> Any:
    """The value at a dotted path; None where there is none."""
    value: Any = tree
    for part in dotted.split("."):
        if not isinstance(value, dict):
            return None
        value = cast(JSON, value).get(part)
    return value


def stage_key(contract: Contract, environment: JSON) -> str:
    """What the scratch folder is called after: configuration, locked versions and the manifests of all inputs."""
    digest = hashlib.sha256(contract.name.encode())
    digest.update(Path(contract.config).read_bytes())
    for library in contract.environment:
        digest.update(f"{library}={environment.get(library)};".encode())
    for folder in contract.inputs:
        digest.update((Path(folder) / manifest.NAME).read_bytes() if (Path(folder) / manifest.NAME).exists() else b"-")
    return digest.hexdigest()[:16]


@contextmanager
def _claim(folder: Path) -> Iterator[Path]:
    """Hold the stage's scratch folder for this process; the system lets go of it when the process dies."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            holder = lock.read().strip() or "unknown"
            raise StageFault(f"process {holder} is running this stage", where=str(folder / "lock"), fix="wait for it, or end it") from None
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield folder


def _check_one_disk(scratch: Path, final: Path) -> None:
    """Before the work, not after it: a rename is whole or not at all, and no rename leads to another file system."""
    place = next(folder for folder in final.parents if folder.exists())
    if scratch.stat().st_dev != place.stat().st_dev:
        raise StageFault(
            f"{scratch} and {place.resolve().name} are on different file systems",
            where=str(scratch),
            reason="a result is renamed into place, and a copy that is interrupted would be half a result",
            fix="put the whole experiment on one of them, .scratch included",
        )


def _check_replaceable(final: Path) -> None:
    """Before the work: an old result is replaced as a whole, what else stands in its place is somebody's."""
    if final.suffix or not (final.exists() or final.is_symlink()):
        return
    if not final.is_dir():
        foreign = [final.name]
    else:
        written = {entry.path for entry in manifest.read(final).files} if (final / manifest.NAME).exists() else set[str]()
        here = (path.relative_to(final).as_posix() for path in atomic.files_below(final))
        foreign = [path for path in here if path not in written and path != manifest.NAME]
    if foreign:
        raise StageFault(
            f"no stage wrote {foreign[0]!r}" + (f" and {counted(len(foreign) - 1, 'more file')}" if foreign[1:] else ""),
            where=str(final),
            reason="the result would replace all that is there",
            fix=f"move it elsewhere, or delete {final}",
        )


def _fresh(scratch: Path, key: str) -> Path:
    """An empty `<key>/out` below the stage's scratch folder; what earlier runs left is deleted."""
    for left in [path for path in scratch.iterdir() if path.name != "lock"]:
        atomic.remove(left)
    out = scratch / key / "out"
    out.mkdir(parents=True)
    return out


@contextmanager
def _log(name: str) -> Iterator[Terminal]:
    from runtime.terminal import output_to

    with output_to(Path("logs") / f"{name}.log") as terminal:
        yield terminal
