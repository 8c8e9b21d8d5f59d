"""`mindspec explain`: the long text on the code of a diagnostic; without a code, all codes by area."""

import argparse
import difflib
import re
import shutil
from collections.abc import Iterator

from compiler.cli import print_json
from compiler.codes import AREAS, CODES
from compiler.diagnostics import Diagnostic, Faults, width
from compiler.wording import in_language, said

WIDEST = 100  # columns that are still read with ease
_PIECES = re.compile(r"[\u2e80-\u9fff\uff00-\uffef]|[^\s\u2e80-\u9fff\uff00-\uffef]+|\s+")
_NEVER_FIRST = "，。；：、！？）」』》"  # no line of Chinese begins with one of these


def add_arguments(sub: argparse.ArgumentParser) -> None:
    """CODE."""
    help = said("such as MS0303; without one, all codes", "例如 MS0303；省略时列出全部诊断码")
    sub.add_argument("code", nargs="?", metavar="CODE", help=in_language(help))


def run(_project: object, options: argparse.Namespace) -> int:
    """Needs no project. Raises Faults for a code that there is not."""
    if options.code is None:
        print_json(_all_as_data(), indent=2) if options.json else print("\n".join(_all_codes()))
        return 0
    code = _known(options.code)
    if options.json:
        print_json(_as_data(code), indent=2)
    else:
        print(explained(code, min(WIDEST, shutil.get_terminal_size().columns)))
    return 0


def _known(written: str) -> str:
    code = written.strip().upper()
    if code in CODES:
        return code
    close = next(iter(difflib.get_close_matches(code, list(CODES), n=1, cutoff=0.75)), "")
    hint = (
        said(f"did you mean {close} ({CODES[close].title})?", f"是否想写 {close}（{in_language(CODES[close].title, 'zh')}）？")
        if close
        else said("`mindspec explain` lists all codes", "`mindspec explain` 列出全部诊断码")
    )
    raise Faults([Diagnostic("MS0034", said(f"no diagnostic has the code {written}", f"没有诊断码 {written}"), fix=hint, suggestion=close)])


def explained(code: str, columns: int) -> str:
    """The title and the story of a code. Lines that are indented stay as they are: they are examples."""
    known = CODES[code]
    parts = in_language(known.story).splitlines()
    lines = [line for part in parts for line in ([part] if part.startswith(" ") else wrapped(part, columns))]
    return "\n".join([f"{code}: {in_language(known.title)}", *([""] if lines else []), *lines])


def wrapped(text: str, columns: int) -> list[str]:
    """Lines of at most so many columns of a terminal; a line may end behind any Chinese character, else at blanks."""
    lines: list[str] = []
    line = ""
    for piece in _PIECES.findall(text):
        if width(line + piece) > columns and line and piece not in _NEVER_FIRST:
            lines.append(line.rstrip())
            line = ""
        line += piece if line else piece.lstrip()
    return [*lines, line.rstrip()]


def _all_codes() -> Iterator[str]:
    for number, (area, codes) in enumerate(AREAS):
        yield from ([""] if number else [])
        yield in_language(area)
        yield from (f"  {code}  {in_language(known.title)}" for code, known in sorted(codes.items()))


def _as_data(code: str) -> dict[str, str]:
    known = CODES[code]
    area = next(area for area, codes in AREAS if code in codes)
    return {"code": code, "area": in_language(area), "title": in_language(known.title), "story": in_language(known.story)}


def _all_as_data() -> list[dict[str, str]]:
    return [
        {"code": code, "area": in_language(area), "title": in_language(known.title)}
        for area, codes in AREAS
        for code, known in sorted(codes.items())
    ]
