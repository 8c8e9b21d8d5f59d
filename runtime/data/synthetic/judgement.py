"""What a judge said -> a score of 1 to 10, or None where it cannot be told without guessing."""

import re
import unicodedata

LEAST, MOST = 1.0, 10.0
_THOUGHT = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
_NUMBER = r"(-?[0-9]+(?:\.[0-9]+)?)"
_SCALE = re.compile(r"\b1\s*(?:-|–|—|~|to|到|至)\s*10\b")
_NAMED = re.compile(rf"(?:score|rating|grade|评分|得分|分数|打分)\W{{0,12}}?(?:is|of|为|是)?\W{{0,6}}?{_NUMBER}", re.IGNORECASE)
_OF_TEN = re.compile(rf"{_NUMBER}\s*(?:/\s*10\b|out of\s+10\b|分)", re.IGNORECASE)
_ANY = re.compile(_NUMBER)


def score_of(said: str) -> float | None:
    """The number that is called a score, else the one out of ten, else the only one; the last of several of a kind.

    The scale itself ("from 1 to 10") is no score. None for a number beyond the scale, and for several without a name.
    """
    text = _SCALE.sub(" ", unicodedata.normalize("NFKC", _THOUGHT.sub("", said)))
    for pattern in (_NAMED, _OF_TEN):
        if found := pattern.findall(text):
            return _in_range(found[-1])
    numbers = set(_ANY.findall(text))
    return _in_range(numbers.pop()) if len(numbers) == 1 else None


def _in_range(number: str) -> float | None:
    return float(number) if LEAST <= float(number) <= MOST else None
