"""What is chosen must be there."""

import re
from collections.abc import Iterator

from compiler.diagnostics import Diagnostic
from compiler.source import Path, SourceTree
from compiler.spec import Spec
from compiler.suggest import closest, did_you_mean
from compiler.validate.rules.data import SOURCES, repeated
from compiler.validate.rules.files import missing_plain_file
from compiler.validate.rules.registry import Rules
from compiler.wording import said
from runtime.contracts.filter import NO_EXPRESSION

RULES = Rules()

FILTER: Path = ("data", "pretrain", "filter")


@RULES.needing("data")
def source_survives_the_filter(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    kept = spec.data.pretrain.filter.languages
    for name, source in spec.data.pretrain.sources.items():
        if kept and source.language and not {source.language, source.language.split("-")[0]} & {*kept}:
            yield Diagnostic(
                "MS0333",
                said(
                    f"the filter keeps {', '.join(kept)}, but the source is in {source.language}",
                    f"过滤器只保留 {'、'.join(kept)}，而该来源的语言是 {source.language}",
                ),
                path=(*SOURCES[0], name, "language"),
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
    if share > limit and not spec.data.pretrain.mix.sources:  # amounts of their own stand beside weights; the stage holds the limit
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
def expressions_compile(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    filters = spec.data.pretrain.filter
    lists: list[tuple[Path, tuple[str, ...]]] = [(("deny",), filters.deny), (("allow",), filters.allow)]
    lists += [(("topics", name, "patterns"), topic.patterns) for name, topic in filters.topics.items()]
    for field, expressions in lists:
        for index, expression in enumerate(expressions):
            try:
                re.compile(expression)
            except NO_EXPRESSION as error:
                yield Diagnostic(
                    "MS0326",
                    said(f"{expression!r}: {error}", f"正则表达式 {expression!r} 有误：{error}"),
                    path=(*FILTER, *field, index),
                    reason=said("the filter stage would fail on its first document", "过滤阶段会在第一篇文档上失败"),
                    fix=said(
                        "correct the regular expression; a literal ( . [ needs a backslash",
                        "请更正正则表达式；作为普通字符的 ( . [ 前要加反斜杠",
                    ),
                )


@RULES.needing("data")
def values_written_once(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    filters = spec.data.pretrain.filter
    for field in ("languages", "deny", "allow", "keep_topics", "drop_topics"):
        yield from repeated(getattr(filters, field), (*FILTER, field))
    for name, topic in filters.topics.items():
        for field in ("any", "none"):
            yield from repeated([word.casefold() for word in getattr(topic, field)], (*FILTER, "topics", name, field))


@RULES.needing("data")
def topics_are_there(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    filters = spec.data.pretrain.filter
    for field, names in (("keep_topics", filters.keep_topics), ("drop_topics", filters.drop_topics)):
        for index, name in enumerate(names):
            if name not in filters.topics:
                meant = closest(name, filters.topics)
                yield Diagnostic(
                    "MS0434",
                    said(f"{name} is no topic of data.pretrain.filter.topics", f"data.pretrain.filter.topics 中没有主题 {name}"),
                    path=(*FILTER, field, index),
                    reason=said("no document could be on it", "没有文档会属于它"),
                    fix=did_you_mean(meant) if meant else said("declare it, or remove its name", "请声明该主题，或删除这个名称"),
                    suggestion=meant or "",
                )


@RULES.needing("data")
def topics_can_be_told(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    filters = spec.data.pretrain.filter
    for name, topic in filters.topics.items():
        path, blank = (*FILTER, "topics", name), [word for word in (*topic.any, *topic.none) if not word.strip()]
        if blank or not (topic.any or topic.patterns):
            yield Diagnostic(
                "MS0434",
                said("a keyword is blank", "有一个关键词是空白")
                if blank
                else said("the topic has no keyword and no pattern", "该主题没有关键词，也没有正则表达式"),
                path=path,
                reason=said("it would tell of every document, or of none", "它会适用于所有文档，或不适用于任何文档"),
                fix=said("list words in `any`, or expressions in `patterns`", "请在 `any` 中列出词语，或在 `patterns` 中列出表达式"),
            )
        if name in filters.keep_topics and name in filters.drop_topics:
            yield Diagnostic(
                "MS0434",
                said(f"{name} is both kept and dropped", f"{name} 既要保留又要丢弃"),
                path=(*FILTER, "drop_topics", filters.drop_topics.index(name)),
                reason=said("dropping goes first, so nothing on it would stay", "丢弃优先，因此该主题的文档一篇也不会留下"),
                fix=said("name it in one of the two lists", "请只写在其中一个列表里"),
            )


@RULES.needing("data")
def labelled_rows_exist(spec: Spec, tree: SourceTree) -> Iterator[Diagnostic]:
    classifier = spec.data.pretrain.filter.classifier
    if classifier:
        reason = said("the classifier would have nothing to learn from", "分类器将没有可学习的数据")
        yield from missing_plain_file(tree, classifier.rows, (*FILTER, "classifier", "rows"), "MS0322", reason)
