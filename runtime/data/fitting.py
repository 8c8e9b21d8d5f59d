"""Texts that fit the limits: long ones become several documents, and lines that are too long are split, or their document refused.

Cuts lie where a reader would make them: a document ends at a blank line, a line at the end of a sentence, or else at a blank,
and never within a character that is written with several code points.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

_SENTENCE_END = re.compile(r"[.!?][\"'”’)\]]*(?=\s)|[。！？；…][”’」』）》]*")
_BLANK = re.compile(r"\s")
_JOINER, _SELECTORS = "\u200d", range(0xFE00, 0xFE10)
_NEAR = 2000  # characters
_LONGEST_CHARACTER = 64  # code points of what is drawn as one


@dataclass(frozen=True)
class Limits:
    """`line` and `document` in bytes of UTF-8; `split`: whether a longer line is split, or its document refused."""

    line: int
    document: int
    split: bool


class Fitted(NamedTuple):
    """A text, or the beginning of one that is refused for a line; `size` in bytes of UTF-8."""

    text: str
    size: int
    refused: bool = False


def fitted(blocks: Iterable[str], limits: Limits) -> Iterator[Fitted]:
    """The documents that a text becomes; it may come in blocks of any size. Memory: one document and one line."""
    held, size, start = list[str](), 0, ""
    refused = False
    for line, bytes_of_line in _lines(blocks, limits):
        if held and not refused and size + bytes_of_line > limits.document:
            cut = _paragraph_end(held)
            document, held = "".join(held[:cut]), held[cut:]
            yield Fitted(document, len(document.encode()))
            size = sum(len(one.encode()) for one in held)
        if line is None and not refused:
            refused, start, held = True, "".join(held)[: limits.line], []
        elif line is not None and not refused:
            held.append(line)
        size += bytes_of_line
        if refused and size > limits.document:
            yield Fitted(start, size, refused=True)
            refused, size, start = False, 0, ""
    if size:
        document = "".join(held)
        yield Fitted(start if refused else document, size, refused)


def fits(text: str, limits: Limits) -> bool:
    """Whether a text is one document as it stands."""
    if not text.isascii() and len(text) * 4 > limits.line:
        size, longest = len(text.encode()), max((len(line.encode()) for line in text.split("\n")), default=0)
    else:
        size = len(text) if text.isascii() else len(text) * 4
        longest = 0 if size <= limits.line else max(map(len, text.split("\n")))
    return size <= limits.document and longest <= limits.line


def cut_before(text: str, most: int) -> int:
    """Where a line longer than `most` bytes is cut: in the second half of what fits, at the best place there is."""
    head = text[:most].encode()[:most].decode("utf-8", "ignore")
    half = len(head) // 2
    for pattern in (_SENTENCE_END, _BLANK):
        for start in (max(len(head) - _NEAR, half), half):  # a good place is near the end, most of the time
            found = [match.end() for match in pattern.finditer(head, start)]
            if found:
                return found[-1]
    end = max(len(head), 1)
    nearest = range(end, max(end - _LONGEST_CHARACTER, 0), -1)
    return next((place for place in nearest if not _continues(text, place)), end)


def _continues(text: str, place: int) -> bool:
    """Whether the code point at `place` belongs to the character before it."""
    sign = text[place : place + 1]
    return sign != "" and (unicodedata.combining(sign) > 0 or sign == _JOINER or text[place - 1] == _JOINER or ord(sign) in _SELECTORS)


def _lines(blocks: Iterable[str], limits: Limits) -> Iterator[tuple[str | None, int]]:
    """Lines with their ends and sizes; None for a part of one that is too long and not to be split."""
    pending, within = "", False
    for block in blocks:
        *whole, pending = (pending + block).split("\n")
        for line in whole:
            yield from _within(line, "\n", limits) if not within else ((None, len(line.encode()) + 1),)
            within = False
        if within or len(pending) > limits.line:
            *parts, pending = _begun(pending, limits, within)
            within = within or not limits.split
            yield from ((None, len(part.encode())) if within else (part + "\n", len(part.encode()) + 1) for part in parts)
    if pending:
        yield from _within(pending, "", limits) if not within else ((None, len(pending.encode())),)


def _begun(pending: str, limits: Limits, within: bool) -> list[str]:
    """The parts of a line that goes on, and what is to be kept of it."""
    return [*_split(pending, limits.line)] if limits.split and not within else [pending, ""]


def _within(line: str, end: str, limits: Limits) -> Iterator[tuple[str | None, int]]:
    size = len(line) if line.isascii() else len(line.encode())
    if size <= limits.line:
        yield line + end, size + len(end)
    elif not limits.split:
        yield None, size + len(end)
    else:
        *parts, last = _split(line, limits.line)
        yield from ((part + "\n", len(part.encode()) + 1) for part in parts)
        yield last + end, len((last + end).encode())


def _split(line: str, most: int) -> list[str]:
    """The parts of a line, each of `most` bytes at most."""
    parts = list[str]()
    while len(line) > most or len(line.encode()) > most:
        place = cut_before(line, most)
        parts.append(line[:place])
        line = line[place:]
    return [*parts, line]


def _paragraph_end(lines: list[str]) -> int:
    """How many of the lines make a document: up to the last blank one, if it is in the second half, or all of them."""
    half = len(lines) // 2
    return next((index + 1 for index in range(len(lines) - 1, half, -1) if not lines[index].strip()), len(lines))
