"""Scores of answers against references."""

import unicodedata

NORMALISATION = "NFKC, runs of white space as one blank, none at the ends; case and punctuation count"


def normalise(text: str) -> str:
    """What two answers may differ in and still be the same.

    Unicode NFKC (full-width letters, digits and punctuation become half-width, ligatures come apart), every run of
    white space becomes one blank, and none is left at the ends. Case and punctuation count.
    """
    return " ".join(unicodedata.normalize("NFKC", text).split())


def exact_match(answer: str, reference: str) -> bool:
    """Whether answer and reference are the same text after `normalise`."""
    return normalise(answer) == normalise(reference)
