"""References between values, `${a.b}`, and the functions that a spec may call in them.

Results come from literals: a function of the time, of chance, of the host or of Hydra's launcher would give the same
spec a new identity at each start. The environment may be read by placement alone.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from compiler.diagnostics import Diagnostic
from compiler.source import Path, dotted, leaves
from compiler.spec.walk import class_of

_PURE = {"oc.select", "oc.decode", "oc.create", "oc.dict.keys", "oc.dict.values", "oc.deprecated"}
_PLACEMENT_ONLY = {"oc.env"}
_CALL = re.compile(r"\$\{\s*([A-Za-z_][\w.]*)\s*:")
_REFERENCE = re.compile(r"\$\{\s*(?:oc\.select:\s*)?([\w.\[\]]+)\s*[},]")


def faults(config: DictConfig, raw: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """Missing values, forbidden functions and references to nothing; without places.

    `config` is the composed configuration, `raw` the same as plain values with references unresolved.
    """
    for path, value in leaves(raw):
        if value == "???":
            yield Diagnostic("MS0110", "a value must be given", path=path, fix=f"set {dotted(path)} in the spec or as an override")
        elif isinstance(value, str) and "${" in value:
            volatile = _forbidden(raw, path, value, frozenset())
            yield from [_volatile(path, *volatile)] if volatile else _dangling(config, path, value)


def _forbidden(raw: Mapping[str, Any], path: Path, text: str, seen: frozenset[Path]) -> tuple[str, Path] | None:
    """The first function that `text` reaches, directly or through other values, and that the field at `path` must not."""
    allowed = _PURE | (_PLACEMENT_ONLY if class_of(path) == "placement" else set[str]())
    return _reached(raw, path, text, allowed, seen)


def _reached(raw: Mapping[str, Any], path: Path, text: str, allowed: set[str], seen: frozenset[Path]) -> tuple[str, Path] | None:
    for name in _CALL.findall(text):
        if name not in allowed:
            return name, path
    for target in (_absolute(path, written) for written in _REFERENCE.findall(text)):
        if target in seen:
            continue
        for below, value in leaves(_select(raw, target), target):
            found = isinstance(value, str) and _reached(raw, below, value, allowed, seen | {target})
            if found:
                return found
    return None


def _absolute(path: Path, written: str) -> Path:
    """`..x` starts at the grandparent of the value, as in OmegaConf."""
    dots = len(written) - len(written.lstrip("."))
    base = path[: len(path) - dots] if dots else ()
    parts = re.findall(r"[^.\[\]]+", written)
    return (*base, *(int(part) if part.isdecimal() else part for part in parts))


def _select(raw: Any, path: Path) -> Any:
    for part in path:
        try:
            raw = raw[part]
        except (KeyError, IndexError, TypeError):
            return None
    return raw


def _volatile(path: Path, name: str, origin: Path) -> Diagnostic:
    through = f" through {dotted(origin)}" if origin != path else ""
    return Diagnostic(
        "MS0112",
        f"the function {name} must not be used here{through}",
        path=path,
        reason="the value would change with the time, the machine or the launcher, and the same spec would never be found in the cache",
        fix="write the value itself",
    )


def _dangling(config: DictConfig, path: Path, text: str) -> Iterator[Diagnostic]:
    try:
        value = OmegaConf.select(config, _omegaconf_key(path), throw_on_missing=True, throw_on_resolution_failure=True)
        OmegaConf.to_container(value, resolve=True) if OmegaConf.is_config(value) else None
    except OmegaConfBaseException as error:
        yield Diagnostic(
            "MS0111",
            f"{text} refers to nothing: {str(error).splitlines()[0]}",
            path=path,
            fix="refer to an existing value by its whole path, for example ${model.seq_length}",
        )
    except RecursionError:
        yield Diagnostic("MS0111", f"{text} refers to itself", path=path, fix="break the circle")


def _omegaconf_key(path: Path) -> str:
    return "".join(f"[{part}]" for part in path)
