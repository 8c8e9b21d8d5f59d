"""Punctuation of a Chinese keyboard where YAML wants its own: `：` is no colon, `，` no comma."""

import re
import unicodedata
from dataclasses import replace

from compiler.source import Place
from compiler.wording import Said, said

_MEANT = dict(zip("：，｛｝［］", ":,{}[]", strict=True))
_BLANK = "\u3000"
_QUOTED = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\'\'|[^\'])*\'|(?:^|\s)#.*')
# A colon behind a key, a comma before one, any bracket, and a wide blank before the first word: elsewhere they are text.
_PUNCTUATION = re.compile(r"(?:^|[{,])\s*(?:- +)?[\w.-]+：|，(?=\s*[\w.-]+\s*[:：])|[｛｝［］]|^\s*\u3000")


def full_width(place: Place) -> tuple[Place, Said] | None:
    """The first character of a line that is full-width punctuation in the place of YAML's, and what to write."""
    covered = _QUOTED.sub(lambda found: " " * len(found.group()), place.text)
    found = _PUNCTUATION.search(covered)
    if found is None:
        return None
    return replace(place, column=found.end()), _instead(found.group()[-1])


def _instead(char: str) -> Said:
    if char == _BLANK:
        return said("indent with plain blanks: YAML takes a full-width one for text", "请用半角空格缩进：YAML 会把全角空格当作普通文本")
    return said(
        f"write `{_MEANT[char]}` for the full-width `{char}`, which YAML takes for text",
        f"请把全角的 `{char}` 改成半角的 `{_MEANT[char]}`：YAML 会把全角符号当作普通文本",
    )


def half_width(text: str) -> str:
    """The text in the characters of ASCII where it has look-alikes of them, without characters that nobody sees."""
    seen = "".join(char for char in unicodedata.normalize("NFKC", text) if unicodedata.category(char) != "Cf")
    return seen.replace("\u2212", "-").strip()
