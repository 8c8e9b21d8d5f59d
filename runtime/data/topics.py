"""The topics a document is on, by keywords: all keywords of all topics are looked for in one pass over its text.

Aho and Corasick 1975, "Efficient string matching", so that thousands of keywords cost little more than one. Letters of either case
are the same. A keyword is a whole word where it begins or ends with a letter of a script with blanks between words, and any part
of the text where it does not, as in Chinese. A blank in a keyword stands for any white space.
"""

import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import ahocorasick_rs

from runtime.contracts.filter import Topic
from runtime.data.searching import Expression, compiled
from runtime.data.shingles import UNSPACED, folded
from runtime.records import Record


@lru_cache(maxsize=1 << 14)
def in_word(character: str) -> bool:
    """Whether a character is part of a word that blanks end: a letter, digit or mark, of a script with blanks."""
    code = ord(character)
    return (character == "_" or unicodedata.category(character)[0] in "LMN") and not any(first <= code <= last for first, last in UNSPACED)


@dataclass(frozen=True)
class Keyword:
    """`begins`/`ends`: whether it must stand at the beginning or end of a word; `rules_out`: topics it speaks against."""

    text: str
    begins: bool
    ends: bool
    tells_of: tuple[str, ...]
    rules_out: tuple[str, ...]

    def stands(self, text: str, start: int, end: int) -> bool:
        """Whether the keyword, found at a place of a folded text, is a word of its own there."""
        begins = not self.begins or start == 0 or not in_word(text[start - 1])
        return begins and (not self.ends or end == len(text) or not in_word(text[end]))


class Topics:
    """Tells which of the given topics a document is on."""

    def __init__(self, topics: Mapping[str, Topic]) -> None:
        """Raises StageFault for a pattern that is no regular expression."""
        self._topics = topics
        self._keywords = _keywords(topics)
        self._patterns: dict[str, tuple[Expression, ...]] = {
            name: compiled(f"topics.{name}.patterns", topic.patterns) for name, topic in topics.items()
        }
        words = [keyword.text for keyword in self._keywords]
        self._automaton = ahocorasick_rs.AhoCorasick(words) if words else None
        self._several = any(" " in word for word in words)

    def of(self, record: Record) -> list[str]:
        """Names of the topics that the document is on, in the order in which they are declared."""
        hits, ruled_out = self._found(record.text)
        return [name for name, topic in self._topics.items() if name not in ruled_out and self._enough(record, name, topic, hits[name])]

    def _found(self, text: str) -> tuple[Counter[str], set[str]]:
        hits, ruled_out = Counter[str](), set[str]()
        if self._automaton is None:
            return hits, ruled_out
        plain = folded(text)
        plain = " ".join(plain.split()) if self._several else plain
        for index, start, end in self._automaton.find_matches_as_indexes(plain, overlapping=True):
            keyword = self._keywords[index]
            if keyword.stands(plain, start, end):
                hits.update(keyword.tells_of)
                ruled_out.update(keyword.rules_out)
        return hits, ruled_out

    def _enough(self, record: Record, name: str, topic: Topic, hits: int) -> bool:
        for pattern in self._patterns[name]:
            if hits >= topic.min_hits:
                return True
            hits += pattern.count(record, topic.min_hits - hits)
        return hits >= topic.min_hits


def _keywords(topics: Mapping[str, Topic]) -> list[Keyword]:
    tells, rules = _by_word({name: topic.any for name, topic in topics.items()}), _by_word({n: t.none for n, t in topics.items()})
    return [
        Keyword(word, in_word(word[0]), in_word(word[-1]), tuple(tells.get(word, ())), tuple(rules.get(word, ())))
        for word in dict.fromkeys([*tells, *rules])
    ]


def _by_word(words: Mapping[str, tuple[str, ...]]) -> dict[str, list[str]]:
    names: dict[str, list[str]] = {}
    for name, listed in words.items():
        for word in dict.fromkeys(" ".join(folded(one).split()) for one in listed):
            names.setdefault(word, []).append(name)
    return names
