"""The quality rules that a language can be given: their names and limits. What they measure is in `runtime.data.quality`.

A set holds rules on lines, which take lines out of a text, and rules on documents, which drop a document; lines come first.

`gopher`: Rae et al. 2021, "Scaling Language Models: Methods, Analysis & Insights from Training Gopher", section A1.1 and
table A1. Words stand between blanks, so the set holds for languages that are written so.

`c4`: Raffel et al. 2020, "Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer", section 2.2,
without its list of bad words (`data.pretrain.filter.deny` takes one).

`gopher_c4`: lines by `c4` but for terminal punctuation, which alone costs 30 % of web text (Penedo et al. 2024, "The FineWeb
Datasets", section 3.5), then documents by both.

`chinese_basic`: limits on characters that a poem of four lines passes. `chinese_web`: for pages of the web; length, share of
Han characters and repeated 13-grams after Chen et al. 2023, "ChineseWebText: Large-scale High-quality Chinese Web Text
Extracted with Effective Evaluation Model", section 3.2; repeated lines, paragraphs and short n-grams as in `gopher`, of
characters instead of words.

`code`: lines and generated files after Chen et al. 2021, "Evaluating Large Language Models Trained on Code", section 3.1; the
share of alphanumeric characters after Li et al. 2023, "StarCoder: may the source be with you!", section 3.1.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Bound:
    """`limit`: the last value that passes; a measure must be at least that where `least`, else at most.

    `measure`: what is measured where it is not what the rule is called after.
    """

    limit: float
    least: bool = False
    measure: str | None = None


Bounds = Mapping[str, Bound]


def at_least(limit: float, measure: str | None = None) -> Bound:
    """A rule that drops what is below `limit`."""
    return Bound(limit, True, measure)


def at_most(limit: float, measure: str | None = None) -> Bound:
    """A rule that drops what is above `limit`."""
    return Bound(limit, False, measure)


@dataclass(frozen=True)
class RuleSet:
    """`lines`: rules that take lines out; `documents`: rules that drop a document. The first that is broken is counted."""

    lines: Bounds
    documents: Bounds

    @property
    def names(self) -> tuple[str, ...]:
        """All rules in the order in which they are looked at."""
        return (*self.lines, *self.documents)

    def limited(self, limits: Mapping[str, float | None]) -> "RuleSet":
        """The set with other limits; None takes a rule out."""
        return RuleSet(_limited(self.lines, limits), _limited(self.documents, limits))


def _limited(bounds: Bounds, limits: Mapping[str, float | None]) -> dict[str, Bound]:
    asked = {name: limits.get(name, bound.limit) for name, bound in bounds.items()}
    return {name: Bound(limit, bounds[name].least, bounds[name].measure) for name, limit in asked.items() if limit is not None}


_REPEATED: Bounds = {
    "repeated_lines": at_most(0.3),
    "repeated_line_characters": at_most(0.2),
    "repeated_paragraphs": at_most(0.3),
    "repeated_paragraph_characters": at_most(0.2),
}
_REPEATED_WORDS: Bounds = {
    **{f"top_{n}_words": at_most(limit) for n, limit in ((2, 0.2), (3, 0.18), (4, 0.16))},
    **{f"duplicate_{n}_words": at_most(limit) for n, limit in ((5, 0.15), (6, 0.14), (7, 0.13), (8, 0.12), (9, 0.11), (10, 0.1))},
}
_REPEATED_CHARACTERS: Bounds = {
    **{f"top_{n}_characters": at_most(limit) for n, limit in ((2, 0.2), (3, 0.18), (4, 0.16))},
    "duplicate_13_characters": at_most(0.5),
}
_GOPHER: Bounds = {
    "too_few_words": at_least(50, "words"),
    "too_many_words": at_most(100_000, "words"),
    "short_words": at_least(3, "mean_word_length"),
    "long_words": at_most(10, "mean_word_length"),
    "symbols_per_word": at_most(0.1),
    "bullet_lines": at_most(0.9),
    "ellipsis_lines": at_most(0.3),
    "alphabetic_words": at_least(0.8),
    "stop_words": at_least(2),
    **_REPEATED,
    **_REPEATED_WORDS,
}
_C4_LINES: Bounds = {
    "line_end": at_least(1),
    "line_words": at_least(5),
    "line_javascript": at_most(0),
    "line_policy": at_most(0),
}
_C4: Bounds = {"lorem_ipsum": at_most(0), "curly_brackets": at_most(0), "too_few_sentences": at_least(3, "sentences")}
_CHINESE_BASIC: Bounds = {
    "too_few_han": at_least(4, "han"),
    "han_share": at_least(0.1),
    "symbol_share": at_most(0.4),
    "one_character": at_least(5, "distinct_han"),
    "bullet_lines": at_most(0.9, "bullet_lines_of_many"),
    "ellipsis_lines": at_most(0.3, "ellipsis_lines_of_many"),
    "repeated_lines": at_most(0.3),
    "repeated_line_characters": at_most(0.2),
}
_CHINESE_WEB: Bounds = {
    "too_few_characters": at_least(200, "characters"),
    "han_share": at_least(0.3),
    "mean_line_length": at_least(10),
    "short_lines": at_most(0.67),
    "menu_lines": at_most(0.3),
    "symbol_share": at_most(0.3),
    "punctuation_share": at_least(0.01),
    "one_character": at_least(20, "distinct_han"),
    "character_run": at_most(50),
    "bullet_lines": at_most(0.9, "bullet_lines_of_many"),
    "ellipsis_lines": at_most(0.3, "ellipsis_lines_of_many"),
    **_REPEATED,
    **_REPEATED_CHARACTERS,
}
_CODE: Bounds = {
    "code_line_mean": at_most(100),
    "code_line_longest": at_most(1000),
    "alphanumeric_share": at_least(0.25),
    "generated": at_most(0),
}

CODE = "code"  # the key of `rules` for sources of this domain, and the set made for them
RULE_SETS: Mapping[str, RuleSet] = {
    "gopher": RuleSet({}, _GOPHER),
    "c4": RuleSet(_C4_LINES, _C4),
    "gopher_c4": RuleSet({name: bound for name, bound in _C4_LINES.items() if name != "line_end"}, {**_C4, **_GOPHER}),
    "chinese_basic": RuleSet({}, _CHINESE_BASIC),
    "chinese_web": RuleSet({}, _CHINESE_WEB),
    "code": RuleSet({}, _CODE),
    "none": RuleSet({}, {}),
}
