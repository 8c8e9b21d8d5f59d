"""How many near duplicates are found, and how alike what is removed is to what stays: on real text in both languages.

Documents are pieces of the handbook. Copies of each are edited as people and crawlers edit: words are replaced, deleted and
inserted, sentences change their places. Every similarity is the exact Jaccard similarity of sets of shingles, computed here
without anything that deduplication uses but its tokens.

    python -m pytest benchmarks/data/test_near_duplicates.py -q -s
"""

import random
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from resiliparse.extract.html2text import extract_plain_text

from runtime import records
from runtime.contracts.dedup import Dedup, Documents, Lines, Near
from runtime.data.dedup import Corpus, Deduplication
from runtime.data.deduplication.units import sentences
from runtime.data.shingles import tokens
from runtime.placement import Placement
from runtime.records import Record

PAGES = Path(__file__).parents[2] / "data/raw/handbook"
THRESHOLD, NGRAM = 0.8, 5
LENGTH = {"en": 1500, "zh": 500}  # characters of a document
ROUNDS, COPIES = 6, 5
LEAST_RECALL, FAR, MOST_FAR = 0.97, 0.6, 0.01

Parts = list[str]
Edit = Callable[[Parts, random.Random, float], Parts]
Shingles = frozenset[tuple[str, ...]]


def pieces(language: str) -> list[str]:
    """The text of the pages in documents of about one length, cut between lines."""
    found, lines, size = list[str](), list[str](), 0
    for path in sorted((PAGES / language).glob("*.html")):
        for line in extract_plain_text(path.read_text("utf-8"), main_content=True).split("\n"):
            if line.strip():
                lines.append(line.strip())
                size += len(line)
            if size >= LENGTH[language]:
                found.append("\n".join(lines))
                lines, size = [], 0
    return list(dict.fromkeys(found))


def replace(parts: Parts, dice: random.Random, share: float) -> Parts:
    return [dice.choice(parts) if dice.random() < share else part for part in parts]


def delete(parts: Parts, dice: random.Random, share: float) -> Parts:
    return [part for part in parts if dice.random() >= share]


def insert(parts: Parts, dice: random.Random, share: float) -> Parts:
    return [one for part in parts for one in ((part, dice.choice(parts)) if dice.random() < share else (part,))]


def cut(parts: Parts, dice: random.Random, share: float) -> Parts:
    """A run is missing: a paragraph, the end."""
    length = int(len(parts) * min(share * 8, 0.5))
    start = dice.randrange(len(parts) - length + 1)
    return parts[:start] + parts[start + length :]


def append(parts: Parts, dice: random.Random, share: float) -> Parts:
    """Something else follows: a footer, a comment."""
    return parts + dice.choices(parts, k=int(len(parts) * min(share * 8, 0.5)))


EDITS: tuple[Edit, ...] = (replace, delete, insert, cut, append)


def edited(text: str, language: str, dice: random.Random) -> str:
    """A copy with one kind of edit, of some words or characters; or with sentences in another order."""
    if dice.random() < 0.15:
        return reordered(text, dice)
    parts = text.split(" ") if language == "en" else list(text)
    joint = " " if language == "en" else ""
    return joint.join(dice.choice(EDITS)(parts, dice, dice.choice((0.002, 0.005, 0.01, 0.02, 0.03, 0.05))))


def reordered(text: str, dice: random.Random) -> str:
    parts = [sentence.strip() for line in text.split("\n") for sentence in sentences(line)]
    for _ in range(dice.randint(1, 3)):
        first, second = dice.randrange(len(parts)), dice.randrange(len(parts))
        parts[first], parts[second] = parts[second], parts[first]
    return "\n".join(parts)


def shingles(text: str) -> Shingles:
    parts = tokens(text)
    return frozenset(zip(*(parts[start:] for start in range(NGRAM)), strict=False)) or frozenset([tuple(parts)])


def jaccard(left: Shingles, right: Shingles) -> float:
    return len(left & right) / len(left | right)


def kept(texts: Sequence[str], folder: Path) -> set[int]:
    """The places of the texts that deduplication leaves."""
    records.write(folder / "in", (Record(str(place), text, "s") for place, text in enumerate(texts)))
    (folder / "out").mkdir()
    near = Near(threshold=THRESHOLD, permutations=128, ngram=NGRAM)
    parameters = Dedup(lines=Lines(exact=False, min_length=20), documents=Documents(exact=True, near=near), keep="longest")
    corpus = Corpus(records.parts(folder / "in"), folder / "work", folder / "out", [], Placement())
    Deduplication(parameters, corpus).run()
    return {int(record.id) for record in records.read(folder / "out")}


def nearest(of: Sequence[int], among: set[int], sets: Sequence[Shingles]) -> list[float]:
    """The greatest similarity of each document to one of the others, by counting common shingles with all of them."""
    holders: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for place in among:
        for shingle in sets[place]:
            holders[shingle].append(place)
    found = list[float]()
    for place in of:
        common = Counter(other for shingle in sets[place] for other in holders.get(shingle, ()))
        size = len(sets[place])
        found.append(max((count / (size + len(sets[other]) - count) for other, count in common.items()), default=0.0))
    return found


@pytest.mark.parametrize("language", ["en", "zh"])
def test_near_duplicates_are_found(language: str, tmp_path: Path) -> None:
    """One copy of each document at a time, so that no pair is found by way of a third document."""
    originals, close = pieces(language), THRESHOLD + 0.1
    found, missed = list[float](), list[float]()
    for number in range(ROUNDS):
        dice = random.Random(f"{language} {number}")
        texts = [text for original in originals for text in (original, edited(original, language, dice))]
        stay = kept(texts, tmp_path / str(number))
        for first in range(0, len(texts), 2):
            similarity = jaccard(shingles(texts[first]), shingles(texts[first + 1]))
            if similarity >= THRESHOLD:
                (missed if stay.issuperset((first, first + 1)) else found).append(similarity)
    true, edge = len(found) + len(missed), sum(one < close for one in (*found, *missed))
    recall, at_edge = len(found) / true, sum(one < close for one in found) / edge
    _tell(f"{language}: {true} pairs at {THRESHOLD} or above, recall {recall:.4f}; {edge} of them below {close:.1f}, recall {at_edge:.4f}")
    assert edge > 200
    assert recall >= LEAST_RECALL


@pytest.mark.parametrize("language", ["en", "zh"])
def test_little_else_is_removed(language: str, tmp_path: Path) -> None:
    """Several copies of each document, of which some are linked by way of others."""
    dice = random.Random(language)
    texts = [text for original in pieces(language) for text in (original, *(edited(original, language, dice) for _ in range(COPIES)))]
    stay = kept(texts, tmp_path)
    removed = [place for place in range(len(texts)) if place not in stay]
    far = sum(similarity < FAR for similarity in nearest(removed, stay, [shingles(text) for text in texts]))
    _tell(
        f"{language}: {len(removed)} of {len(texts)} removed, {far} of them less than {FAR} like all that stays ({far / len(removed):.2%})"
    )
    assert len(removed) > 1000
    assert far <= MOST_FAR * len(removed)


def _tell(figures: str) -> None:
    sys.stderr.write(f"\n{figures}\n")
