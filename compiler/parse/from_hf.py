"""`model.from_hf`: the sizes of a Hugging Face config.json, written into a composed spec as if they stood there.

config.json goes before what a file of specs/model says. What the experiment or an override writes beside it stays, and must
be the same: `faults` tells where it is not, and what else is wrong with the file.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from compiler import hf_network
from compiler.diagnostics import Diagnostic, Faults
from compiler.hf_config import HfConfig, read
from compiler.source import Path as KeyPath
from compiler.source import Place, SourceTree, dotted
from compiler.wording import said

_GROUP = "specs/model/"
_SOURCE = ("model", "from_hf")


def expand(tree: SourceTree) -> SourceTree:
    """The tree with the sizes of `model.from_hf` in it; the tree itself where there is none, or where it has faults."""
    try:
        config = _config(tree)
    except Faults:
        return tree
    return _written(tree, config) if config and not hf_network.faults(config) else tree


def faults(tree: SourceTree) -> list[Diagnostic]:
    """What is wrong with the config.json of an expanded tree, and what of the tree contradicts it."""
    try:
        config = _config(tree)
    except Faults as error:
        return [replace(fault, path=_SOURCE, place=fault.place or tree.place(_SOURCE)) for fault in error.diagnostics]
    if config is None:
        return []
    return [replace(fault, path=_SOURCE) for fault in hf_network.faults(config)] or list(_contradictions(tree, config))


def _config(tree: SourceTree) -> HfConfig | None:
    model = tree.values.get("model")
    folder = cast(Mapping[str, Any], model).get("from_hf") if isinstance(model, Mapping) else None
    return read(Path(tree.root), folder) if isinstance(folder, str) and folder else None


def _written(tree: SourceTree, config: HfConfig) -> SourceTree:
    """The tree with every size at its place in config.json or, where that leaves it to a default, at `from_hf`."""
    model: dict[str, Any] = dict(tree.values["model"])
    places, keys, written = dict(tree.places), dict(tree.keys), dict(tree.written)
    for field, value, path in hf_network.fields(config):
        if _is_meant(tree, field):
            continue
        _forget(("model", field), places, keys, written)
        model[field] = value
        places["model", field] = keys["model", field] = config.places[path] if path else tree.place(_SOURCE)
    return replace(tree, values={**tree.values, "model": model}, places=places, keys=keys, written=written)


def _forget(path: KeyPath, *tables: dict[KeyPath, Any]) -> None:
    for table in tables:
        for below in [one for one in table if one[: len(path)] == path]:
            del table[below]


def _is_meant(tree: SourceTree, field: str) -> bool:
    """Whether a size was written in the experiment or as an override, rather than in a file of specs/model."""
    value = cast(Mapping[str, Any], tree.values["model"]).get(field)
    return value not in (None, "from_hf") and not tree.place(("model", field)).file.startswith(_GROUP)


def _contradictions(tree: SourceTree, config: HfConfig) -> Iterator[Diagnostic]:
    """Sizes that differ from config.json, apart from those that `smoke` has lowered."""
    model = cast(Mapping[str, Any], tree.values["model"])
    for field, value, path in hf_network.fields(config):
        place = config.places[path] if path else tree.place(_SOURCE)
        here = tree.place(("model", field))
        if _is_meant(tree, field) and not _equal(model[field], value) and here not in (place, tree.place(("smoke",))):
            yield _contradiction(tree, field, value, place)


def _equal(one: object, other: object) -> bool:
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def _contradiction(tree: SourceTree, field: str, value: Any, place: Place) -> Diagnostic:
    path = ("model", field)
    mine, theirs = hf_network.show(cast(Mapping[str, Any], tree.values["model"])[field]), hf_network.show(value)
    return Diagnostic(
        "MS0318",
        said(f"{mine} here, {theirs} in config.json", f"此处为 {mine}，config.json 中为 {theirs}"),
        tree.place(path),
        path,
        reason=said(
            "one of the two would be ignored, and the network would not be the one that somebody expects",
            "两者必有一个被忽略，网络与预期不符",
        ),
        fix=said(
            f"leave {dotted(path)} out, or leave model.from_hf out and write all sizes",
            f"去掉 {dotted(path)}，或去掉 model.from_hf 并写全所有尺寸",
        ),
        related=((said("config.json says", "config.json 中"), place),),
    )
