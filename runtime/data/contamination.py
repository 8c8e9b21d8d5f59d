"""Text of the evaluation sets inside training text: for documents of the corpus and rows of instruction data alike.

    known = Contamination.of(texts, ngram=13)
    known.hit(text)     # the first passage of the text that an evaluation text has too, or None
    known.hits(texts)   # the same for many texts, far faster

Texts are compared as tokens: words in lower case, and single characters of scripts without blanks, after Unicode's
compatibility folding (NFKC); so case, full-width forms, white space and punctuation make no difference. The rule is that of
Brown et al. 2020, "Language Models are Few-Shot Learners", appendix C, for any script:

- an evaluation text of `ngram` tokens or more is hit by any run of `ngram` of its tokens;
- one with fewer, but at least SHORTEST (or `ngram`, if that is less), by the whole of its tokens in a row;
- one that is shorter still says too little inside a document: only a text that consists of just these tokens is hit.

Runs are compared as 64-bit numbers: two different ones are taken for equal with a probability near 2^-64.
Memory: 8 bytes for each run of an evaluation text.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from runtime.data import token_hashes
from runtime.data.ordering import compatible
from runtime.data.shingles import folded, spans
from runtime.data.token_hashes import Hashes

SHORTEST = 8  # tokens of an evaluation text that is looked for inside of documents


@dataclass(frozen=True)
class Contamination:
    """`inside`: sorted numbers of runs that must not occur in a text, by length; `whole`: those that must not be all of a text."""

    inside: Mapping[int, Hashes]
    whole: Mapping[int, Hashes]

    @classmethod
    def of(cls, texts: Iterable[str], ngram: int) -> "Contamination":
        """`texts`: those of the evaluation sets, in any order; texts without a token are never hit."""
        inside: dict[int, list[Hashes]] = defaultdict(list)
        whole: dict[int, list[Hashes]] = defaultdict(list)
        for tokens in map(_tokens, texts):
            length = min(len(tokens), ngram)
            if length >= min(SHORTEST, ngram):
                inside[length].append(token_hashes.runs(tokens, length))
            elif length:
                whole[length].append(token_hashes.runs(tokens, length))
        return cls(_united(inside), _united(whole))

    def hit(self, text: str) -> str | None:
        """The first passage, as it stands in the folded text, that an evaluation text has too."""
        return self.hits([text])[0]

    def hits(self, texts: Sequence[str]) -> list[str | None]:
        """`hit` of each text."""
        return [text[found[0][0] : found[-1][1]] if found else None for text, found in self._first(texts)]

    def passages(self, text: str) -> list[tuple[int, int]]:
        """First and last token (exclusive) of every passage that is hit; passages that touch are one."""
        tokens = _tokens(text)
        size = np.full(len(tokens), len(tokens))
        found: list[tuple[int, int]] = []
        for start, length in sorted(self._runs(tokens, size, size)):
            if found and start <= found[-1][1]:
                found[-1] = (found[-1][0], max(start + length, found[-1][1]))
            else:
                found.append((start, start + length))
        return found

    def write(self, path: Path) -> None:
        """Keep it in a file (npz)."""
        kinds = {"inside": self.inside, "whole": self.whole}
        np.savez(path, **{f"{kind}-{length}": numbers for kind, known in kinds.items() for length, numbers in known.items()})

    @classmethod
    def read(cls, path: Path) -> "Contamination":
        """Read what `write` has written."""
        found: dict[str, dict[int, Hashes]] = {"inside": {}, "whole": {}}
        with np.load(path) as stored:
            for name in stored.files:
                kind, length = name.split("-")
                found[kind][int(length)] = stored[name]
        return cls(**found)

    def _first(self, texts: Sequence[str]) -> list[tuple[str, list[tuple[int, int]]]]:
        """Each text in its comparable form, with the places of the tokens of its first run that is hit."""
        compared = [comparable(text) for text in texts]
        first = self._first_runs(token_hashes.hashed(compared))
        return [(text, list(spans(text))[first[number]] if number in first else []) for number, text in enumerate(compared)]

    def _first_runs(self, tokens: token_hashes.Tokens) -> dict[int, slice]:
        """Number of a text -> the tokens of its first run that is hit; all texts are looked at in one go."""
        owner = np.repeat(np.arange(len(tokens.counts)), tokens.counts)
        ends, starts = np.cumsum(tokens.counts), tokens.starts
        first: dict[int, slice] = {}
        for start, length in sorted(self._runs(tokens.hashes, ends[owner], tokens.counts[owner])):
            number = int(owner[start])
            begin = start - int(starts[number])
            first.setdefault(number, slice(begin, begin + length))
        return first

    def _runs(self, tokens: Hashes, ends: NDArray[np.int64], counts: NDArray[np.int64]) -> list[tuple[int, int]]:
        """Start and length of every run that is hit, where each token's text ends at `ends` and has `counts` tokens."""
        found: list[tuple[int, int]] = []
        for known, entire in ((self.inside, False), (self.whole, True)):
            for length, numbers in known.items():
                at = np.flatnonzero(_among(token_hashes.runs(tokens, length), numbers))
                at = at[(at + length <= ends[at]) & ((counts[at] == length) if entire else True)]
                found += [(int(start), length) for start in at]
        return found


def comparable(text: str) -> str:
    """The form of a text in which passages are looked for: letters without case, compatibility forms folded."""
    return folded(compatible(text))


def _tokens(text: str) -> Hashes:
    return token_hashes.hashed([comparable(text)]).hashes


def _united(runs: Mapping[int, Sequence[Hashes]]) -> dict[int, Hashes]:
    return {length: np.unique(np.concatenate(runs[length])) for length in sorted(runs)}


def _among(values: Hashes, known: Hashes) -> NDArray[np.bool_]:
    """Which values are in `known`, which is sorted and not empty."""
    return known[np.minimum(np.searchsorted(known, values), len(known) - 1)] == values
