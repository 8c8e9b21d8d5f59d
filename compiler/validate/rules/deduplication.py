"""What stays of duplicates, and what evaluation texts are looked for."""

from collections.abc import Iterator

from compiler.diagnostics import Diagnostic
from compiler.lower.parameters.deduplication import evaluation_files
from compiler.source import Path, SourceTree
from compiler.spec import Spec
from compiler.suggest import closest, did_you_mean, offered
from compiler.validate.rules.data import repeated
from compiler.validate.rules.files import missing_plain_file
from compiler.validate.rules.registry import Rules
from compiler.wording import said

RULES = Rules()

DEDUP: Path = ("data", "pretrain", "dedup")


@RULES.needing("data")
def priority_has_a_list(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    settings = spec.data.pretrain.dedup
    if settings.keep == "priority" and not settings.priority:
        yield Diagnostic(
            "MS0421",
            said("keep is priority, but no source is named", "keep 为 priority，但没有列出来源"),
            path=(*DEDUP, "keep"),
            reason=said("no source would be preferred to another", "没有哪个来源会优先于其他来源"),
            fix=said("add `priority: [SOURCE, ...]`, or use longest", "请加上 `priority: [来源, ...]`，或改用 longest"),
        )
    if settings.priority and settings.keep != "priority":
        yield Diagnostic(
            "MS0421",
            said(f"sources are named, but keep is {settings.keep}", f"列出了来源，但 keep 为 {settings.keep}"),
            path=(*DEDUP, "priority"),
            reason=said("nothing reads the list", "没有任何步骤会读取这个列表"),
            fix=said("write `keep: priority`, or remove the list", "请写 `keep: priority`，或删除该列表"),
        )


@RULES.needing("data")
def priority_names_sources(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    wanted, known = spec.data.pretrain.dedup.priority, list(spec.data.pretrain.sources)
    yield from repeated(wanted, (*DEDUP, "priority"))
    for index, name in enumerate(wanted):
        if name not in known:
            meant = closest(name, known)
            hint = did_you_mean(meant) if meant else said("", "")
            yield Diagnostic(
                "MS0422",
                said(f"{name} is no source", f"{name} 不是来源"),
                path=(*DEDUP, "priority", index),
                reason=said("the sources below it would move up without a word", "排在其后的来源会不声不响地前移"),
                fix=said(f"{hint} sources: {offered(name, known)}".lstrip(), f"{hint.zh}可用的来源：{offered(name, known).zh}"),
                suggestion=meant or "",
            )


@RULES.needing("data", "evaluation")
def evaluation_texts_are_there(spec: Spec, tree: SourceTree) -> Iterator[Diagnostic]:
    settings = spec.data.pretrain.dedup.decontaminate
    if settings is None:
        return
    if not evaluation_files(spec):
        yield Diagnostic(
            "MS0423",
            said("there is no evaluation text to look for", "没有可供查找的评测文本"),
            path=(*DEDUP, "decontaminate"),
            reason=said(
                "nothing would be removed, and the report would say that the corpus is clean",
                "什么都不会被去除，而报告会显示语料是干净的",
            ),
            fix=said(
                "add files to paths, or core cases with `evaluation: true`; or write `decontaminate: null`",
                "请在 paths 中加入文件，或启用核心用例（`evaluation: true`）；也可以写 `decontaminate: null`",
            ),
        )
    yield from repeated(settings.paths, (*DEDUP, "decontaminate", "paths"))
    for index, name in enumerate(settings.paths):
        reason = said("its texts could not be kept out of the corpus", "将无法把其中的文本排除在语料之外")
        yield from missing_plain_file(tree, name, (*DEDUP, "decontaminate", "paths", index), "MS0424", reason)
