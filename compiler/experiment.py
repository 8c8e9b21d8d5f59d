"""An experiment: a valid spec together with the project's files that it refers to."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from compiler.spec import Spec


@dataclass(frozen=True)
class SpecialIds:
    """Ids of the pieces that mindformers' files number."""

    pad: int
    bos: int
    eos: int


@dataclass(frozen=True)
class Experiment:
    """`template`: content of the chat template; `special`: ids of the tokenizer; `locked`: library -> locked version, `python` as
    `major.minor`."""

    spec: Spec
    template: Mapping[str, Any]
    special: SpecialIds
    locked: Mapping[str, str]
