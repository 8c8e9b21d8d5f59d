"""Hydra's refusals in the terms of a spec, with a place and a fix."""

import difflib
from collections.abc import Iterator

import yaml
from hydra.errors import MissingConfigException

from compiler.diagnostics import Diagnostic
from compiler.parse.files import SpecFile, SpecFiles
from compiler.parse.overrides import GivenOverride
from compiler.source import Place


def explain(error: Exception, given: list[GivenOverride], files: SpecFiles) -> Diagnostic:
    """One diagnostic for an exception that Hydra raised while composing."""
    if isinstance(error, MissingConfigException) and error.missing_cfg_file:
        return _missing_option(error, given, files)
    message = _message(error)
    culprit = next((override for override in given if override.line in message or override.parsed.key_or_group in message), None)
    return Diagnostic(
        "MS0113",
        f"the spec cannot be composed: {message.splitlines()[0]}",
        culprit.key_place if culprit else _file_named_in(message, files),
        fix="; ".join(line.strip() for line in message.splitlines()[1:3] if line.strip()),
    )


def _message(error: BaseException) -> str:
    """Hydra wraps the reason: the innermost message that says something."""
    while not str(error).strip() and (error.__cause__ or error.__context__):
        error = error.__cause__ or error.__context__  # type: ignore[assignment]
    return str(error).strip() or type(error).__name__


def _file_named_in(message: str, files: SpecFiles) -> Place | None:
    for name, file in files.parsed.items():
        if f"'{name.removesuffix('.yaml')}'" in message or f"In {name.removesuffix('.yaml')}:" in message:
            return file.place(0, 0)
    return None


def _missing_option(error: MissingConfigException, given: list[GivenOverride], files: SpecFiles) -> Diagnostic:
    group, _, option = str(error.missing_cfg_file).rpartition("/")
    options = sorted(error.options or ())
    close = difflib.get_close_matches(option, options, n=1)
    hint = f"did you mean {close[0]}?" if close else ""
    known = f"known: {', '.join(options)}" if options else f"there is no folder specs/{group}"
    return Diagnostic(
        "MS0106",
        f"{group} has no option {option}",
        _option_place(group, option, given, files),
        fix=f"{hint} {known}".strip(),
        suggestion=close[0] if close else "",
    )


def _option_place(group: str, option: str, given: list[GivenOverride], files: SpecFiles) -> Place | None:
    for override in given:
        if override.is_group and override.parsed.key_or_group == group:
            return override.value_place
    for file in files.parsed.values():
        for entry in _defaults(file):
            for key, value in entry.value if isinstance(entry, yaml.MappingNode) else ():
                if value.value == option and key.value.split("@")[0].split()[-1].strip("/") == group:
                    return file.at(value)
    return None


def _defaults(file: SpecFile) -> list[yaml.Node]:
    pairs = file.node.value if file.node is not None else []
    node = next((value for key, value in pairs if key.value == "defaults"), None)
    return node.value if isinstance(node, yaml.SequenceNode) else []


def without_self(file: SpecFile) -> Iterator[Diagnostic]:
    """A defaults list must say whether the file's own values win over the groups it names."""
    entries = _defaults(file)
    if entries and not any(entry.value == "_self_" for entry in entries):
        yield Diagnostic(
            "MS0105",
            "the defaults list does not say where the file's own values stand",
            file.at(entries[0]),
            ("defaults",),
            reason="whether they win over the groups would depend on the version of Hydra",
            fix="add `- _self_`: first lets the groups win, last lets this file win",
        )
