"""The chat template of an experiment: read with its places, checked, and compared with the tokenizer's special pieces.

The stages that use a template come after hours of others, so what they would refuse is refused here.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from compiler.diagnostics import Diagnostic, Faults
from compiler.parse.files import SpecFile, read
from compiler.source import Path as KeyPath
from compiler.source import Place
from compiler.spec import Spec
from compiler.spec.declare import Items, Section, Text
from compiler.spec.tokenizer import SpecialTokens
from compiler.wording import Said, listed, said

START = "start"  # what the first turn of a dialogue follows


class Role(Section):
    """The turn of one role; `follows`: roles that may come right before it."""

    open: Text | None
    header: str
    close: Text
    after: str
    trained: bool
    follows: Items[str]


class Template(Section):
    """A file of specs/template."""

    begin: Text
    roles: dict[str, Role]
    instruction_input: str


def template(spec: Spec, root: Path) -> Mapping[str, Any]:
    """The content of the chat template that a spec names. Raises Faults with all that is wrong in it."""
    name = spec.data.instruct.template
    file = read(root, root / "specs" / "template" / f"{name}.yaml")
    found = [fault for fault in file.faults if fault.code != "MS0111"]  # `${` is plain text here: no reference is resolved
    if found:
        raise Faults(replace(fault, code="MS0027") for fault in found)
    try:
        declared = Template.model_validate(file.values)
    except ValidationError as error:
        raise Faults(_refused(file, error)) from None
    found = [*_contradictions(file, declared), *_unknown_pieces(file, declared, spec.tokenizer.special_tokens)]
    if found:
        raise Faults(found)
    return file.values


def _refused(file: SpecFile, error: ValidationError) -> Iterator[Diagnostic]:
    for detail in error.errors():
        path = tuple(detail["loc"])
        fix = said("see specs/template/chatml.yaml for every key and its type", "全部字段及其类型见 specs/template/chatml.yaml")
        yield _fault(file, path, said(detail["msg"], f"值不符合要求：{detail['msg']}"), fix)


def _contradictions(file: SpecFile, declared: Template) -> Iterator[Diagnostic]:
    known = (START, *declared.roles)
    for name, role in declared.roles.items():
        for index, other in enumerate(role.follows):
            if other not in known:
                fix = said(f"known: {', '.join(known)}", f"可用的有：{listed(known).zh}")
                yield _fault(file, ("roles", name, "follows", index), said(f"{other} is no role", f"{other} 不是角色"), fix)
        for part in ("open", "close"):
            if getattr(role, part) == declared.begin:
                message = said(f"{declared.begin} begins the row", f"{declared.begin} 用于样本开头")
                yield _fault(file, ("roles", name, part), message, said("use another piece inside a row", "样本内部请用其他词元"))
    if not any(role.trained for role in declared.roles.values()):
        fix = said("write `trained: true` for the assistant", "请为 assistant 写上 `trained: true`")
        yield _fault(file, ("roles",), said("no role is trained", "没有参与训练的角色"), fix)


def _unknown_pieces(file: SpecFile, declared: Template, special: SpecialTokens) -> Iterator[Diagnostic]:
    """Markers must be special pieces, so that no text can forge one."""
    pieces = (special.pad, special.bos, special.eos, *special.user)
    if declared.begin != special.bos:
        name = "tokenizer.special_tokens.bos"
        message = said(f"{declared.begin} is not {name}", f"{declared.begin} 不是 {name}")
        yield _fault(file, ("begin",), message, said(f"write {special.bos}", f"请写 {special.bos}"))
    for name, role in declared.roles.items():
        for part in ("open", "close"):
            piece = getattr(role, part)
            if piece is not None and piece not in pieces:
                fix = said(
                    f"add it to tokenizer.special_tokens.user, or use one of {', '.join(pieces)}",
                    f"请将它加入 tokenizer.special_tokens.user，或改用其中之一：{listed(pieces).zh}",
                )
                message = said(f"{piece} is no special piece of the tokenizer", f"{piece} 不是分词器的特殊词元")
                yield _fault(file, ("roles", name, part), message, fix)


def _fault(file: SpecFile, path: KeyPath, message: Said, fix: Said) -> Diagnostic:
    reason = said(
        "the rows of fine-tuning could not be made, which shows only after pre-training", "无法生成微调样本，而这要到预训练之后才会暴露"
    )
    return Diagnostic("MS0027", message, _place(file, path), path, reason=reason, fix=fix)


def _place(file: SpecFile, path: KeyPath) -> Place:
    """Where a value was written, or the nearest mapping or list around it."""
    node: yaml.Node | None = file.node
    for part in path:
        below = _below(node, part)
        if below is None:
            break
        node = below
    return file.at(node) if node is not None else file.place(0, 0)


def _below(node: yaml.Node | None, part: str | int) -> yaml.Node | None:
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int):
        return node.value[part]
    pairs: list[tuple[yaml.Node, yaml.Node]] = node.value if isinstance(node, yaml.MappingNode) else []
    return next((value for key, value in pairs if key.value == part), None)
