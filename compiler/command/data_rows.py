"""Examples of data as a person reads them: dropped and kept documents, rows with the mask of the loss, groups of duplicates."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from rich.text import Text

from compiler.wording import in_language, said

Row = Mapping[str, Any]
TEXTS = ("text", "row", "segments", "reason", "source", "id", "language")
_NO_MARKS = {ord(sign): f"\\u{ord(sign):04x}" for sign in "⟦⟧⟪⟫"}
MEMBER_CHARACTERS, DROPPED_CHARACTERS = 200, 500


def in_turn(rows: Sequence[Row]) -> Iterator[dict[str, Any]]:
    """The first row of every source, then the second of every source, and so on."""
    by_source: dict[str, list[Row]] = {}
    for row in rows:
        by_source.setdefault(str(row.get("source")), []).append(row)
    deepest = max(map(len, by_source.values()), default=0)
    return (dict(held[depth]) for depth in range(deepest) for held in by_source.values() if depth < len(held))


def dropped(rows: Iterable[Row], *, colour: bool) -> Iterator[Text]:
    """Each with its reason first; of a long one, such as a row that could not be read, the beginning."""
    for row in rows:
        yield _head([str(row.get("reason", "")), *_told(row)])
        text = str(row.get("text") or row.get("row") or "")
        more = "…" if len(text) > DROPPED_CHARACTERS else ""
        yield Text(f"{visible(text[:DROPPED_CHARACTERS]).rstrip()}{more}\n", style="dim" if colour else "")


def sample(rows: Sequence[Row], *, colour: bool) -> Iterator[Text]:
    """Documents as they left, or rows with the tokens that are trained marked; a legend before rows."""
    if any("segments" in row for row in rows):
        yield legend(colour=colour)
    for row in rows:
        yield _head(_told(row))
        body = segments(row["segments"], colour=colour) if "segments" in row else Text(visible(str(row.get("text") or "")))
        body.rstrip()
        yield body.append("\n")


def legend(*, colour: bool) -> Text:
    """What the colours, or the marks, of a row mean."""
    parts = [
        {"text": in_language(said("counts in the loss", "计入损失")), "trained": True, "special": False},
        {"text": in_language(said("read only", "只读，不计入损失")), "trained": False, "special": False},
        {"text": in_language(said("special piece", "特殊词元")), "trained": False, "special": True},
    ]
    between = Text("  ")
    return between.join(segments([part], colour=colour) for part in parts).append("\n")


def segments(parts: Iterable[Row], *, colour: bool) -> Text:
    """On a terminal: trained green, special pieces inverse, the rest dim. Elsewhere marks, which no text can forge."""
    return _coloured(parts) if colour else Text(_marked(parts))


def _coloured(parts: Iterable[Row]) -> Text:
    shown = Text()
    for part in parts:
        special = ["reverse"] if part.get("special") else []
        shown.append(_text_of(part), " ".join([*special, "green" if part.get("trained") else "dim"]))
    return shown


def _marked(parts: Iterable[Row]) -> str:
    """The trained parts stand in ⟦ ⟧ and special pieces in ⟪ ⟫; where a text has such a sign itself, it is written as its number."""
    shown, open_mark = list[str](), False
    for part in parts:
        trained, text = bool(part.get("trained")), _text_of(part).translate(_NO_MARKS)
        if trained != open_mark:
            shown.append("⟦" if trained else "⟧")
            open_mark = trained
        shown.append(f"⟪{text}⟫" if part.get("special") else text)
    return "".join([*shown, *(["⟧"] if open_mark else [])])


def _text_of(part: Row) -> str:
    return visible(str(part.get("text") or ""))


def clusters(groups: Iterable[Row], *, colour: bool) -> Iterator[Text]:
    """Each with what was kept first, and how alike the others are to it."""
    for group in groups:
        members: Sequence[Row] = group.get("members") or ()
        count = in_language(said(f"{len(members)} documents", f"{len(members)} 篇文档"))
        alike = group.get("similarity")
        likeness = [in_language(said(f"similarity {alike}", f"相似度 {alike}"))] if alike is not None else []
        yield _head([str(group.get("kind", "")), count, *likeness])
        ordered = sorted(members, key=lambda member: member.get("id") != group.get("kept"))
        for place, one in enumerate(ordered):  # copies within a source have one id: only the first of them stays
            kept = place == 0 and one.get("id") == group.get("kept")
            mark = in_language(said("kept   ", "保留 ") if kept else said("dropped", "丢弃 "))
            text = " ".join(visible(str(one.get("text") or "")[:MEMBER_CHARACTERS]).split())
            yield Text.assemble("  ", (mark, "green" if kept and colour else ""), f" {one.get('source', '')} {one.get('id', '')}  {text}")
        yield Text()


def visible(text: str) -> str:
    """Text without what steers a terminal: control characters become control pictures, lone surrogates U+FFFD."""
    if text.isprintable():
        return text
    return "".join(_visible(one) for one in text)


def _visible(character: str) -> str:
    code = ord(character)
    if character in "\t\n" or character.isprintable() or character in "\u200c\u200d":
        return character
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\N{SYMBOL FOR DELETE}"
    return " " if character.isspace() and code > 0x9F else "\N{REPLACEMENT CHARACTER}"


def _told(row: Row) -> list[str]:
    """Source, id, language, and whatever else is short: the file, line and byte of a bad row."""
    source = row.get("source")
    named = [
        "+".join(str(one) for one in cast("list[object]", source)) if isinstance(source, list) else str(source or ""),
        _identified(str(row.get("id") or "")),
        str(row.get("language") or ""),
    ]
    told = {key: value for key, value in row.items() if key not in TEXTS and value not in ("", None) and not isinstance(value, bool)}
    others = [f"{key} {value}" for key, value in told.items() if isinstance(value, str | int | float)]
    return [visible(word) for word in (*named, *others) if word]


def _identified(id: str) -> str:
    """An id that looks like a number, such as that of a synthetic row, is called one: `8.0` beside `low_score` is no score."""
    return f"id {id}" if re.fullmatch(r"[0-9.]+", id) else id


def _head(words: Iterable[str]) -> Text:
    return Text("  ".join(words), style="bold")
