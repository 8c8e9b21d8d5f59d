"""Composition by Hydra: primary config, groups, experiment, overrides."""

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hydra import version
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra._internal.config_repository import IConfigRepository
from hydra._internal.config_search_path_impl import ConfigSearchPathImpl
from hydra._internal.sources_registry import SourcesRegistry
from hydra.core.default_element import ResultDefault
from hydra.core.plugins import Plugins
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from compiler.diagnostics import Diagnostic, Faults
from compiler.parse import defaults, from_hf, hydra_faults, references, smoke, taken_out
from compiler.parse import overrides as given_overrides
from compiler.parse.experiments import experiment_file, names
from compiler.parse.files import SpecFile, SpecFiles
from compiler.parse.groups import Groups
from compiler.parse.long_lists import LongLists, Scattered, looks_inside
from compiler.parse.overrides import GivenOverride, written_path
from compiler.parse.places import Places
from compiler.source import Path as KeyPath
from compiler.source import SourceTree
from compiler.wording import said

PRIMARY = "mindspec"
# Hydra refuses some entries of a defaults list, and some deletions, with a Python error of its own.
_REFUSALS = (HydraException, OmegaConfBaseException, ValueError, LookupError, RecursionError, AssertionError, TypeError)


class Incomplete(Faults):
    """Faults that left the rest to be composed: `tree`, without the overrides that were refused and would stand at `refused`."""

    def __init__(self, diagnostics: Iterable[Diagnostic], tree: SourceTree, refused: frozenset[KeyPath]) -> None:
        super().__init__(diagnostics)
        self.tree, self.refused = tree, refused


def load(root: Path, name: str, overrides: Sequence[str] = ()) -> SourceTree:
    """The composed experiment `name` of the project at `root`.

    Raises Faults with everything that keeps it from being composed, Incomplete where something could be composed all the
    same; no exception of Hydra or YAML gets out.
    """
    root = root.resolve()
    option, misnamed = experiment_file(root, name)
    given, faults = given_overrides.read(overrides, Groups(root / "specs"))
    try:
        tree, accepted, refused = _compose(root, given, option)
    except Faults as error:
        raise Faults([*misnamed, *faults, *error.diagnostics]) from None
    tree = smoke.expand(from_hf.expand(taken_out.expand(tree)))
    faults += [*refused, *(misnamed or _taken_name(root, name, tree))]
    if faults:
        kept = {override.text for override in accepted}
        unknown = [written_path(text) for text in overrides if text not in kept]
        raise Incomplete(faults, tree, frozenset([*unknown, *(fault.path for fault in misnamed if fault.path)]))
    return tree


def _taken_name(root: Path, name: str, tree: SourceTree) -> list[Diagnostic]:
    """An override may give a new name, but not that of another experiment: it would be written over."""
    given = tree.values.get("name")
    if given == name or not isinstance(given, str) or given not in names(root):
        return []
    return [
        Diagnostic(
            "MS0002",
            said(f"the name {given} is already used", f"名称 {given} 已被使用"),
            tree.place(("name",)),
            ("name",),
            reason=said("both experiments would be written to the same folder", "两个实验会写入同一个文件夹"),
            fix=said("choose another name", "请换一个名称"),
        )
    ]


class LayeredLoader(ConfigLoaderImpl):
    """Hydra's loader, which remembers the layers it merged, the last one winning."""

    layers: Sequence[ResultDefault] = ()

    def _compose_config_from_defaults_list(self, defaults: list[ResultDefault], repo: IConfigRepository) -> DictConfig:
        self.layers = defaults
        return super()._compose_config_from_defaults_list(defaults, repo)


def _loader(root: Path) -> LayeredLoader:
    """Hydra's loader over the folder `specs/`, without Hydra's global state."""
    version.setbase("1.3")
    Plugins.instance()
    SourcesRegistry.instance().register(SpecFiles)
    search_path = ConfigSearchPathImpl()
    search_path.append("hydra", "pkg://hydra.conf")
    search_path.append("main", f"spec://{root / 'specs'}")
    search_path.append("schema", "structured://")
    return LayeredLoader(config_search_path=search_path)


def _compose(root: Path, given: list[GivenOverride], option: str) -> tuple[SourceTree, list[GivenOverride], list[Diagnostic]]:
    """The tree, the overrides in it, and the faults of those that Hydra refused: each is left out and the rest tried again.

    Raises Faults where the files have some.
    """
    groups, refused, accepted, whole = Groups(root / "specs"), list[Diagnostic](), list(given), False
    while True:
        loader = _loader(root)
        files = next(source for source in loader.get_sources() if isinstance(source, SpecFiles))
        files.long_lists = None if whole else files.long_lists
        try:
            config = _composed(loader, accepted, option)
        except _REFUSALS as error:
            if files.long_lists:
                whole = True
                continue
            fault, culprit = hydra_faults.explain(error, accepted, files, groups)
            start = files.parsed.get(f"experiment/{option}.yaml")
            refused.append(replace(fault, place=fault.place or (_start(start) if start else None)))
            if culprit is None:
                raise Faults([*(_file_faults(files, groups) or refused[-1:]), *refused[:-1]]) from None
            accepted.remove(culprit)
            continue
        if files.long_lists and _looks_inside(files, accepted):
            whole = True
            continue
        if found := _file_faults(files, groups):
            raise Faults([*found, *refused])
        try:
            places = _places(files, loader.layers, accepted, option)
            return _tree(root, config, places, files.long_lists or LongLists()), accepted, refused
        except Scattered:
            whole = True
        except Faults as error:
            raise Faults([*error.diagnostics, *refused]) from None


def _looks_inside(files: SpecFiles, given: list[GivenOverride]) -> bool:
    items = any(isinstance(part, int) for override in given for part in override.path)
    return items or looks_inside([*(file.text for file in files.parsed.values()), *(override.text for override in given)])


def _composed(loader: LayeredLoader, given: list[GivenOverride], option: str) -> DictConfig:
    quoted = option.replace("'", "\\'")  # a file name may be a number, or hold what Hydra's grammar gives a meaning
    lines = [f"experiment='{quoted}'", *(override.line for override in given)]
    with warnings.catch_warnings(action="ignore", category=UserWarning):  # what Hydra warns of is a fault of ours
        return loader.load_configuration(PRIMARY, lines, RunMode.RUN, from_shell=False)


def _file_faults(files: SpecFiles, groups: Groups) -> list[Diagnostic]:
    found = [fault for file in files.parsed.values() for fault in file.faults]
    return found + [fault for file in files.parsed.values() for fault in defaults.faults(file, groups)]


def _places(files: SpecFiles, layers: Sequence[ResultDefault], given: list[GivenOverride], option: str) -> Places:
    places = Places()
    for layer in layers:
        file = files.parsed.get(f"{layer.config_path}.yaml")
        if file is not None:
            places.add_file(file, tuple(layer.package.split(".")) if layer.package else ())
    for override in given:
        places.add_override(override)
    places.values[()] = _start(files.parsed[f"experiment/{option}.yaml"])
    return places


def _start(file: SpecFile) -> Any:
    line = file.node.start_mark.line if file.node is not None else 0
    return file.place(line, 0)


def _tree(root: Path, config: DictConfig, places: Places, long_lists: LongLists) -> SourceTree:
    OmegaConf.set_struct(config, False)
    config.pop("hydra", None)
    raw: Any = long_lists.back(OmegaConf.to_container(config, resolve=False))
    tree = SourceTree(str(root), raw, places.values, places.keys, places.written)
    faults = [replace(fault, place=tree.place(fault.path)) for fault in references.faults(config, raw)]
    if faults:
        raise Faults(faults)
    return replace(tree, values=long_lists.back(OmegaConf.to_container(config, resolve=True)))
