"""There must be text, and it must survive to the end."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from compiler.diagnostics import Diagnostic
from compiler.source import Path, SourceTree
from compiler.spec import Spec
from compiler.validate.rules.registry import Rules
from compiler.wording import said

RULES = Rules()

SOURCES: tuple[Path, Path] = (("data", "pretrain", "sources"), ("data", "instruct", "sources"))


def both(spec: Spec) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    yield SOURCES[0], spec.data.pretrain.sources
    yield SOURCES[1], spec.data.instruct.sources


@RULES.needing("data")
def some_source(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    for path, sources in both(spec):
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
    for path, sources in both(spec):
        if sources and all(source.weight == 0 for source in sources.values()):
            yield Diagnostic(
                "MS0323",
                said("all weights are 0", "所有权重都是 0"),
                path=path,
                reason=said("the mix would be empty", "混合后的语料将为空"),
                fix=said("give at least one source a positive weight", "请至少给一个来源正的权重"),
            )


@RULES.needing("data")
def text_field_fits_the_format(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    for name, source in spec.data.pretrain.sources.items():
        rows = source.format not in ("text", "html", "markdown")
        if rows != (source.text_field is not None):
            wanted = (
                said(f"{source.format} needs a text_field", f"{source.format} 需要 text_field")
                if rows
                else said(f"{source.format} has no fields", f"{source.format} 没有字段")
            )
            yield Diagnostic(
                "MS0324",
                wanted,
                path=(*SOURCES[0], name, "text_field"),
                reason=said(
                    "it decides which field of a row is the text; nothing else reads it", "它指定一行中哪个字段是正文；除此之外没有用处"
                ),
                fix=said("add `text_field: text`", "请加上 `text_field: text`") if rows else said("remove text_field", "请删除 text_field"),
            )


@RULES.needing("data")
def source_names_are_plain(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    for path, sources in both(spec):
        for name in sources:
            if not name.isprintable() or re.search(r"^$|[\s./\\\[\]]", name):
                yield Diagnostic(
                    "MS0206",
                    said(f"{name!r} is no name for a source", f"{name!r} 不能用作来源名"),
                    path=(*path, name),
                    reason=said("the name is part of paths of keys, in metrics and in overrides", "名称会出现在指标和覆盖项的键路径中"),
                    fix=said("write a name without blanks, dots, slashes and brackets", "名称中请勿使用空格、点、斜杠和括号"),
                )


def repeated(values: Sequence[object], path: Path) -> Iterator[Diagnostic]:
    """A fault for each value of a list that was there before."""
    seen = set[object]()  # a list of keywords may hold a million
    for index, value in enumerate(values):
        if value in seen:
            yield Diagnostic(
                "MS0330",
                said(f"{value} is written twice", f"{value} 写了两次"),
                path=(*path, index),
                reason=said("the second one changes nothing but the key of the stage", "第二个除了改变阶段的键，没有任何作用"),
                fix=said("remove it", "请删除"),
            )
        seen.add(value)
