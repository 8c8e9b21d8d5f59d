"""YAML text that YAML 1.1 readers (PyYAML, mindformers) and YAML 1.2 readers (DVC) understand alike."""

import json
import math
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, cast

import yaml

# Text that begins like a number is quoted: `1e-3` is text to one reader and a number to the other, and so are `-.5` and `._1`.
NUMBER_LIKE = re.compile(r"[-+]?\.?[0-9]|(?:[-+]\.?|\.)_|[-+]?\.(?:inf|nan)", re.IGNORECASE)
WIDTH = 2**20
WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]{0,99}|\.{1,2}/[A-Za-z0-9_./-]{0,96}")
NO_TEXT = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})


class _Dumper(yaml.SafeDumper):
    """Block style, no aliases, no folded lines."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    style = '"' if NUMBER_LIKE.match(value) or not value.isprintable() else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)  # pyright: ignore[reportUnknownMemberType]


def _float(dumper: yaml.SafeDumper, value: float) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:float", float_text(value))  # pyright: ignore[reportUnknownMemberType]


_Dumper.add_representer(str, _text)
_Dumper.add_representer(float, _float)


def float_text(value: float) -> str:
    """The shortest text that reads back as the same float, with a dot: 1.0e-06, never 1e-06. Raises ValueError on NaN or infinity."""
    if not math.isfinite(value):
        raise ValueError(f"{value} cannot be written")
    text = repr(value)
    return text.replace("e", ".0e", 1) if "e" in text and "." not in text else text


_TEXTS: dict[str, str] = {}  # of this process: most files of two experiments are the same


def to_yaml(content: Mapping[str, Any], comment: str = "") -> bytes:
    """The content as UTF-8 YAML below an optional comment line. Raises ValueError if it does not read back as itself."""
    key = repr(content)  # tells 1, 1.0, True and "1" apart
    if key not in _TEXTS:
        _TEXTS[key] = _text_of(content)
    text = _TEXTS[key]
    return (f"# {comment}\n{text}" if comment else text).encode()


def _text_of(content: Mapping[str, Any]) -> str:
    try:
        text = "".join(f"{line}\n" for line in _block(content, ""))
    except _NoSimpleKey:
        text = dumped(content)
    if yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)) != content:
        raise ValueError("the written YAML does not read back as what was meant")
    return text


def dumped(content: Any) -> str:
    """The text that PyYAML makes: what is written here is the same, in a tenth of the time."""
    return yaml.dump(content, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=WIDTH)


def _block(value: Any, indent: str) -> Iterator[str]:
    """Lines of a mapping or a list, every one indented; one line for what fits on it."""
    if isinstance(value, Mapping) and value:
        for key, item in cast(Mapping[str, Any], value).items():
            yield from _entry(f"{indent}{_key(key)}:", item, f"{indent}  ")
    elif isinstance(value, list) and value:
        for item in cast(list[Any], value):
            first, *rest = _block(item, f"{indent}  ")
            yield f"{indent}- {first.lstrip(' ')}"
            yield from rest
    else:
        yield f"{indent}{_plain(value)}"


def _entry(head: str, item: Any, indent: str) -> Iterator[str]:
    if isinstance(item, (Mapping, list)) and item:
        yield head
        yield from _block(item, indent)
    else:
        yield f"{head} {_plain(item)}"


def _plain(value: Any) -> str:
    """A scalar, or a mapping or list without content."""
    if type(value) is str:
        return _quoted(value)
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, float):
        return float_text(value)
    return str(value) if type(value) is int else dumped(value).rstrip("\n")


@cache
def _quoted(text: str) -> str:
    """A text with the quotes that it needs; most are words."""
    if WORD.fullmatch(text) and text.lower() not in NO_TEXT:
        return text
    return dumped({"key": text}).removeprefix("key: ").rstrip("\n")


@cache
def _key(text: str) -> str:
    if WORD.fullmatch(text) and text.lower() not in NO_TEXT:
        return text
    written = dumped({text: None})
    if written.startswith("?"):
        raise _NoSimpleKey
    return written.removesuffix(": null\n")


class _NoSimpleKey(Exception):
    """A key that does not fit on one line with its value: PyYAML knows the form."""


def to_json(content: Mapping[str, Any]) -> bytes:
    """The content as JSON whose numbers a YAML reader understands too."""
    return (_json(content, "") + "\n").encode()


def _json(value: Any, indent: str) -> str:
    if isinstance(value, Mapping):
        inner = indent + "  "
        items = [f"{inner}{_scalar(key)}: {_json(item, inner)}" for key, item in cast(Mapping[str, Any], value).items()]
        return "{\n" + ",\n".join(items) + f"\n{indent}}}" if items else "{}"
    if isinstance(value, list):
        return "[" + ", ".join(_json(item, indent) for item in cast(list[Any], value)) + "]"
    return _scalar(value)


def _scalar(value: Any) -> str:
    return float_text(value) if isinstance(value, float) else json.dumps(value, ensure_ascii=False)
