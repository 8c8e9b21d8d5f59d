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
from compiler.source import Path, children, dotted, leaves
from compiler.spec.walk import class_of
from compiler.suggest import closest, did_you_mean
from compiler.wording import Said, said

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
            where = dotted(path)
            yield Diagnostic(
                "MS0110",
                said("a value must be given", "必须给出一个值"),
                path=path,
                reason=said("??? stands for a value that every experiment gives itself", "??? 表示必须由实验自己给出的值"),
                fix=said(
                    f"set {where} in the spec or as an override: {where}=VALUE", f"请在规格中设置 {where}，或用覆盖项给出：{where}=VALUE"
                ),
            )
        elif isinstance(value, str) and "${" in value:
            volatile = _forbidden(raw, path, value, frozenset())
            yield from [_volatile(path, *volatile)] if volatile else _dangling(config, raw, path, value)


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
    through = said(f" through {dotted(origin)}", f"（经由 {dotted(origin)}）") if origin != path else said("", "")
    return Diagnostic(
        "MS0112",
        said(f"the function {name} must not be used here{through}", f"此处不能使用函数 {name}{through.zh}"),
        path=path,
        reason=said(
            "the value would change with the time, the machine or the launcher, and the same spec would never be found in the cache",
            "该值会随时间、机器或启动方式而变，同一份规格将永远无法在缓存中命中",
        ),
        fix=said("write the value itself", "请直接写出值"),
    )


def _dangling(config: DictConfig, raw: Mapping[str, Any], path: Path, text: str) -> Iterator[Diagnostic]:
    try:
        value = OmegaConf.select(config, _omegaconf_key(path), throw_on_missing=True, throw_on_resolution_failure=True)
        OmegaConf.to_container(value, resolve=True) if OmegaConf.is_config(value) else None
    except OmegaConfBaseException as error:
        yield _refers_to_nothing(raw, path, text, str(error).splitlines()[0])
    except RecursionError:
        yield _refers_to_itself(path, text)


def _refers_to_itself(path: Path, text: str) -> Diagnostic:
    message = said(f"{text} refers to itself", f"{text} 引用了自身")
    return Diagnostic(
        "MS0111", message, path=path, fix=said("break the circle: write one of the values out", "请打断循环：把其中一个值直接写出来")
    )


def _refers_to_nothing(raw: Mapping[str, Any], path: Path, text: str, told: str) -> Diagnostic:
    if "Recursive interpolation" in told or "Interpolation to parent" in told:
        return _refers_to_itself(path, text)
    absent = next((one for one in _REFERENCE.findall(text) if _select(raw, _absolute(path, one)) is None), "")
    meant = _existing(raw, _absolute(path, absent)) if absent else ""
    message = said(f"{text} refers to nothing: {told}", f"{text} 引用的内容不存在：{told}")
    if absent:
        message = said(f"{text} refers to nothing: there is no {absent}", f"{text} 引用的内容不存在：没有 {absent}")
    example: Said = said(
        "refer to an existing value by its whole path, for example ${model.seq_length}",
        "请用完整路径引用已有的值，例如 ${model.seq_length}",
    )
    suggestion = text.replace(absent, meant) if meant else ""
    return Diagnostic("MS0111", message, path=path, fix=did_you_mean(suggestion) if meant else example, suggestion=suggestion)


def _existing(raw: Any, target: Path) -> str:
    """The existing path that is nearest to one that does not exist, part by part; empty where a part is near to nothing."""
    found: list[str | int] = []
    for part in target:
        below = dict(children(raw))
        near = part if part in below else closest(str(part), map(str, below))
        if near is None:
            return ""
        found.append(near)
        raw = below[near]
    return dotted(tuple(found))


def _omegaconf_key(path: Path) -> str:
    return "".join(f"[{part}]" for part in path)
