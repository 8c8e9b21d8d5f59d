"""There must be text, and it must survive to the end."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from compiler.diagnostics import Diagnostic
from compiler.source import Path, SourceTree
from compiler.spec import Spec
from compiler.validate.rules.files import missing_file, missing_template
from compiler.validate.rules.registry import Rules
from compiler.wording import said

RULES = Rules()

_SOURCES: tuple[Path, Path] = (("data", "pretrain", "sources"), ("data", "instruct", "sources"))


def _both(spec: Spec) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    yield _SOURCES[0], spec.data.pretrain.sources
    yield _SOURCES[1], spec.data.instruct.sources


@RULES.needing("data")
def some_source(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    for path, sources in _both(spec):
        if not sources:
            yield Diagnostic(
                "MS0321",
                said("no source is given", "没有给出数据来源"),
                path=path,
                reason=said("there would be nothing to train on", "将没有可供训练的数据"),
                fix=said("add a source", "请至少添加一个来源"),
            )


@RULES.needing("data")
def some_weight(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    for path, sources in _both(spec):
        if sources and not any(source.weight for source in sources.values()):
            yield Diagnostic(
                "MS0323",
                said("all weights are 0", "所有权重都是 0"),
                path=path,
                reason=said("the mix would be empty", "混合后的语料将为空"),
                fix=said("give at least one source a positive weight", "请至少给一个来源正的权重"),
            )


@RULES.needing("data")
def source_exists(spec: Spec, tree: SourceTree) -> Iterator[Diagnostic]:
    for path, sources in _both(spec):
        for name, source in sources.items():
            reason = said(f"source {name} would be missing from the mix", f"混合语料中将缺少来源 {name}")
            yield from missing_file(tree, source.path, (*path, name, "path"), "MS0322", reason)


@RULES.needing("data")
def source_named_once(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    for path, sources in _both(spec):
        seen: dict[str, PurePosixPath] = {}
        for name, source in sources.items():
            own = PurePosixPath(source.path)
            other = next((other for other, read in seen.items() if own.is_relative_to(read) or read.is_relative_to(own)), None)
            seen[name] = own
            if other is not None:
                yield Diagnostic(
                    "MS0330",
                    said(f"source {other} reads {source.path} too", f"来源 {other} 也读取 {source.path}")
                    if seen[other] == own
                    else said(f"source {other} reads {seen[other]}, which overlaps", f"来源 {other} 读取 {seen[other]}，二者重叠"),
                    path=(*path, name, "path"),
                    reason=said(
                        "deduplication would leave one of the two empty, and the weights would mean nothing",
                        "去重后其中一个来源会变空，权重也失去意义",
                    ),
                    fix=said(
                        "remove one of the two sources, or give each a folder of its own", "请删除其中一个来源，或让二者各用一个文件夹"
                    ),
                )


@RULES.needing("data")
def text_field_fits_the_format(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    for name, source in spec.data.pretrain.sources.items():
        rows = source.format in ("jsonl", "json")
        if rows != (source.text_field is not None):
            wanted = (
                said(f"{source.format} needs a text_field", f"{source.format} 需要 text_field")
                if rows
                else said(f"{source.format} has no fields", f"{source.format} 没有字段")
            )
            yield Diagnostic(
                "MS0324",
                wanted,
                path=(*_SOURCES[0], name, "text_field"),
                reason=said(
                    "it decides which field of a row is the text; nothing else reads it", "它指定一行中哪个字段是正文；除此之外没有用处"
                ),
                fix=said("add `text_field: text`", "请加上 `text_field: text`") if rows else said("remove text_field", "请删除 text_field"),
            )


@RULES.needing("data")
def source_survives_the_filter(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    kept = spec.data.pretrain.filter.languages
    for name, source in spec.data.pretrain.sources.items():
        if kept and source.language and source.language not in kept:
            yield Diagnostic(
                "MS0333",
                said(
                    f"the filter keeps {', '.join(kept)}, but the source is in {source.language}",
                    f"过滤器只保留 {'、'.join(kept)}，而该来源的语言是 {source.language}",
                ),
                path=(*_SOURCES[0], name, "language"),
                reason=said("every document of the source would be dropped", "该来源的所有文档都会被丢弃"),
                fix=said(
                    f"add {source.language} to data.pretrain.filter.languages, or remove the source",
                    f"请把 {source.language} 加入 data.pretrain.filter.languages，或删除该来源",
                ),
            )


@RULES.needing("data")
def synthetic_share(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    sources = spec.data.pretrain.sources.values()
    total = sum(source.weight for source in sources)
    share = sum(source.weight for source in sources if source.synthetic) / total if total else 0.0
    limit = spec.data.pretrain.mix.synthetic_max
    if share > limit:
        yield Diagnostic(
            "MS0332",
            said(
                f"the weights ask for {share:.0%} synthetic text, but at most {limit:.0%} is allowed",
                f"按权重，合成文本占 {share:.0%}，而上限为 {limit:.0%}",
            ),
            path=("data", "pretrain", "mix", "synthetic_max"),
            reason=said("a model trained mostly on the output of models loses variety", "主要用模型产出的文本训练，模型会丧失多样性"),
            fix=said("lower the weights of synthetic sources", "请降低合成来源的权重"),
        )


@RULES.needing("data")
def rules_have_a_language(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    for language in spec.data.pretrain.clean.rules:
        if not re.fullmatch(r"[a-z]{2,3}(-[A-Za-z]+)*", language):
            yield Diagnostic(
                "MS0206",
                said(f"{language} is no language tag", f"{language} 不是语言标签"),
                path=("data", "pretrain", "clean", "rules", language),
                reason=said("no document has this language, so the rules would apply to none", "没有文档属于该语言，规则将不会生效"),
                fix=said("write a language tag such as en or zh", "请写 en、zh 之类的语言标签"),
            )


@RULES.needing("data")
def source_names_are_plain(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    for path, sources in _both(spec):
        for name in sources:
            if not name.isprintable() or re.search(r"^$|[\s./\\\[\]]", name):
                yield Diagnostic(
                    "MS0206",
                    said(f"{name!r} is no name for a source", f"{name!r} 不能用作来源名"),
                    path=(*path, name),
                    reason=said("the name is part of paths of keys, in metrics and in overrides", "名称会出现在指标和覆盖项的键路径中"),
                    fix=said("write a name without blanks, dots, slashes and brackets", "名称中请勿使用空格、点、斜杠和括号"),
                )


@RULES.needing("data")
def perplexity_is_not_built(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    if spec.data.pretrain.clean.perplexity is not None:
        yield Diagnostic(
            "MS0325",
            said("the perplexity sieve is not built in this version", "本版本没有困惑度筛选"),
            path=("data", "pretrain", "clean", "perplexity"),
            reason=said(
                "no language model is there to score documents; the limit would be ignored", "没有给文档打分的语言模型，该上限会被忽略"
            ),
            fix=said(
                "write null; the quality rules of data.pretrain.clean.rules stay in force",
                "请写 null；data.pretrain.clean.rules 的质量规则仍然有效",
            ),
            suggestion="null",
        )


@RULES.needing("data")
def expressions_compile(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    filters = spec.data.pretrain.filter
    for field, expressions in (("deny", filters.deny), ("allow", filters.allow)):
        for index, expression in enumerate(expressions):
            try:
                re.compile(expression)
            except re.error as error:
                yield Diagnostic(
                    "MS0326",
                    said(f"{expression!r}: {error}", f"正则表达式 {expression!r} 有误：{error}"),
                    path=("data", "pretrain", "filter", field, index),
                    reason=said("the filter stage would fail on its first document", "过滤阶段会在第一篇文档上失败"),
                    fix=said(
                        "correct the regular expression; a literal ( . [ needs a backslash",
                        "请更正正则表达式；作为普通字符的 ( . [ 前要加反斜杠",
                    ),
                )


@RULES.needing("data")
def values_written_once(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    filters = spec.data.pretrain.filter
    for field, values in (("languages", filters.languages), ("deny", filters.deny), ("allow", filters.allow)):
        yield from repeated(values, ("data", "pretrain", "filter", field))


@RULES.needing("data")
def template_exists(spec: Spec, tree: SourceTree) -> Iterator[Diagnostic]:
    yield from missing_template(tree, spec.data.instruct.template, ("data", "instruct", "template"))


def repeated(values: Sequence[object], path: Path) -> Iterator[Diagnostic]:
    """A fault for each value of a list that was there before."""
    for index, value in enumerate(values):
        if value in values[:index]:
            yield Diagnostic(
                "MS0330",
                said(f"{value} is written twice", f"{value} 写了两次"),
                path=(*path, index),
                reason=said("the second one changes nothing but the key of the stage", "第二个除了改变阶段的键，没有任何作用"),
                fix=said("remove it", "请删除"),
            )
