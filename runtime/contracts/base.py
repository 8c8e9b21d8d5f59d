"""The shape of a stage contract, shared by the compiler that writes it and the runtime that obeys it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast, dataclass_transform

T = TypeVar("T", bound=type)


@dataclass_transform(frozen_default=True, kw_only_default=True)
def parameters(cls: T) -> T:
    """Make a class a frozen, keyword-only parameter record that refuses unknown keys when it is read back.

    A field that came later has a default: the compiled file holds it only where it has another value, so that the files of
    older specs stay as they were.
    """
    made = dataclass(frozen=True, kw_only=True)(cls)  # pyright: ignore[reportUnknownVariableType]
    cast(Any, made).__pydantic_config__ = {"extra": "forbid"}
    return cast(T, made)


@dataclass(frozen=True, kw_only=True)
class Contract:
    """What one stage reads and writes; every path is relative to the experiment folder.

    name: the DVC stage, `config/<name>.yaml` and `metrics/<name>.json` are called after it.
    program: the module whose `run(stage)` does the work.
    parameters: the record that `config/<name>.yaml` holds; None where the file is a mindformers YAML.
    inputs: result folders of other stages.
    output: the result folder, or a file for a stage that ends in one.
    records: further committed results (not cached), as `record.json`.
    plots: committed plot files below `plots/`.
    axes: plot -> how `dvc plots` draws it (x, y, template); steps against losses where nothing is said.
    metrics: whether the stage writes `metrics/<name>.json`.
    reads_metrics: names of stages whose committed metrics it reads.
    reads_plots: plot files of other stages that it reads.
    reads_files: other compiled files it reads.
    resources: further files of the repository that the program reads, such as page templates; relative to the project root.
    environment: libraries whose locked versions (`config/environment.yaml`) write its bytes.
    optional: whether only some experiments have the stage; where it is absent, no other stage depends on what it would write.
    tracked: parameter name in `params.json` -> dotted path in the config; both must agree when the stage starts.
    """

    name: str
    program: str
    parameters: type[Any] | None
    inputs: tuple[str, ...] = ()
    output: str
    records: tuple[str, ...] = ()
    plots: tuple[str, ...] = ()
    axes: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    metrics: bool = True
    reads_metrics: tuple[str, ...] = ()
    reads_plots: tuple[str, ...] = ()
    reads_files: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    environment: tuple[str, ...] = ("python",)
    optional: bool = False
    tracked: Mapping[str, str] = field(default_factory=dict[str, str])

    def drawn(self, plot: str) -> Mapping[str, str]:
        """How `dvc plots` draws one of the plots."""
        return self.axes.get(plot, {"x": "step", "y": "loss"})

    @property
    def config(self) -> str:
        """The concrete configuration file of the stage."""
        return f"config/{self.name}.yaml"

    @property
    def metrics_file(self) -> str:
        """Where the stage's metrics go."""
        return f"metrics/{self.name}.json"
