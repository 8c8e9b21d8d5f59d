"""One rule for unquoted scalars, in files and in overrides.

    null ~             nothing
    true false         a boolean
    12 -3              an integer, decimal
    0.5 1. 3e-4 1e5    a float, with a dot or an exponent
    everything else    text

What YAML 1.1, YAML 1.2, OmegaConf and Hydra's override grammar read differently (0123, 12:30, on, 0x1F, 1_000, nan) is
refused, since the same spec would mean two things.
"""

import re
from typing import Any

import yaml

from compiler.wording import Said, said

_NULL = re.compile(r"~|null|Null|NULL|")
_BOOL = re.compile(r"true|True|TRUE|false|False|FALSE")
_INT = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_FLOAT = re.compile(
    r"[-+]?((0|[1-9][0-9]*)\.[0-9]*([eE][-+]?[0-9]+)?|\.[0-9]+([eE][-+]?[0-9]+)?|(0|[1-9][0-9]*)[eE][-+]?[0-9]+)"
    r"|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)"
)
_SHOWN = 40  # characters; a longer number is not shown as another reader has it
_AMBIGUOUS = re.compile(
    r"yes|no|on|off"  # booleans of YAML 1.1
    r"|true|false|null"  # in a case that only some readers know
    r"|[-+]?(inf|infinity)|nan"  # floats of Hydra's grammar
    r"|[-+]?0[0-9]+(\.[0-9]*)?(e[-+]?[0-9]+)?"  # octal or decimal
    r"|[-+]?0[xob][0-9a-f_]+"
    r"|[-+]?[0-9]+(_[0-9]*)+(\.[0-9_]*)?(e[-+]?[0-9]+)?"
    r"|[-+]?[0-9]+(:[0-5]?[0-9])+(\.[0-9_]*)?",  # base 60
    re.IGNORECASE,
)


class SpecLoader(yaml.CSafeLoader):
    """A safe loader whose plain scalars follow the rule above."""


RESOLVERS = {"null": _NULL, "bool": _BOOL, "int": _INT, "float": _FLOAT}
SpecLoader.yaml_implicit_resolvers = {
    None: [(f"tag:yaml.org,2002:{tag}", re.compile(f"(?:{pattern.pattern})$")) for tag, pattern in RESOLVERS.items()]
}


def is_ambiguous(text: str) -> bool:
    """Whether readers disagree on an unquoted scalar."""
    if _NULL.fullmatch(text) or _BOOL.fullmatch(text):
        return False
    return _AMBIGUOUS.fullmatch(text) is not None


def other_reading(text: str) -> Said:
    """What a YAML 1.1 reader makes of an ambiguous scalar, for the message."""
    if len(text) > _SHOWN:  # of thousands of digits Python would not even make the number
        return said("a number", "数值")
    value: Any = yaml.safe_load(text)
    if isinstance(value, str):
        number = text.lower().lstrip("+-") in ("inf", "infinity", "nan")
        return said("a number", "数值") if number else said(f"the text {text!r}", f"文本 {text!r}")
    if isinstance(value, bool):
        return said(f"the boolean {str(value).lower()}", f"布尔值 {str(value).lower()}")
    return said(f"the number {value}", f"数值 {value}")
