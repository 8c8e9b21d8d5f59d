"""A limit of a quality rule must be one that its measure can have, and two limits of one measure must leave some text."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf

from compiler.diagnostics import Diagnostic
from compiler.source import SourceTree
from compiler.spec import Spec
from compiler.validate.rules.cleaning import CLEAN
from compiler.validate.rules.registry import Rules
from compiler.wording import Said, said
from runtime.contracts.rules import RULE_SETS, Bound

RULES = Rules()

_JUDGED = 2_000_000  # characters that are judged of one text: none has more of anything
_STOP_WORDS = 8
_SHARES = {
    "alphabetic_words", "alphanumeric_share", "bullet_lines", "bullet_lines_of_many", "ellipsis_lines", "ellipsis_lines_of_many",
    "han_share", "menu_lines", "punctuation_share", "repeated_line_characters", "repeated_lines", "repeated_paragraph_characters",
    "repeated_paragraphs", "short_lines", "symbol_share",
    *(f"top_{n}_{unit}" for n in (2, 3, 4) for unit in ("words", "characters")),
    *(f"duplicate_{n}_words" for n in range(5, 11)), "duplicate_13_characters",
}  # fmt: skip
_SIZES = {"characters", "character_run", "code_line_longest", "distinct_han", "han", "line_words", "sentences", "words"}
_FOUND = {"curly_brackets", "generated", "line_javascript", "line_policy", "lorem_ipsum"}
_MEANS = {"code_line_mean", "mean_line_length", "mean_word_length"}


@dataclass(frozen=True)
class Range:
    """What a limit may be, ends included; `kind` says what it is."""

    kind: Said
    least: float
    most: float
    whole: bool = False

    def holds(self, limit: float) -> bool:
        """Whether a limit is one of these."""
        return self.least <= limit <= self.most and (not self.whole or limit == int(limit))


def range_of(rule: str, bound: Bound) -> Range:
    """The range of the limit of a rule. Raises KeyError for a measure that has none."""
    measure = bound.measure or rule
    most = _JUDGED if bound.least else inf  # above it, what must be at least the limit never is
    least = 0 if bound.least else 1  # no text is shorter than that
    if measure in _SHARES:
        return Range(said("a share", "比例"), 0, 1)
    if measure in _MEANS:
        return Range(said("a mean length", "平均长度"), least, most)
    if measure in _SIZES:
        return Range(said("a number of things that are counted", "计数"), least, most, whole=True)
    if measure in _FOUND:
        return Range(said("a number of finds", "出现次数"), 0, most, whole=True)
    return {
        "line_end": Range(said("1, or 0 for any end", "1，或 0 表示任何结尾"), 0, 1, whole=True),
        "stop_words": Range(said("a number of the 8 stop words", "停用词（共 8 个）的个数"), 0, _STOP_WORDS, whole=True),
        "symbols_per_word": Range(said("a number of symbols for each word", "每词的符号数"), 0, inf),
    }[measure]


@RULES.needing("data")
def limits_are_in_range(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    for language, rule, bound, limit in _limits(spec):
        if not (within := range_of(rule, bound)).holds(limit):
            share = said(f"a share is between 0 and 1: write {limit / 100:g}", f"比例在 0 与 1 之间：请写 {limit / 100:g}")
            percent = within.most == 1 and not within.whole and 2 <= limit <= 100
            yield Diagnostic(
                "MS0418",
                said(f"{limit:g} is no limit of {rule}", f"{limit:g} 不能用作 {rule} 的限值"),
                path=(*CLEAN, "limits", language, rule),
                reason=_reason(bound, within, limit),
                fix=share if percent else _choose(within),
                suggestion=f"{limit / 100:g}" if percent else "",
            )


def _limits(spec: Spec) -> Iterator[tuple[str, str, Bound, float]]:
    """Language, rule, the rule's own bound and the limit that replaces it."""
    clean = spec.data.pretrain.clean
    for language, limits in clean.limits.items():
        known = RULE_SETS[clean.rules.get(language, "none")]
        bounds = {**known.lines, **known.documents}
        yield from ((language, rule, bounds[rule], limit) for rule, limit in limits.items() if rule in bounds and limit is not None)


def _reason(bound: Bound, within: Range, limit: float) -> Said:
    kind = said(f"the limit is {within.kind}", f"该限值是{within.kind.zh}")
    if within.whole and limit != int(limit):
        return said(f"{kind}: it has no fraction", f"{kind.zh}，没有小数")
    drops = limit > within.most if bound.least else limit < within.least
    if drops:
        return said(f"{kind}: every text would be beyond it", f"{kind.zh}：任何文本都会超出")
    return said(f"{kind}: no text could be beyond it, and the rule would do nothing", f"{kind.zh}：没有文本会超出，规则不起作用")


def _choose(within: Range) -> Said:
    what = said("a whole number", "整数") if within.whole else said("a number", "数值")
    least, most = f"{within.least:.0f}", f"{within.most:.0f}"
    ends = (
        said(f"of at least {least}", f"不小于 {least}")
        if within.most == inf
        else said(f"from {least} to {most}", f"在 {least} 与 {most} 之间")
    )
    return said(f"write {what} {ends}, or null, which switches the rule off", f"请写{what.zh}，{ends.zh}；null 表示关闭该规则")


@RULES.needing("data")
def limits_leave_some_text(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    clean = spec.data.pretrain.clean
    for language, limits in clean.limits.items():
        bounds = RULE_SETS[clean.rules.get(language, "none")].limited(limits).documents
        for low, at_least in bounds.items():
            for high, at_most in bounds.items():
                same = (at_least.measure or low) == (at_most.measure or high)
                if same and at_least.least and not at_most.least and at_least.limit > at_most.limit:
                    yield Diagnostic(
                        "MS0418",
                        said(
                            f"{low} is {at_least.limit:g} and {high} is {at_most.limit:g}",
                            f"{low} 为 {at_least.limit:g}，而 {high} 为 {at_most.limit:g}",
                        ),
                        path=(*CLEAN, "limits", language, low if low in limits else high),
                        reason=said("every text would break one of the two", "任何文本都会违反其中之一"),
                        fix=said(f"choose a {low} below {high}", f"请让 {low} 小于 {high}"),
                    )
