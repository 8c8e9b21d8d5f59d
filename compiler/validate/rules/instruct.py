"""Rows of fine-tuning."""

from collections.abc import Iterator
from pathlib import Path as FilePath

from compiler import suggest
from compiler.diagnostics import Diagnostic
from compiler.instruct_sample import sample
from compiler.resolve.template import faults as template_faults
from compiler.resolve.template import says_tools, templates
from compiler.source import Path, SourceTree
from compiler.spec import Spec
from compiler.spec.data.instruct import InstructRows, InstructSource
from compiler.spec.data.synthetic import recipe_of
from compiler.validate.rules.files import missing_template
from compiler.validate.rules.registry import Rules
from compiler.wording import Said, listed, said
from runtime.contracts.format import FIELDS

RULES = Rules()


@RULES.needing("data")
def template_exists(spec: Spec, tree: SourceTree) -> Iterator[Diagnostic]:
    yield from missing_template(tree, spec.data.instruct.template, ("data", "instruct", "template"))


@RULES.needing("data", "tokenizer")
def template_fits_the_tokenizer(spec: Spec, tree: SourceTree) -> Iterator[Diagnostic]:
    if spec.data.instruct.template in templates(FilePath(tree.root)):
        yield from template_faults(spec, FilePath(tree.root))


@RULES.needing("data")
def mapped_names_are_known(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    for name, source in spec.data.instruct.sources.items():
        path: Path = ("data", "instruct", "sources", name)
        yield from _unknown_fields(source, path)
        if source.roles and source.format == "alpaca":
            yield Diagnostic(
                "MS0441",
                said("rows of alpaca have no tags", "alpaca 格式的样本没有标签"),
                path=(*path, "roles"),
                reason=said("the mapping would do nothing", "该映射不会起任何作用"),
                fix=said("take `roles` out, or set the format that the rows have", "请删去 `roles`，或设置与样本相符的格式"),
            )


def _unknown_fields(source: InstructSource, path: Path) -> Iterator[Diagnostic]:
    known = FIELDS[source.format]
    for field in source.fields:
        if field not in known:
            meant = suggest.closest(field, known)
            hint = suggest.did_you_mean(meant) if meant else said("", "")
            yield Diagnostic(
                "MS0441",
                said(f"{source.format} has no field {field!r}", f"{source.format} 格式没有字段 {field!r}"),
                path=(*path, "fields", field),
                reason=said("the mapping would do nothing, and rows would be refused", "该映射不会起作用，样本会被拒绝"),
                fix=said(
                    f"{hint} name a field of the format, and behind the colon that of the rows: {', '.join(known)}".lstrip(),
                    f"{hint.zh}请写格式中的字段，冒号之后写样本中的字段：{listed(known).zh}",
                ),
                suggestion=meant or "",
            )


@RULES.needing("data")
def template_can_say_tools(spec: Spec, tree: SourceTree) -> Iterator[Diagnostic]:
    rows, root = spec.data.instruct, FilePath(tree.root)
    if says_tools(root, rows.template) is not False:
        return
    for name, source in rows.sources.items():
        path: Path = ("data", "instruct", "sources", name)
        if source.weight == 0 or recipe_of(source.path) is not None:
            continue
        if declared := _declares_tools(source):
            message = said(f"`{declared}` of {name} speaks of tools", f"{name} 的 `{declared}` 与工具有关")
            yield _no_tools(rows, root, message, (*path, declared))
        elif calls := sample(source, root).calls:
            message = said(f"rows of {name} have tools: {calls} of the first ones", f"{name} 的样本带有工具：前若干个中有 {calls} 个")
            yield _no_tools(rows, root, message, (*path, "path"))


def _declares_tools(source: InstructSource) -> str | None:
    """The field of a source that says that its rows have tools."""
    if {"tool", "function_call"} & set(source.roles.values()):
        return "roles"
    return "fields" if {"tools", "tool_calls"} & source.fields.keys() else None


def _no_tools(rows: InstructRows, root: FilePath, message: Said, path: Path) -> Diagnostic:
    able = [name for name in templates(root) if says_tools(root, name)]
    known = listed(able) if able else said("none", "无")
    refused = rows.bad_rows == "refuse"
    return Diagnostic(
        "MS0444",
        said(f"{message}, and the template {rows.template} cannot say tool", f"{message.zh}，而模板 {rows.template} 无法表达工具"),
        path=path,
        reason=said(
            "the stage format would stop at the first such row, after pre-training" if refused else "such rows would be quarantined",
            "format 阶段会在第一个这样的样本处终止，而那已在预训练之后" if refused else "这样的样本会被隔离",
        ),
        fix=said(
            f"set data.instruct.template to one that can: {known}; or take such rows out",
            f"请把 data.instruct.template 设为可以表达工具的模板：{known.zh}；或删去这样的样本",
        ),
        severity="error" if refused else "warning",
    )


@RULES.needing("pack")
def shared_rows_are_stated(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    if spec.pack.dialogues == "several":
        yield Diagnostic(
            "MS0442",
            said("dialogues in one row see each other", "同一行中的对话彼此可见"),
            path=("pack", "dialogues"),
            reason=said(
                "the backend has one causal mask for a row: the loss does not cross from one dialogue to the next, attention does",
                "后端对每行只有一个因果掩码：损失不会跨越对话，注意力会",
            ),
            fix=said("set pack.dialogues: one where that matters, or compare both", "若有影响，请设置 pack.dialogues: one，或比较两者"),
            severity="warning",
        )


@RULES.needing("data", "evaluation")
def decontamination_has_cases(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    if spec.data.instruct.decontaminate and not spec.evaluation.suites.core:
        yield Diagnostic(
            "MS0443",
            said("there are no core cases", "没有核心用例"),
            path=("data", "instruct", "decontaminate"),
            reason=said("the setting would do nothing", "该设置不会起任何作用"),
            fix=said("set evaluation.suites.core, or take `decontaminate` out", "请设置 evaluation.suites.core，或删去 `decontaminate`"),
        )
