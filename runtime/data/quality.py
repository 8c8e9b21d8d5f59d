"""Quality rules, each declared for the languages it makes sense in, computed over many documents at a time.

`gopher`: the document rules and the line repetition rules of Rae et al. 2021, "Scaling Language Models: Methods, Analysis
& Insights from Training Gopher", section A1.1. They count words, so they hold where words stand between blanks.

`chinese_basic`: rules on characters. A poem of four lines passes; a page left in English, a list of symbols or one
character typed a hundred times does not.
"""

from collections.abc import Callable, Sequence
from functools import cache

import polars as pl

from runtime.faults import StageFault

Rules = dict[str, pl.Expr]  # reason -> whether a document is to be dropped for it; the first that holds is counted

_TEXT = pl.col("text")
_STOP_WORDS = ("the", "be", "to", "of", "and", "that", "have", "with")
_BULLETS = r"^\s*[•‣▶◀◦■□▪▫–*-]\s*"
_ELLIPSIS = r"(…|\.\.\.)\s*$"
_HAN = r"\p{Han}"


def reasons(texts: Sequence[str], rule_set: str) -> list[str | None]:
    """For each text the first rule of the set that drops it, None where it passes. Raises StageFault for an unknown set."""
    if rule_set not in RULE_SETS:
        raise StageFault(f"unknown rules {rule_set!r}", where="config/clean.yaml", fix=f"use one of {', '.join(RULE_SETS)}")
    rules = RULE_SETS[rule_set]()
    if not rules or not texts:
        return [None] * len(texts)
    verdict = pl.coalesce(*(pl.when(drop).then(pl.lit(reason)) for reason, drop in rules.items()))
    measured = _measured(pl.DataFrame({"text": list(texts)}, schema={"text": pl.String}))
    return measured.select(verdict.alias("reason"))["reason"].to_list()


def _measured(frame: pl.DataFrame) -> pl.DataFrame:
    """Words, lines and characters of every text, which the rules share."""
    words = _TEXT.str.extract_all(r"\S+")
    lines = _TEXT.str.extract_all(r"[^\n]*\S[^\n]*")
    return frame.with_columns(words=words, lines=lines, characters=_TEXT.str.count_matches(r"\S")).with_columns(
        word_count=pl.col("words").list.len(),
        line_count=pl.col("lines").list.len(),
        line_characters=pl.col("lines").list.eval(pl.element().str.len_chars()).list.sum(),
        unique_lines=pl.col("lines").list.unique(maintain_order=True),
    )


@cache
def _gopher() -> Rules:
    words, count = pl.col("words"), pl.col("word_count")
    alphabetic = words.list.eval(pl.element().str.contains(r"\p{L}")).list.sum()
    bare = words.list.eval(pl.element().str.to_lowercase().str.strip_chars(".,;:!?\"'()"))
    stop_words = bare.list.set_intersection(list(_STOP_WORDS)).list.len()
    return {
        "too_few_words": count < 50,
        "too_many_words": count > 100_000,
        "mean_word_length": ~(pl.col("characters") / count).is_between(3, 10),
        "symbols_per_word": (pl.max_horizontal(_TEXT.str.count_matches("#"), _TEXT.str.count_matches(r"…|\.\.\.")) / count) > 0.1,
        "bullet_lines": _share_of_lines(_BULLETS) > 0.9,
        "ellipsis_lines": _share_of_lines(_ELLIPSIS) > 0.3,
        "alphabetic_words": alphabetic / count < 0.8,
        "stop_words": stop_words < 2,
        **_repetition(),
    }


@cache
def _chinese_basic() -> Rules:
    characters = pl.col("characters")
    return {
        "too_few_han": _TEXT.str.count_matches(_HAN) < 4,
        "han_share": _TEXT.str.count_matches(_HAN) / characters < 0.1,
        "symbol_share": _TEXT.str.count_matches(r"[^\p{L}\p{N}\s]") / characters > 0.4,
        "one_character": (characters >= 20) & (_TEXT.str.extract_all(_HAN).list.n_unique() < 5),
        "bullet_lines": (pl.col("line_count") > 3) & (_share_of_lines(_BULLETS) > 0.9),
        "ellipsis_lines": (pl.col("line_count") > 3) & (_share_of_lines(_ELLIPSIS) > 0.3),
        **_repetition(),
    }


def _repetition() -> Rules:
    """Repeated lines: more than 30 % of the lines, or 20 % of the characters; a refrain of a few lines is no fault."""
    unique = pl.col("unique_lines")
    characters = unique.list.eval(pl.element().str.len_chars()).list.sum()
    enough = pl.col("line_count") >= 10
    return {
        "repeated_lines": enough & (1 - unique.list.len() / pl.col("line_count") > 0.3),
        "repeated_line_characters": enough & (1 - characters / pl.col("line_characters") > 0.2),
    }


def _share_of_lines(pattern: str) -> pl.Expr:
    return pl.col("lines").list.eval(pl.element().str.contains(pattern)).list.sum() / pl.col("line_count")


RULE_SETS: dict[str, Callable[[], Rules]] = {"gopher": _gopher, "chinese_basic": _chinese_basic, "none": dict}
