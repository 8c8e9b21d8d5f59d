"""Overrides of the command line, in Hydra's grammar, with the place of each value."""

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override, OverrideType, QuotedString
from hydra.errors import HydraException
from omegaconf._utils import split_key

from compiler.diagnostics import Diagnostic
from compiler.parse.defaults import foreign_setting
from compiler.parse.files import ambiguous
from compiler.parse.groups import Groups
from compiler.parse.override_faults import key_too_long, lone_item, nested_too_deep, place_of, unreadable
from compiler.parse.scalars import is_ambiguous
from compiler.quoting import quoted
from compiler.source import Path, Place, children
from compiler.wording import Said, said

DEEPEST = 50  # brackets open at once
LONGEST_KEY = 250  # characters; Hydra looks for a folder of that name


@dataclass(frozen=True)
class GivenOverride:
    """One override as given. `number` counts from 1; `line` is what Hydra gets."""

    number: int
    text: str
    parsed: Override
    line: str
    is_group: bool

    @property
    def value_place(self) -> Place:
        """Where the value begins."""
        return self._place(self.text.index("=") + 1 if "=" in self.text else 0)

    @property
    def key_place(self) -> Place:
        """Where the key begins, behind the prefix."""
        return self._place(len(self.text) - len(self.text.lstrip("+~")))

    @property
    def path(self) -> Path:
        """The key as a path."""
        return tuple(int(part) if part.isdecimal() else part for part in split_key(self.parsed.key_or_group))

    @property
    def value(self) -> Any:
        """The value as Hydra parsed it; what stood in quotes is a QuotedString."""
        return _parsed_value(self.parsed)

    @property
    def raw(self) -> str:
        """The text of the value."""
        return self.text.partition("=")[2].strip()

    def _place(self, index: int) -> Place:
        return place_of(self.number, self.text, index)


def read(overrides: Sequence[str], groups: Groups, *, sweep: bool = False) -> tuple[list[GivenOverride], list[Diagnostic]]:
    """All overrides without fault, and the faults of the others. In a `sweep` one may give several values."""
    given: list[GivenOverride] = []
    faults: list[Diagnostic] = []
    for number, text in enumerate(overrides, start=1):
        if (deep := _too_deep(text)) is not None:
            faults.append(nested_too_deep(place_of(number, text, deep)))
            continue
        if len(key := text.partition("=")[0]) > LONGEST_KEY:
            faults.append(key_too_long(number, text, len(key)))
            continue
        try:
            parsed = OverridesParser.create().parse_override(text)
            _refuse_empty_key(parsed)
        except (HydraException, RecursionError, ValueError) as error:  # nested too deep; a number of thousands of digits
            faults.append(unreadable(number, text, error, another=groups.has("experiment", text)))
            continue
        override = _given(number, text, parsed, groups)
        found = [] if sweep and override.parsed.is_sweep_override() else list(_check(override, groups))
        faults += found
        given += [override] if not found else []
    return given, [*faults, *_set_twice(given)]


def _too_deep(text: str) -> int | None:
    """Where an override nests deeper than any value of a spec; Hydra's reader would take minutes, or run out of stack."""
    depth = 0
    for index, char in enumerate(text):
        depth += (char in "[{(") - (char in "]})")
        if depth > DEEPEST:
            return index
    return None


def written_path(text: str) -> Path:
    """The path that an override was meant for, even one that cannot be read."""
    key = re.split(r"[=@]", text.lstrip("+~ "), maxsplit=1)[0]
    return tuple(int(part) if part.isdecimal() else part for part in re.findall(r"[^\s./:\[\]]+", key))


def _set_twice(given: Sequence[GivenOverride]) -> Iterator[Diagnostic]:
    """Hydra takes the last of two without a word."""
    first: dict[str, GivenOverride] = {}
    for override in given:
        key = override.parsed.key_or_group
        if key in first and not isinstance(override.value, dict):
            yield Diagnostic(
                "MS0103",
                said(f"{key} is set twice", f"{key} 设置了两次"),
                override.key_place,
                reason=said("only one of the two values would be used", "两个值只有一个会被采用"),
                fix=said("keep one", "请只保留一个"),
                related=((said("first set here", "首次设置在这里"), first[key].key_place),),
            )
        first.setdefault(key, override)


def _refuse_empty_key(parsed: Override) -> None:
    """Hydra's grammar lets `=3` pass."""
    if not parsed.key_or_group:
        raise HydraException("the key is empty")


def _parsed_value(parsed: Override) -> Any:
    """Hydra's `value()` forgets which texts were in quotes."""
    return parsed._value  # pyright: ignore[reportPrivateUsage]


def _given(number: int, text: str, parsed: Override, groups: Groups) -> GivenOverride:
    """A plain override of a field may also set one that no file mentions: the schema knows the fields, so it is forced."""
    group = groups.exists(parsed.key_or_group) and not isinstance(_parsed_value(parsed), dict)
    plain = parsed.type is OverrideType.CHANGE and not group and not parsed.is_hydra_override()
    return GivenOverride(number, text, parsed, f"++{text}" if plain else text, group)


def _check(override: GivenOverride, groups: Groups) -> Iterator[Diagnostic]:
    if override.parsed.is_sweep_override():
        yield _several(override)
        return
    if override.parsed.is_hydra_override() or override.parsed.key_or_group == "hydra":
        yield foreign_setting(override.key_place)
        return
    if override.parsed.key_or_group == "experiment":
        yield _experiment(override)
        return
    if override.is_group:
        yield from _choice(override, groups)
        return
    if override.parsed.is_delete() and any(isinstance(part, int) for part in override.path):
        yield lone_item(override.key_place)
    for text in _plain_texts(override):
        if is_ambiguous(text):
            yield ambiguous(text, override.value_place, override.path)


def _experiment(override: GivenOverride) -> Diagnostic:
    return Diagnostic(
        "MS0120",
        said("the experiment is chosen by its name", "实验由其名称选定"),
        override.key_place,
        fix=said("leave it out; its name stands behind the command", "请去掉；实验名写在命令之后"),
    )


def _choice(override: GivenOverride, groups: Groups) -> Iterator[Diagnostic]:
    """An override of a group names one of its files, or takes the group away."""
    group, value, kind = override.parsed.key_or_group, override.parsed.value(), override.parsed.type
    if kind is OverrideType.DEL:
        return
    if kind is not OverrideType.CHANGE or not isinstance(value, str) or override.parsed.package is not None:
        yield _no_choice(override, value)
    elif not groups.has(group, value):
        yield groups.no_option(group, value, override.value_place, group)


def _no_choice(override: GivenOverride, value: Any) -> Diagnostic:
    group = override.parsed.key_or_group
    meant = f"{group}={value}" if isinstance(value, str) else ""
    written = shlex.quote(meant) if meant else f"{group}=NAME"
    return Diagnostic(
        "MS0107",
        said(
            f"{group} is a group: it takes the name of one file of specs/{group}",
            f"{group} 是配置组：取值是 specs/{group} 中某个文件的名称",
        ),
        override.value_place,
        fix=said(f"write {written}, or set a field: {group}.field=value", f"请写成 {written}，或设置某个字段：{group}.field=value"),
        suggestion=meant,
    )


def _plain_texts(override: GivenOverride) -> Iterator[str]:
    value = override.value
    yield from _texts(value) if isinstance(value, (list, dict)) else _raw_text(value, override.raw)


def _raw_text(value: Any, raw: str) -> Iterator[str]:
    if not isinstance(value, QuotedString):
        yield raw


def _texts(value: Any) -> Iterator[str]:
    """Texts without quotes, keys of mappings included."""
    if isinstance(value, str):
        yield value
    for key, item in children(value):
        yield from _texts(key)
        yield from _texts(item)


def _several(override: GivenOverride) -> Diagnostic:
    key = override.parsed.key_or_group
    return Diagnostic(
        "MS0109",
        said(f"the value of {key} is a sweep over several values, but this is a single run", f"{key} 的值是一次扫描，而这里只运行一次"),
        override.value_place,
        reason=said("one run can take one value only", "一次运行只能取一个值"),
        fix=_one_value(override, key),
    )


def _one_value(override: GivenOverride, key: str) -> Said:
    several = "to try each value use `python -m compiler -m experiment=NAME ...`"
    several_zh = "要逐个尝试，请使用 `python -m compiler -m experiment=NAME ...`"
    if "(" in override.raw or override.is_group:
        return said(f"give one value; {several}", f"请只给一个值；{several_zh}")
    items, text = shlex.quote(f"{key}=[{override.raw}]"), shlex.quote(f"{key}={quoted(override.raw)}")
    return said(f"for a list write {items}, for one text {text}; {several}", f"列表请写成 {items}，单个文本请写成 {text}；{several_zh}")
