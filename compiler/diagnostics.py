"""What a user did wrong, where, why it matters and how to put it right.

Diagnostic   one fault: code, place, path, message, reason, fix, suggestion
Faults       the exception that carries all of them
CODES        every code with its title
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from compiler.source import Path, Place, dotted

Severity = Literal["error", "warning"]

LONGEST = 160  # characters of a line that are shown around a fault

CODES: dict[str, str] = {
    # the project and its experiments
    "MS0001": "unknown experiment",
    "MS0002": "name used by two experiments",
    "MS0003": "experiment without a proper name",
    "MS0004": "no specs folder",
    # the project's files and this machine
    "MS0021": "no lock file",
    "MS0022": "selection cannot be read",
    "MS0023": "mindspore and mindformers do not match",
    "MS0024": "installed version is not the locked one",
    "MS0025": "device is not usable here",
    "MS0026": "library is not locked",
    "MS0027": "template cannot be used",
    "MS0028": "file cannot be read",
    "MS0031": "no such record",
    "MS0032": "no such revision",
    "MS0033": "improper name",
    # reading and composing
    "MS0101": "file is not UTF-8",
    "MS0102": "YAML syntax",
    "MS0103": "key written twice",
    "MS0104": "scalar that readers understand differently",
    "MS0105": "defaults list without _self_",
    "MS0106": "unknown option of a group",
    "MS0107": "override cannot be read",
    "MS0108": "override needs quotes",
    "MS0109": "comma in a single run",
    "MS0110": "value is missing",
    "MS0111": "reference to nothing",
    "MS0112": "value that differs from run to run",
    "MS0113": "composition failed",
    "MS0114": "YAML feature outside a spec",
    # structure
    "MS0201": "unknown key",
    "MS0202": "key is missing",
    "MS0203": "wrong type",
    "MS0204": "value is not one of the allowed",
    "MS0205": "value out of range",
    "MS0206": "malformed value",
    "MS0207": "quoted number",
    "MS0208": "text without quotes",
    # meaning: model and numerics
    "MS0301": "heads do not divide the width",
    "MS0302": "heads do not share key/value heads evenly",
    "MS0303": "odd head dimension",
    "MS0304": "model family is not built",
    "MS0305": "numeric type the device cannot compute",
    # meaning: data and tokenizer
    "MS0321": "no source",
    "MS0322": "source path does not exist",
    "MS0323": "weights are all zero",
    "MS0324": "jsonl without a text field",
    "MS0325": "perplexity is not built",
    "MS0326": "regular expression is malformed",
    "MS0327": "vocabulary is too small",
    "MS0328": "special token written twice",
    "MS0329": "template does not exist",
    "MS0330": "value written twice",
    "MS0331": "tokenizer is not built",
    "MS0332": "too much synthetic text",
    "MS0333": "source that the filter drops",
    # meaning: training
    "MS0341": "warm-up is longer than training",
    "MS0342": "learning rate is not positive",
    "MS0343": "final rate above the peak",
    "MS0344": "learning rate far out of range",
    "MS0345": "fewer than two checkpoints kept",
    "MS0346": "no checkpoint before the end",
    "MS0347": "fine-tuning method is not built",
    "MS0348": "unknown LoRA target",
    "MS0349": "adapters are not described",
    "MS0350": "loss scale does not fit",
    "MS0351": "LoRA rank exceeds the layer",
    "MS0352": "accumulation is not built",
    "MS0353": "loss scale is not built",
    # meaning: devices and layout
    "MS0361": "layout does not match the devices",
    "MS0362": "layout is not built",
    "MS0363": "pipeline does not fit",
    "MS0364": "tensor parallelism does not fit",
    "MS0365": "device list does not match the count",
    # meaning: evaluation and comparison
    "MS0381": "evaluation file does not exist",
    "MS0382": "no evaluation suite",
    "MS0383": "metric without its suite",
    "MS0384": "tolerance of an unknown metric",
    "MS0385": "gate without a baseline",
    "MS0386": "baseline does not exist",
    "MS0387": "path outside the project",
    "MS0388": "evaluated with another template",
    "MS0389": "answers do not fit the window",
    "MS0390": "path that holds no data",
    "MS0391": "number that float32 cannot hold",
}


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

    def as_dict(self) -> dict[str, Any]:
        """Plain values for `--json`."""
        return {
            "code": self.code,
            "title": CODES[self.code],
            "severity": self.severity,
            "path": dotted(self.path),
            "message": self.message,
            "reason": self.reason,
            "fix": self.fix,
            "suggestion": self.suggestion,
            "place": _place_dict(self.place),
            "related": [{"message": word, "place": _place_dict(place)} for word, place in self.related],
        }


class Faults(Exception):
    """All faults that were found, in the order of their places."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics: tuple[Diagnostic, ...] = tuple(sorted(set(diagnostics), key=_order))
        super().__init__(render(self.diagnostics))


def _order(fault: Diagnostic) -> tuple[Any, ...]:
    place = fault.place
    where = (_natural(place.file), place.line, place.column) if place else ((), 0, 0)
    return (*where, fault.code, dotted(fault.path), fault.message)


def _natural(text: str) -> tuple[Any, ...]:
    """`<override 2>` comes before `<override 11>`."""
    return tuple(int(part) if part.isdecimal() else part for part in re.split(r"([0-9]+)", text))


def _place_dict(place: Place | None) -> dict[str, Any] | None:
    return {"file": place.file, "line": place.line, "column": place.column, "text": place.text} if place else None


def render(diagnostics: Sequence[Diagnostic], *, colour: bool = False) -> str:
    """All faults as text for a terminal, with a count as the last line."""
    errors = sum(fault.severity == "error" for fault in diagnostics)
    warnings = len(diagnostics) - errors
    counts = [_count(errors, "error")] * (errors > 0) + [_count(warnings, "warning")] * (warnings > 0)
    return "\n\n".join([*(render_one(fault, colour=colour) for fault in diagnostics), ", ".join(counts)])


def render_one(fault: Diagnostic, *, colour: bool = False) -> str:
    """One fault: its place, the line it points at, the reason and the fix."""
    paint = _paint if colour else _plain
    where = f"{fault.place}: " if fault.place else ""
    tone = "31" if fault.severity == "error" else "33"
    subject = f"{dotted(fault.path)}: " if fault.path else ""
    lines = [f"{paint(where, '1')}{paint(f'{fault.severity} {fault.code}', tone)}: {subject}{fault.message}"]
    lines += _excerpt(fault.place, tone, paint) if fault.place else []
    for word, place in fault.related:
        lines += [f"  {place}: {word}", *_excerpt(place, "36", paint)]
    lines += [f"  why: {fault.reason}"] * bool(fault.reason)
    lines += [f"  fix: {fault.fix}"] * bool(fault.fix)
    return "\n".join(lines)


def _excerpt(place: Place, tone: str, paint: Any) -> list[str]:
    if not place.text.strip():
        return []
    start = max(0, place.column - 1 - LONGEST // 2) if len(place.text) > LONGEST else 0
    shown, before = place.text[start : start + LONGEST], place.text[start : place.column - 1]
    pad = "".join("\t" if char == "\t" else " " * width(char) for char in before)
    return [f"  | {shown}", f"  | {pad}{paint('^', tone)}"]


def width(text: str) -> int:
    """Columns that a terminal gives to a text: two for wide East Asian characters, none for combining ones."""
    return sum(0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'s' * (number != 1)}"


def _paint(text: str, tone: str) -> str:
    return f"\x1b[{tone}m{text}\x1b[0m" if text else ""


def _plain(text: str, _tone: str) -> str:
    return text
