"""Hydra's refusals in the terms of a spec, with a place and a fix."""

import difflib
import re
from collections.abc import Iterator
from pathlib import Path

import yaml
from hydra.errors import MissingConfigException

from compiler.diagnostics import Diagnostic
from compiler.parse.files import SpecFile, SpecFiles, entry
from compiler.parse.overrides import GivenOverride
from compiler.source import Path as KeyPath
from compiler.source import Place

_PRIMARY = "specs/mindspec.yaml"
_DETAIL = re.compile(r"\s*(full_key|object_type|reference_type)\b")


def explain(error: Exception, given: list[GivenOverride], files: SpecFiles) -> Diagnostic:
    """One diagnostic for an exception that Hydra raised while composing."""
    if isinstance(error, MissingConfigException) and error.missing_cfg_file:
        return _missing_option(error, given, files)
    message = "the defaults lists name each other in a circle" if isinstance(error, RecursionError) else _message(error)
    twice = re.match(r"(?:Multiple values for )?([\w/]+)(?: appears more than once|\. To override)", message)
    if twice:
        return _chosen_twice(twice.group(1), files)
    if clash := _clash(message, files):
        return clash
    named = [override for override in given if override.text in message or f"'{override.parsed.key_or_group}'" in message]
    culprit = max(named, key=lambda override: len(override.text), default=None)
    return Diagnostic(
        "MS0113",
        f"the spec cannot be composed: {message.splitlines()[0]}",
        culprit.key_place if culprit else _file_named_in(message, files),
        fix="; ".join(line.strip() for line in message.splitlines()[1:3] if line.strip() and not _DETAIL.match(line)),
    )


def _chosen_twice(group: str, files: SpecFiles) -> Diagnostic:
    entries = [(file, value) for file in files.parsed.values() for name, value in _group_entries(file) if name == group]
    file, value = entries[-1] if entries else (None, None)
    return Diagnostic(
        "MS0113",
        f"the group {group} is chosen twice",
        file.at(value) if file and value else None,
        reason="both files would be merged, and which one wins would depend on their order",
        fix=f"in the later defaults list write `override /{group}: NAME`",
    )


def _message(error: BaseException) -> str:
    """Hydra wraps the reason: the outermost message that gives one."""
    text = str(error).strip()
    inner = error.__cause__ or error.__context__
    if inner and (not text or text.startswith("Error merging override")):
        return f"{text}: {_message(inner)}".removeprefix(": ").replace("override ++", "override ")
    return text or type(error).__name__


def _file_named_in(message: str, files: SpecFiles) -> Place | None:
    for name, file in files.parsed.items():
        if f"'{name.removesuffix('.yaml')}'" in message or f"In {name.removesuffix('.yaml')}:" in message:
            return file.place(0, 0)
    return None


def _clash(message: str, files: SpecFiles) -> Diagnostic | None:
    """A list where another file has a mapping, or the reverse; OmegaConf does not say at which key."""
    found = re.match(r"In '([^']+)': \w+ raised while composing config:\s*Cannot merge", message)
    own = files.parsed.get(f"{found.group(1)}.yaml") if found else None
    if own is None:
        return None
    others = {path: node for file in files.parsed.values() if file is not own for path, node in _collections(file)}
    path, node = next(item for item in _collections(own) if type(item[1]) is not type(others.get(item[0], item[1])))
    wanted, got = ("a list", "a mapping") if isinstance(node, yaml.MappingNode) else ("a mapping", "a list")
    return Diagnostic("MS0203", f"expected {wanted}, got {got}", own.at(node), path, fix=f"write {wanted}")


def _collections(file: SpecFile) -> Iterator[tuple[KeyPath, yaml.Node]]:
    """Mappings and lists of a file by their path in the composed spec."""
    group = Path(file.file).parent.parts[1:]
    package = () if group in ((), ("experiment",)) else group

    def below(path: KeyPath, node: yaml.Node) -> Iterator[tuple[KeyPath, yaml.Node]]:
        if isinstance(node, (yaml.MappingNode, yaml.SequenceNode)):
            yield path, node
        for key, value in node.value if isinstance(node, yaml.MappingNode) else ():
            yield from below((*path, key.value), value)

    if file.node is not None:
        yield from below(package, file.node)


def _missing_option(error: MissingConfigException, given: list[GivenOverride], files: SpecFiles) -> Diagnostic:
    group, _, option = str(error.missing_cfg_file).rpartition("/")
    options = sorted(error.options or ())
    close = difflib.get_close_matches(option, options, n=1)
    hint = f"did you mean {close[0]}?" if close else ""
    known = f"known: {', '.join(options)}" if options else f"there is no file specs/{error.missing_cfg_file}.yaml"
    return Diagnostic(
        "MS0106",
        f"{group} has no option {option}" if group else f"there is no file {option}.yaml",
        _option_place(group, option, given, files),
        fix=f"{hint} {known}".strip(),
        suggestion=close[0] if close else "",
    )


def _option_place(group: str, option: str, given: list[GivenOverride], files: SpecFiles) -> Place | None:
    for override in given:
        if override.is_group and override.parsed.key_or_group == group:
            return override.value_place
    for file in files.parsed.values():
        for name, value in _group_entries(file):
            if name in (group, "") and value.value.rpartition("/")[2] == option:
                return file.at(value)
    return None


def _group_entries(file: SpecFile) -> Iterator[tuple[str, yaml.Node]]:
    """Groups of a defaults list with the node of the option: `override /model@x: small` is the group model, a file has none."""
    for item in _defaults(file):
        if isinstance(item, yaml.ScalarNode):
            yield "", item
        for key, value in item.value if isinstance(item, yaml.MappingNode) else ():
            yield key.value.split("@")[0].split()[-1].strip("/"), value


def _defaults(file: SpecFile) -> list[yaml.Node]:
    node = entry(file, "defaults")
    return node.value if isinstance(node, yaml.SequenceNode) else []


def _overridden(file: SpecFile) -> Iterator[Diagnostic]:
    """Hydra keeps one of two overrides of a group without a word, and lets the command line win over one of the experiment."""
    seen: set[str] = set()
    for item in _defaults(file):
        for key, value in item.value if isinstance(item, yaml.MappingNode) else ():
            group = key.value.removeprefix("override ").strip().strip("/")
            if not key.value.startswith("override "):
                continue
            if group in seen:
                yield Diagnostic(
                    "MS0113",
                    f"the group {group} is overridden twice",
                    file.at(value),
                    ("defaults",),
                    reason="only one of the two files would be used",
                    fix="keep one",
                )
            if group == "experiment":
                yield Diagnostic(
                    "MS0113",
                    "the experiment is chosen by its name",
                    file.at(value),
                    ("defaults",),
                    reason="this entry would be ignored",
                    fix=f"to build on another experiment write `- {value.value}`",
                )
            seen.add(group)


def in_file(file: SpecFile) -> Iterator[Diagnostic]:
    """What Hydra takes without a word, or chokes on: a defaults list without _self_, settings of its own in a wrong file."""
    own = entry(file, "hydra")
    if own is not None and file.file != _PRIMARY:
        yield Diagnostic(
            "MS0113",
            "Hydra's own settings are not part of an experiment",
            file.at(own),
            ("hydra",),
            fix=f"leave them out; those of the project stand in {_PRIMARY}",
        )
    yield from _overridden(file)
    entries = _defaults(file)
    if entries and not any(item.value == "_self_" for item in entries):
        yield Diagnostic(
            "MS0105",
            "the defaults list does not say where the file's own values stand",
            file.at(entries[0]),
            ("defaults",),
            reason="whether they win over the groups would depend on the version of Hydra",
            fix="add `- _self_`: first lets the groups win, last lets this file win",
        )
