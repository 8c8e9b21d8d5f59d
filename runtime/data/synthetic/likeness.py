"""How like a text is to those that came before, exactly: the Jaccard similarity of its shingles to the nearest of them.

An inverted index of shingles finds every text that shares one, so that nothing is missed. Memory: the shingles of all texts.
"""

from collections import Counter, defaultdict

from runtime.data.shingles import tokens

Shingle = tuple[str, ...]


def shingles(text: str, ngram: int) -> frozenset[Shingle]:
    """All runs of `ngram` tokens; a text with fewer tokens is one shingle."""
    parts = tokens(text)
    if len(parts) < ngram:
        return frozenset([tuple(parts)])
    return frozenset(zip(*(parts[start:] for start in range(ngram)), strict=False))


class Likeness:
    """Texts that were added, and the most like of them."""

    def __init__(self, ngram: int) -> None:
        self._ngram = ngram
        self._holders: defaultdict[Shingle, list[int]] = defaultdict(list)
        self._sizes: list[int] = []

    def add(self, text: str) -> None:
        """Remember a text."""
        own = shingles(text, self._ngram)
        for shingle in own:
            self._holders[shingle].append(len(self._sizes))
        self._sizes.append(len(own))

    def nearest(self, text: str) -> tuple[float, int]:
        """Similarity in [0, 1] and number of the text that is most like it, the first of equal ones; (0, -1) without one."""
        own = shingles(text, self._ngram)
        common = Counter(number for shingle in own for number in self._holders.get(shingle, ()))
        alike = ((shared / (len(own) + self._sizes[number] - shared), -number) for number, shared in common.items())
        similarity, number = max(alike, default=(0.0, 1))
        return similarity, -number


def contained(text: str, around: str, ngram: int) -> float:
    """Share of the shingles of `text` that `around` has too, in [0, 1]."""
    own = shingles(text, ngram)
    return len(own & shingles(around, ngram)) / len(own)
