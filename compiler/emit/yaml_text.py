"""YAML text that YAML 1.1 readers (PyYAML, mindformers) and YAML 1.2 readers (DVC) understand alike."""

import json
import math
import re
from collections.abc import Mapping
from typing import Any, cast

import yaml

# Text that begins like a number is quoted: `1e-3` is text to one reader and a number to the other.
NUMBER_LIKE = re.compile(r"[-+.]?[0-9]|[-+]?\.(?:inf|nan)", re.IGNORECASE)
WIDTH = 2**20


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
    text = yaml.dump(content, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=WIDTH)
    if yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)) != content:
        raise ValueError("the written YAML does not read back as what was meant")
    return text


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
