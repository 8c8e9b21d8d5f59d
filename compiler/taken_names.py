"""Names that transformers and mindformers have given away already.

Both keep a registry of names. Whoever registers a second class under a taken one is refused when the program starts ("already
used by a Transformers config, pick another name"), or silently replaces the first. `taken_names.json` is written by
introspection of the locked versions, so that a duplicate is found where neither library is installed.
"""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Literal

Kind = Literal["model_type", "callback", "config", "lr", "models", "optimizer", "trainer", "wrapper"]

FILE = Path(__file__).with_name("taken_names.json")


@cache
def names(kind: Kind = "model_type") -> Mapping[str, str]:
    """Name -> the class that has it, as `module.Class`.

    kind: `model_type` of a Hugging Face config.json, or a kind of mindformers' registry (a `type` of its YAML).
    """
    return json.loads(FILE.read_bytes())["names"][kind]


def taken(name: str, kind: Kind = "model_type") -> str | None:
    """The class that has this name already, as `module.Class`; None for a free one."""
    return names(kind).get(name)


def versions() -> Mapping[str, str]:
    """The versions of mindformers and transformers that the names are those of."""
    return json.loads(FILE.read_bytes())["versions"]
