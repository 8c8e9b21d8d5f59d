"""Where each composed value was written: the layers of Hydra's defaults list, then the overrides."""

from dataclasses import dataclass, field
from typing import Any

import yaml
from hydra.core.override_parser.types import QuotedString

from compiler.parse.files import SpecFile, is_plain
from compiler.parse.overrides import GivenOverride
from compiler.source import Path, Place, children


@dataclass
class Places:
    """Places by path; a later layer replaces what it overrides."""

    values: dict[Path, Place] = field(default_factory=dict[Path, Place])
    keys: dict[Path, Place] = field(default_factory=dict[Path, Place])
    written: dict[Path, str] = field(default_factory=dict[Path, str])
    _below: dict[Path, set[str | int]] = field(default_factory=dict[Path, set[str | int]])  # what is known right below a path

    def add_file(self, file: SpecFile, package: Path) -> None:
        """A layer that Hydra puts under `package`."""
        if file.node is not None:
            self._add_mapping(file, package, file.node)

    def _add_mapping(self, file: SpecFile, path: Path, node: yaml.MappingNode) -> None:
        for key, value in node.value:
            if path == () and key.value in ("defaults", "hydra"):
                continue
            below = (*path, key.value)
            if value.value == "???" and below in self.values:
                continue  # a value that is to be given never replaces one that is
            self._add_node(file, below, value)
            self._know(below)
            self.keys[below] = file.at(key)
            if isinstance(value, yaml.MappingNode):
                self.values[below] = file.at(key)

    def _add_node(self, file: SpecFile, path: Path, node: yaml.Node) -> None:
        if isinstance(node, yaml.MappingNode):
            self.values[path] = file.at(node)
            self.written.pop(path, None)
            self._add_mapping(file, path, node)
            return
        self.drop(path)
        self._know(path)
        self.values[path] = file.at(node)
        if is_plain(node):
            self.written[path] = node.value
        for index, item in enumerate(node.value if isinstance(node, yaml.SequenceNode) else ()):
            self._add_node(file, (*path, index), item)

    def add_override(self, override: GivenOverride) -> None:
        """A value of the command line."""
        if override.is_group or override.parsed.is_hydra_override():
            return
        if override.parsed.is_delete():
            self.drop(override.path)
            self._know(override.path)
            self.values[override.path] = self.keys[override.path] = override.key_place  # where it was taken away
            return
        for length in range(1, len(override.path)):
            above = override.path[:length]
            if above in self.written or not (above in self.values or self._below.get(above)):
                self.drop(above)
                self._know(above)
                self.values[above] = self.keys[above] = override.key_place
        self._add_given(override, override.path, override.value)

    def _add_given(self, override: GivenOverride, path: Path, value: Any) -> None:
        nested = children(value)
        if not isinstance(value, dict):
            self.drop(path)
        self._know(path)
        self.keys[path] = override.key_place
        self.values[path] = override.value_place
        for key, item in nested:
            name = key.text if isinstance(key, QuotedString) else key
            self._add_given(override, (*path, name), item)
        if path == override.path and not isinstance(value, (dict, list, QuotedString)):
            self.written[path] = override.raw

    def _know(self, path: Path) -> None:
        """Make a path one that `drop` finds from each path above it."""
        while path and path[-1] not in (beside := self._below.setdefault(path[:-1], set())):
            beside.add(path[-1])
            path = path[:-1]

    def drop(self, path: Path) -> None:
        """Forget a subtree."""
        self._below.get(path[:-1], set[str | int]()).discard(path[-1])
        self._forget(path)

    def _forget(self, path: Path) -> None:
        for part in self._below.pop(path, ()):
            self._forget((*path, part))
        for table in (self.values, self.keys, self.written):
            table.pop(path, None)
