"""Overrides of the command line, in Hydra's grammar, with the place of each value."""

import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override, OverrideType, QuotedString
from hydra.errors import HydraException
from omegaconf._utils import split_key

from compiler.diagnostics import Diagnostic
from compiler.parse.files import ambiguous
from compiler.parse.scalars import is_ambiguous
from compiler.source import Path, Place, children

_KEY = re.compile(r"(\+\+?|~)?[A-Za-z_][\w/@:-]*(\.[\w-]+)*(\[\d+\])?", re.ASCII)


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
        return Place(f"<override {self.number}>", 1, index + 1, self.text)


def read(overrides: Sequence[str], is_group: Callable[[str], bool], *, sweep: bool = False) -> tuple[list[GivenOverride], list[Diagnostic]]:
    """All overrides without fault, and the faults of the others. In a `sweep` one may give several values."""
    given: list[GivenOverride] = []
    faults: list[Diagnostic] = []
    for number, text in enumerate(overrides, start=1):
        try:
            parsed = OverridesParser.create().parse_override(text)
            _refuse_empty_key(parsed)
        except (HydraException, RecursionError, ValueError) as error:  # nested too deep; a number of thousands of digits
            faults.append(_unreadable(number, text, error))
            continue
        override = _given(number, text, parsed, is_group)
        found = [] if sweep and override.parsed.is_sweep_override() else list(_check(override))
        faults += found
        given += [override] if not found else []
    return given, faults


def _refuse_empty_key(parsed: Override) -> None:
    """Hydra's grammar lets `=3` pass."""
    if not parsed.key_or_group:
        raise HydraException("the key is empty")


def _parsed_value(parsed: Override) -> Any:
    """Hydra's `value()` forgets which texts were in quotes."""
    return parsed._value  # pyright: ignore[reportPrivateUsage]


def _given(number: int, text: str, parsed: Override, is_group: Callable[[str], bool]) -> GivenOverride:
    """A plain override of a field may also set one that no file mentions: the schema knows the fields, so it is forced."""
    group = is_group(parsed.key_or_group) and not isinstance(_parsed_value(parsed), dict)
    plain = parsed.type is OverrideType.CHANGE and not group and not parsed.is_hydra_override()
    return GivenOverride(number, text, parsed, f"++{text}" if plain else text, group)


def _check(override: GivenOverride) -> Iterator[Diagnostic]:
    if override.parsed.is_sweep_override():
        yield _comma(override)
        return
    if override.parsed.is_hydra_override():
        yield Diagnostic("MS0107", "Hydra's own settings are not part of a spec", override.key_place, fix="leave it out")
    if override.parsed.key_or_group == "experiment":
        yield Diagnostic("MS0107", "the experiment is chosen by its name", override.key_place, fix="leave it out")
    if override.is_group and not _names_option(override):
        yield _no_option(override)
        return
    for text in _plain_texts(override):
        if is_ambiguous(text):
            yield ambiguous(text, override.value_place, override.path)


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


def _names_option(override: GivenOverride) -> bool:
    """Whether an override of a group names one of its files, or takes the group away."""
    kind = override.parsed.type
    return kind is OverrideType.DEL or (kind is OverrideType.CHANGE and isinstance(override.parsed.value(), str))


def _no_option(override: GivenOverride) -> Diagnostic:
    group = override.parsed.key_or_group
    return Diagnostic(
        "MS0107",
        f"{group} is a group: it takes the name of one file of specs/{group}",
        override.value_place,
        fix=f"write {group}=NAME, or set a field: {group}.field=value",
    )


def _comma(override: GivenOverride) -> Diagnostic:
    key = override.parsed.key_or_group
    fix = (
        f"for a list write '{key}=[{override.raw}]', for one text '{key}=\"{override.raw}\"'; "
        if "(" not in override.raw
        else "give one value; "
    )
    return Diagnostic(
        "MS0109",
        f"the value of {key} is a sweep over several values, but this is a single run",
        override.value_place,
        reason="one run can take one value only",
        fix=f"{fix}to try each value use `python -m compiler -m experiment=NAME ...`",
    )


def _unreadable(number: int, text: str, error: Exception) -> Diagnostic:
    key, equals, value = text.partition("=")
    offset = len(key) + 1 if equals else 0
    foreign = re.search(r"[^\x00-\x7f]", value)
    if foreign:
        return _unquoted(number, text, key, value, offset + foreign.start())
    place = Place(f"<override {number}>", 1, min(offset, max(len(text) - 1, 0)) + 1, text)
    if not equals:
        return Diagnostic("MS0107", f"{text} has no value", place, fix="write key=value")
    if "[" in key:
        return Diagnostic("MS0107", "an item of a list cannot be set alone", place, fix="give the whole list: key=[a,b]")
    return _unreadable_value(key, value, place, error) if _KEY.fullmatch(key) else _no_key(number, text, key, value)


def _no_key(number: int, text: str, key: str, value: str) -> Diagnostic:
    meant = key.strip().strip(".")
    example = f"{meant}={value}" if _KEY.fullmatch(meant) else "pretrain.steps=100"
    return Diagnostic(
        "MS0107",
        f"{key!r} is no path of a field" if key else "the key is empty",
        Place(f"<override {number}>", 1, 1, text),
        fix=f"write key=value, without blanks before the `=`, for example {example}",
    )


def _unreadable_value(key: str, value: str, place: Place, error: Exception) -> Diagnostic:
    if value.strip() == "~":
        return Diagnostic("MS0107", "~ is not read in an override", place, fix=f"write {key}=null", suggestion=f"{key}=null")
    if not isinstance(error, HydraException):
        return Diagnostic("MS0107", "the value is nested too deep or has too many digits", place, fix="write a plain value")
    return Diagnostic(
        "MS0107",
        f"the override cannot be read: {_first_line(error)}",
        place,
        fix=f"for a text, quote the value for Hydra inside the quotes of the shell: {shlex.quote(f'{key}={quoted(value)}')}",
    )


def quoted(value: str) -> str:
    """A text as a quoted value of Hydra's grammar: a backslash before a quote, and at the end, is doubled."""
    return '"' + re.sub(r'(\\*)("|$)', lambda found: found[1] * 2 + ('\\"' if found[2] else ""), value) + '"'


def _unquoted(number: int, text: str, key: str, value: str, index: int) -> Diagnostic:
    structured = value.lstrip()[:1] in ("[", "{")
    inner = re.sub(r"[^\s\[\]{},:\"']*[^\x00-\x7f][^\[\]{},:\"']*", r'"\g<0>"', value) if structured else quoted(value)
    meant = f"{key}={inner}"
    return Diagnostic(
        "MS0108",
        "text other than ASCII needs quotes in an override (命令行中的中文等非 ASCII 文本需要加引号)",
        Place(f"<override {number}>", 1, index + 1, text),
        reason="the shell strips one level of quotes, and Hydra's grammar wants its own",
        fix=f"write {shlex.quote(meant)} (请写成 {shlex.quote(meant)})",
        suggestion=meant,
    )


def _first_line(error: Exception) -> str:
    line = next(iter(str(error).splitlines()), type(error).__name__)
    return line.partition(" expecting ")[0]
