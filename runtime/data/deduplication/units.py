"""What is looked for when parts of documents repeat: lines, or the sentences of lines."""

import re
from collections.abc import Collection, Iterator, Mapping

import xxhash

from runtime.contracts.dedup import Lines

LINE = "line"

# After a mark that ends a sentence, and what closes with it: in Chinese anywhere, elsewhere before a blank that no small letter
# follows, so that "e.g. this" and "3.5" are whole. The blanks belong to the sentence before them.
_SENTENCE = re.compile(
    r"(?<=[。！？｡])(?![。！？｡”’」』】）》\"')])|(?<=[。！？｡][”’」』】）》\"')])(?![”’」』】）》\"')。！？｡])"
    r"|(?<=[.!?…]\s)(?=[^\sa-z])|(?<=[.!?…][\"'”’)\]]\s)(?=[^\sa-z])"
)


def sentences(line: str) -> list[str]:
    """The sentences of a line; put together again they are the line."""
    return [piece for piece in _SENTENCE.split(line) if piece]


def keyed(text: str, limits: Lines) -> Iterator[tuple[int, int]]:
    """Place and number of each unit of a text that is long enough; the number is that of the unit without white space around it.

    Two different lines of a corpus of 100 million share a number of 64 bits with a probability of 1 in 3,700.
    """
    least, digest = limits.min_length, xxhash.xxh3_64_intdigest
    for place, unit in enumerate(text.split("\n") if limits.unit == LINE else _flat(text)):
        if len(unit) >= least and len(bare := unit.strip()) >= least:
            yield place, digest(bare.encode())


def repeated_places(text: str, limits: Lines, repeated: Mapping[int, bool]) -> list[int]:
    """Places of the units whose number is in `repeated`; one whose value is true stays where it is first met."""
    places, met = list[int](), set[int]()
    for place, key in keyed(text, limits):
        first = repeated.get(key)
        if first is not None:
            if not first or key in met:
                places.append(place)
            met.add(key)
    return places


def without(text: str, unit: str, places: Collection[int]) -> str:
    """The text without the units at `places`. A line that only had such units goes with them, and blank lines around it join."""
    kept = _lines_without if unit == LINE else _sentences_without
    return _few_blank("\n".join(kept(text, frozenset(places)))).strip("\n")


def _few_blank(text: str) -> str:
    """Without the third and later of the line ends that follow each other."""
    while "\n\n\n" in text:
        text = text.replace("\n\n\n", "\n\n")
    return text


def _flat(text: str) -> list[str]:
    """The sentences of all lines; an empty line has one, which is empty."""
    return [sentence for line in text.split("\n") for sentence in sentences(line) or [""]]


def _lines_without(text: str, gone: Collection[int]) -> list[str]:
    return [line for place, line in enumerate(text.split("\n")) if place not in gone]


def _sentences_without(text: str, gone: Collection[int]) -> Iterator[str]:
    place = 0
    for line in text.split("\n"):
        of_line = sentences(line) or [""]
        kept = [sentence for offset, sentence in enumerate(of_line) if place + offset not in gone]
        place += len(of_line)
        if len(kept) == len(of_line):
            yield line
        elif kept:
            yield "".join(kept).rstrip(" \t")
