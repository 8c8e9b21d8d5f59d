"""Values that must not be shown: what stands behind a key that is called like a secret, and texts in the form of a key.

A line keeps its length, so that a caret below it still points at the same character.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache

MASK = "*"
KEY = re.compile(r"(?:\b|_)(?:sk|pk|rk|gsk|hf|xai|ghp|glpat|Bearer)[-_ ][A-Za-z0-9_\-]{12,}|\bAIza[A-Za-z0-9_\-]{20,}")

_NAMES = {
    "apikey", "auth", "authorization", "bearer", "cookie", "credential", "credentials", "key", "keys", "passphrase", "passwd",
    "password", "passwords", "pwd", "secret", "secrets", "token",
}  # fmt: skip
_PIECES = {"bos", "cls", "eos", "id", "ids", "mask", "max", "new", "pad", "per", "sep", "special", "stop", "type", "unk"}  # of a vocabulary
_OF_ROWS = {"dict", "field", "foreign", "group", "json", "primary", "sort", "text"}  # a key that is none of a lock
_NAMED = re.compile(r"""(?<![\w.\-])(?P<quote>["']?)(?P<name>[A-Za-z_][\w.\-]*)(?P=quote)\s*[:=：＝]\s*""")
_SUSPECT = re.compile("auth|bearer|cookie|credential|key|pass|pwd|secret|token|://|" + KEY.pattern, re.IGNORECASE)
_QUOTED = re.compile(r"""'(?:[^']|'')*'?|"(?:\\.|[^"\\])*"?""")
_PLAIN = re.compile(r"\$\{[\w.:,${}]+\}|null|~|true|false|", re.IGNORECASE)
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*")
_USER = re.compile(r"(?<=://)[^/\s@\"']+(?=@)")  # of an address
_SHORTEST = 4  # characters of a piece that is looked for in other texts


@cache
def is_secret(name: str) -> bool:
    """Whether a key, or a part of a dotted one, is called like something that is kept secret."""
    return any(_names_a_secret(re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+", part)) for part in name.split("."))


def _names_a_secret(parts: list[str]) -> bool:
    words = [part.lower() for part in parts]
    return any(word in _NAMES for word in words) and not (
        ("token" in words and _PIECES & {*words}) or (words[-1] == "key" and _OF_ROWS & {*words})
    )


def masked(line: str) -> str:
    """A line without its secrets, each sign of them replaced."""
    if not _SUSPECT.search(line):
        return line
    shown, at = line, 0
    while found := _NAMED.search(line, at):
        at = found.end()
        if is_secret(found["name"]):
            at += len(value := _value(line, found.end()))
            if not _harmless(found["name"], value):
                shown = _covered(shown, found.end(), at)
    return _USER.sub(_stars, KEY.sub(_stars, shown))


def _stars(found: re.Match[str]) -> str:
    return MASK * len(found[0])


def masked_lines(lines: Iterable[str]) -> list[tuple[str, tuple[str, ...]]]:
    """Each line of a file without its secrets, and those; a value may go on below its key, on lines that are indented deeper."""
    groups: list[list[tuple[str, str]]] = []
    column = None
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if column is not None and (indent > column or not line.strip()):
            groups[-1].append((line, _covered(line, indent, len(line))))
        else:
            column = _open_column(line)
            groups.append([(line, masked(line))])
    return [told for group in groups for told in _together(group)]


def _together(group: list[tuple[str, str]]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Lines of one value: a message on any of them may show all of it."""
    secrets = sorted({part for line, shown in group for part in pieces(line, shown)}, key=lambda part: (-len(part), part))
    for _, shown in group:
        yield shown, tuple(secrets)


def _open_column(line: str) -> int | None:
    """Where the last key of a line stands, if it is a secret's and its value may go on below."""
    found = next(iter([*_NAMED.finditer(line)][-1:]), None) if _SUSPECT.search(line) else None
    if found is None or not is_secret(found["name"]):
        return None
    return None if _harmless(found["name"], _value(line, found.end()), empty=False) else found.start()


def _value(line: str, start: int) -> str:
    """What a value takes of its line: to its closing quote or bracket, to the next entry of braces, or to the end."""
    rest = line[start:]
    first = rest[:1]
    if quoted := _QUOTED.match(rest):
        return quoted[0]
    if first in ("{", "["):
        return rest[: _closing(rest)]
    inside = line.count("{", 0, start) > line.count("}", 0, start) or line.count("[", 0, start) > line.count("]", 0, start)
    return re.match(r"[^,}\]]*" if inside else ".*", rest)[0]  # type: ignore[index]


def _closing(text: str) -> int:
    depth = 0
    for index, char in enumerate(text):
        depth += (char in "{[") - (char in "}]")
        if depth == 0:
            return index + 1
    return len(text)


def _harmless(name: str, value: str, *, empty: bool = True) -> bool:
    """Whether a value tells nothing: none, a reference, or the name of a variable where one is asked for."""
    bare = value.strip().strip("\"'")
    return (bool(bare) or empty) and (
        _PLAIN.fullmatch(bare) is not None or (name.endswith("_env") and _VARIABLE.fullmatch(bare) is not None)
    )


def _covered(text: str, start: int, end: int) -> str:
    return text[:start] + re.sub(r"\S", MASK, text[start:end]) + text[end:]


def pieces(line: str, shown: str) -> tuple[str, ...]:
    """What was masked of a line, and what is left of it where quotes are written otherwise; the longest first."""
    if line == shown:
        return ()
    differing = "".join(char if char != other else "\n" for char, other in zip(line, shown, strict=True))
    found = {part for run in differing.split("\n") for part in (run, *re.split(r"[\"'\\]", run)) if len(part) >= _SHORTEST}
    return tuple(sorted(found, key=lambda part: (-len(part), part)))
