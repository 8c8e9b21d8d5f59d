"""What is looked for when parts of documents repeat: lines, or the sentences of lines."""

import re
from collections.abc import Callable, Iterator, Mapping

import xxhash

from runtime.contracts.dedup import Lines
from runtime.data.characters import tidy

# After a mark that ends a sentence, and what closes with it: in Chinese anywhere, elsewhere before a blank that no small letter
# follows, so that "e.g. this" and "3.5" are whole. The blanks belong to the sentence before them.
_SENTENCE = re.compile(
    r"(?<=[。！？｡])(?![。！？｡”’」』】）》\"')])|(?<=[。！？｡][”’」』】）》\"')])(?![”’」』】）》\"')。！？｡])"
    r"|(?<=[.!?…]\s)(?=[^\sa-z])|(?<=[.!?…][\"'”’)\]]\s)(?=[^\sa-z])"
)


def sentences(line: str) -> list[str]:
    """The sentences of a line; put together again they are the line."""
    return [piece for piece in _SENTENCE.split(line) if piece]


def splitter(unit: str) -> Callable[[str], list[str]]:
    """How a line is split into units."""
    return sentences if unit == "sentence" else lambda line: [line]


def key_of(unit: str, limits: Lines) -> int | None:
    """A 64-bit number of a unit without the white space around it; None where it is shorter than what is looked for.

    Two different lines of a corpus of 100 million share a number with a probability of 1 in 3,700.
    """
    bare = unit.strip()
    return xxhash.xxh3_64_intdigest(bare.encode()) if len(bare) >= limits.min_length else None


def keys_of(text: str, limits: Lines) -> Iterator[int]:
    """The numbers of all units of a text, in order, as often as they occur."""
    split = splitter(limits.unit)
    for line in text.split("\n"):
        if len(line) >= limits.min_length:
            for unit in split(line):
                key = key_of(unit, limits)
                if key is not None:
                    yield key


def without(text: str, limits: Lines, repeated: Mapping[int, bool]) -> tuple[str, int]:
    """The text without its `repeated` units, and how many went. A unit whose value is true stays once, where it is first met.

    A line that only had such units goes with them; otherwise the text is as it was.
    """
    split, met, kept, removed = splitter(limits.unit), set[int](), list[str](), 0
    for line in text.split("\n"):
        units = split(line)
        stay = [unit for unit in units if _stays(key_of(unit, limits), repeated, met)]
        removed += len(units) - len(stay)
        if stay or not units:
            kept.append("".join(stay))
    return (tidy("\n".join(kept)), removed) if removed else (text, 0)


def _stays(key: int | None, repeated: Mapping[int, bool], met: set[int]) -> bool:
    if key is None or key not in repeated:
        return True
    first = repeated[key] and key not in met
    met.add(key)
    return first
