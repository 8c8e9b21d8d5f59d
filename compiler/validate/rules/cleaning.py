"""What is cleaned away must be what was meant."""

import re
from collections.abc import Collection, Iterable, Iterator

from compiler import suggest
from compiler.diagnostics import Diagnostic
from compiler.source import Path, SourceTree
from compiler.spec import Spec
from compiler.validate.rules.files import missing_file
from compiler.validate.rules.registry import Rules
from compiler.wording import Said, listed, said
from runtime.contracts.personal import KINDS
from runtime.contracts.rules import CODE, RULE_SETS

RULES = Rules()
CLEAN: Path = ("data", "pretrain", "clean")
_OF_WORDS, _WITHOUT_BLANKS = ("gopher", "c4", "gopher_c4"), ("zh", "ja", "th", "lo", "km", "my")
_OF_HAN = ("chinese_basic", "chinese_web")


@RULES.needing("data")
def rules_have_a_language(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    for language in spec.data.pretrain.clean.rules:
        if language != CODE and not re.fullmatch(r"[a-z]{2,3}(-[A-Za-z]+)*", language):
            yield Diagnostic(
                "MS0206",
                said(f"{language} is no language tag", f"{language} 不是语言标签"),
                path=(*CLEAN, "rules", language),
                reason=said("no document has this language, so the rules would apply to none", "没有文档属于该语言，规则将不会生效"),
                fix=said("write a language tag such as en or zh", "请写 en、zh 之类的语言标签"),
            )


@RULES.needing("data")
def limits_are_of_rules(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    clean = spec.data.pretrain.clean
    for language, limits in clean.limits.items():
        name = clean.rules.get(language, "none")
        if name == "none":
            yield _no_rules(language, clean.rules)
            continue
        known = RULE_SETS[name].names
        for rule in limits:
            if rule not in known:
                yield _unknown_rule(language, rule, name)


def _no_rules(language: str, rules: Collection[str]) -> Diagnostic:
    meant = suggest.closest(language, set(rules) - {language})
    out = said(f"write limits: {{{language}: null}}, which takes them out", f"请写 limits: {{{language}: null}} 以取消这些限值")
    name = said(f"name rules in data.pretrain.clean.rules.{language}", f"在 data.pretrain.clean.rules.{language} 中指定规则")
    return Diagnostic(
        "MS0412",
        said(f"{language} has limits and no rules", f"{language} 有限值但没有规则"),
        path=(*CLEAN, "limits", language),
        reason=said("a limit replaces that of a rule; without rules it would do nothing", "限值用于替换规则的限值；没有规则时它不起作用"),
        fix=suggest.did_you_mean(meant) if meant and language not in rules else said(f"{out}, or {name}", f"{out.zh}，或{name.zh}"),
        suggestion=meant if meant and language not in rules else "",
    )


def _unknown_rule(language: str, rule: str, name: str) -> Diagnostic:
    meant = suggest.closest(rule, RULE_SETS[name].names)
    elsewhere = [other for other, known in RULE_SETS.items() if rule in known.names]
    reason = (
        said(
            f"the rule is one of {listed(elsewhere)}; {language} has {name}",
            f"该规则属于 {listed(elsewhere).zh}；{language} 使用的是 {name}",
        )
        if elsewhere
        else said("there would be nothing whose limit it is", "没有任何规则使用该限值")
    )
    return Diagnostic(
        "MS0411",
        said(f"{name} has no rule {rule}", f"{name} 中没有规则 {rule}"),
        path=(*CLEAN, "limits", language, rule),
        reason=reason,
        fix=suggest.did_you_mean(meant) if meant else _one_of(rule, RULE_SETS[name].names),
        suggestion=meant or "",
    )


@RULES.needing("data")
def rules_fit_their_language(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    for language, name in spec.data.pretrain.clean.rules.items():
        primary = language.split("-")[0]
        words = name in _OF_WORDS and primary in _WITHOUT_BLANKS
        if words or (name in _OF_HAN and language != CODE and primary != "zh"):
            yield Diagnostic(
                "MS0413",
                said(f"{name} is not made for {language}", f"{name} 不适用于 {language}"),
                path=(*CLEAN, "rules", language),
                reason=said("it counts words between blanks, which the language does not have", "它按空格数词，而该语言不用空格分词")
                if words
                else said("it wants Han characters", "它要求文本含有汉字"),
                fix=said("choose other rules, or write none", "请选用其他规则，或写 none"),
                severity="warning",
            )


@RULES.needing("data")
def placeholders_are_of_kinds(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    pii = spec.data.pretrain.clean.pii
    for kind in pii.placeholders if pii else ():
        if kind not in KINDS:
            meant = suggest.closest(kind, KINDS)
            yield Diagnostic(
                "MS0414",
                said(f"{kind} is no kind of personal data", f"{kind} 不是个人信息的类别"),
                path=(*CLEAN, "pii", "placeholders", kind),
                reason=said("nothing would be replaced by this text", "不会有内容被替换为该文本"),
                fix=suggest.did_you_mean(meant) if meant else _one_of(kind, KINDS),
                suggestion=meant or "",
            )


@RULES.needing("data")
def the_reference_is_there(spec: Spec, tree: SourceTree) -> Iterator[Diagnostic]:
    if sieve := spec.data.pretrain.clean.perplexity:
        reason = said("there would be no text to train the sieve's model from", "将没有文本可用来训练筛选模型")
        yield from missing_file(tree, sieve.reference, (*CLEAN, "perplexity", "reference"), "MS0415", reason)


@RULES.needing("data")
def the_sieve_drops_something(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    sieve = spec.data.pretrain.clean.perplexity
    if sieve and sieve.percentile is None and sieve.limit is None:
        yield Diagnostic(
            "MS0416",
            said("the sieve has neither a percentile nor a limit", "筛选既没有分位数，也没有上限"),
            path=(*CLEAN, "perplexity"),
            reason=said("every document would be scored, and none dropped", "所有文档都会被打分，却一篇也不会丢弃"),
            fix=said("give one of them, or write perplexity: null", "请给出其一，或写 perplexity: null"),
        )


def _one_of(written: str, names: Iterable[str]) -> Said:
    options = suggest.offered(written, names)
    return said(f"use one of {options}", f"请使用以下之一：{options.zh}")
