"""What is chosen must be there."""

import re
from collections.abc import Iterator

from compiler.diagnostics import Diagnostic
from compiler.source import SourceTree
from compiler.spec import Spec
from compiler.validate.rules.data import SOURCES, repeated
from compiler.validate.rules.registry import Rules
from compiler.wording import said

RULES = Rules()


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
