"""Every name that the installed transformers and mindformers know, and the class that has it.

Run as a script it writes `compiler/taken_names.json` again.
"""

import json
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

FILE = Path(__file__).parents[3] / "compiler" / "taken_names.json"
# Kinds of the mindformers registry that a training file names a class of.
KINDS = ("callback", "config", "lr", "models", "optimizer", "trainer", "wrapper")
MCORE = "mcore_"  # what mindformers puts before the names of its newer networks


def model_types() -> dict[str, str]:
    """Model type of a `config.json` -> its configuration class in transformers, or in mindformers where only that knows it."""
    from mindformers.models.auto import configuration_auto as ours
    from transformers.models.auto import configuration_auto as theirs

    def place(key: str, name: str) -> str:
        module = theirs.model_type_to_module_name(key)
        return f"transformers.models.{module}.configuration_{module}.{name}"

    registry = registered()["config"]
    known = {key: where for key, where in registry.items() if key != where.rpartition(".")[2]}  # names that are searched for
    known |= {key: f"{ours.CONFIG_MAPPING[key].__module__}.{name}" for key, name in ours.CONFIG_MAPPING_NAMES.items()}
    return known | {key: place(key, name) for key, name in theirs.CONFIG_MAPPING_NAMES.items()}


def registered() -> dict[str, dict[str, str]]:
    """Kind -> name -> class, of mindformers' registry; a search name finds the class it stands for."""
    from mindformers.tools.register import MindFormerRegister as Register

    found: dict[str, dict[str, str]] = {kind: {} for kind in KINDS}
    for kind in KINDS:
        for name, value in Register.registry[kind].items():
            found[kind][name.replace(MCORE, "")] = f"{value.__module__}.{value.__qualname__}"
    for (kind, search), name in Register.search_names_map.items():
        if kind in KINDS:
            found[kind].setdefault(search.replace(MCORE, ""), found[kind][name.replace(MCORE, "")])
    return found


def introspected() -> dict[str, Any]:
    """What `compiler/taken_names.json` must hold."""
    names = {"model_type": model_types(), **registered()}
    return {
        "versions": {library: version(library) for library in ("mindformers", "transformers")},
        "names": {kind: dict(sorted(found.items())) for kind, found in names.items()},
    }


if __name__ == "__main__":
    text = json.dumps(introspected(), indent=1) + "\n"
    if sys.argv[1:] == ["--print"]:
        sys.stdout.write(text)
    else:
        FILE.write_text(text, encoding="utf-8")
