"""Rows of fine-tuning."""

from collections.abc import Iterator

from compiler import suggest
from compiler.diagnostics import Diagnostic
from compiler.source import Path, SourceTree
from compiler.spec import Spec
from compiler.spec.data.instruct import InstructSource
from compiler.validate.rules.files import missing_template
from compiler.validate.rules.registry import Rules
from compiler.wording import listed, said
from runtime.contracts.format import FIELDS

RULES = Rules()


@RULES.needing("data")
def template_exists(spec: Spec, tree: SourceTree) -> Iterator[Diagnostic]:
    yield from missing_template(tree, spec.data.instruct.template, ("data", "instruct", "template"))


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
