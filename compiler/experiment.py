"""An experiment: a valid spec together with the project's files that it refers to."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from compiler.spec import Spec


@dataclass(frozen=True)
class Experiment:
    """`template`: content of the chat template; `locked`: library -> locked version, `python` as `major.minor`."""

    spec: Spec
    template: Mapping[str, Any]
    locked: Mapping[str, str]
