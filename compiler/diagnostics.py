"""What a user did wrong, where, why it matters and how to put it right.

Diagnostic   one fault: code, place, path, message, reason, fix, suggestion
Faults       the exception that carries all of them
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from compiler.codes import CODES
from compiler.source import Path, Place, dotted
from compiler.wording import Language, Said, in_language, listed, said
from runtime.contracts.counting import counted

Severity = Literal["error", "warning"]

_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
MASKED = "***"
_LONG, _HEAD = 24, 12  # characters
LONGEST = 160  # characters of a line that are shown around a fault
_SEVERITIES = {"error": said("error", "错误"), "warning": said("warning", "警告")}
_WHY, _FIX = said("why", "原因"), said("fix", "修复")


@dataclass(frozen=True)
class Diagnostic:
    """One fault. `reason` is the symptom it would cause later; `suggestion` a replacement for what was written.

    `related` are further places with a word on each, such as the first of two keys.
    """

    code: str
    message: str
    place: Place | None = None
    path: Path = ()
    reason: str = ""
    fix: str = ""
    suggestion: str = ""
    severity: Severity = "error"
    related: tuple[tuple[str, Place], ...] = ()

    def __post_init__(self) -> None:
        if self.code not in CODES:
            raise ValueError(f"{self.code} is not a registered code")
        self._hide([secret for place in (self.place, *(place for _, place in self.related)) if place for secret in place.secrets])

    def _hide(self, secrets: Sequence[str]) -> None:
        """Take what is masked in the lines out of the texts too."""
        for name in ("message", "reason", "fix", "suggestion") if secrets else ():
            object.__setattr__(self, name, _without(getattr(self, name), secrets))

    def as_dict(self, language: Language | None = None) -> dict[str, Any]:
        """Plain values for `--json`, with the texts in one language."""
        return {
            "code": self.code,
            "title": in_language(CODES[self.code].title, language),
            "severity": self.severity,
            "path": dotted(self.path),
            "message": in_language(self.message, language),
            "reason": in_language(self.reason, language),
            "fix": in_language(self.fix, language),
            "suggestion": self.suggestion,
            "place": _place_dict(self.place),
            "related": [{"message": in_language(word, language), "place": _place_dict(place)} for word, place in self.related],
        }


def _without(text: str, secrets: Sequence[str]) -> str:
    """The text without secrets; a long one may stand in it cut short."""
    pattern = "|".join(re.escape(secret) if len(secret) < _LONG else re.escape(secret[:_HEAD]) + r"[^\s\"']*" for secret in secrets)
    hidden = re.sub(pattern, MASKED, text)
    return said(hidden, re.sub(pattern, MASKED, text.zh)) if isinstance(text, Said) else hidden


class Faults(Exception):
    """All faults that were found, in the order of their places."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics: tuple[Diagnostic, ...] = tuple(sorted(set(diagnostics), key=_order))
        super().__init__(render(self.diagnostics, language="en"))


def _order(fault: Diagnostic) -> tuple[Any, ...]:
    place = fault.place
    where = (_natural(place.file), place.line, place.column) if place else ((), 0, 0)
    return (*where, fault.code, dotted(fault.path), fault.message)


def _natural(text: str) -> tuple[Any, ...]:
    """`<override 2>` comes before `<override 11>`."""
    return tuple(int(part) if part.isdecimal() else part for part in re.split(r"([0-9]+)", text))


def _place_dict(place: Place | None) -> dict[str, Any] | None:
    return {"file": place.file, "line": place.line, "column": place.column, "text": place.text} if place else None


def render(diagnostics: Sequence[Diagnostic], *, colour: bool = False, language: Language | None = None) -> str:
    """All faults as text for a terminal, with a count as the last line; without a language in the one that is spoken."""
    errors = sum(fault.severity == "error" for fault in diagnostics)
    numbers: tuple[tuple[int, Severity], ...] = ((errors, "error"), (len(diagnostics) - errors, "warning"))
    counts = [_count(number, severity) for number, severity in numbers if number]
    told = [render_one(fault, colour=colour, language=language) for fault in diagnostics]
    return "\n\n".join([*told, in_language(listed(counts), language)])


def render_one(fault: Diagnostic, *, colour: bool = False, language: Language | None = None) -> str:
    """One fault: its place, the line it points at, the reason and the fix."""
    paint = _paint if colour else _plain
    where = f"{fault.place}: " if fault.place else ""
    tone = "31" if fault.severity == "error" else "33"
    subject = f"{dotted(fault.path)}: " if fault.path else ""
    subject, message = visible(subject), visible(in_language(fault.message, language))
    kind = f"{in_language(_SEVERITIES[fault.severity], language)} {fault.code}"
    lines = [f"{paint(where, '1')}{paint(kind, tone)}: {subject}{message}"]
    lines += _excerpt(fault.place, tone, paint) if fault.place else []
    for word, place in fault.related:
        lines += [f"  {place}: {in_language(word, language)}", *_excerpt(place, "36", paint)]
    for head, text in ((_WHY, fault.reason), (_FIX, fault.fix)):
        lines += [f"  {in_language(head, language)}: {visible(in_language(text, language))}"] * bool(text)
    return "\n".join(lines)


def visible(text: str) -> str:
    """The text with what a terminal obeys, or nobody sees, written out: escape sequences, marks of direction, zero-width blanks."""
    return _UNSEEN.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def _excerpt(place: Place, tone: str, paint: Any) -> list[str]:
    if not place.text.strip():
        return []
    start = max(0, place.column - 1 - LONGEST // 2) if len(place.text) > LONGEST else 0
    shown, before = visible(place.text[start : start + LONGEST]), visible(place.text[start : place.column - 1])
    pad = "".join("\t" if char == "\t" else " " * width(char) for char in before)
    return [f"  | {shown}", f"  | {pad}{paint('^', tone)}"]


def width(text: str) -> int:
    """Columns that a terminal gives to a text: two for wide East Asian characters, none for combining ones."""
    return sum(0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def _count(number: int, severity: Severity) -> Said:
    return said(counted(number, severity), f"{number} 个{_SEVERITIES[severity].zh}")


def _paint(text: str, tone: str) -> str:
    return f"\x1b[{tone}m{text}\x1b[0m" if text else ""


def _plain(text: str, _tone: str) -> str:
    return text
