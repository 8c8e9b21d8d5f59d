"""The chat template of an experiment: read with its places, checked, and compared with the tokenizer's special pieces.

The stages that use a template come after hours of others, so what they would refuse is refused here.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal, cast

import yaml
from pydantic import BeforeValidator, Field, ValidationError

from compiler import tokenizer_file
from compiler.diagnostics import Diagnostic, Faults
from compiler.parse.files import SpecFile, read
from compiler.source import Path as KeyPath
from compiler.source import Place
from compiler.spec import Spec
from compiler.spec.declare import Items, Section, Text
from compiler.spec.tokenizer import SpecialTokens
from compiler.wording import Said, listed, said

_ORDINARY = said(
    "in a text it is cut into ordinary pieces, the row has no marker there, and whatever people write could look the same",
    "写在文本里会被切成普通词元，样本在该处没有标记，而任何人写的文字都可能与之相同",
)
_NONE = said("no role is trained", "没有参与训练的角色")
ANSWER, TOOL = "assistant", "tool"
START = "start"  # what the first turn of a dialogue follows


class Piece(Section):
    """A special piece of the tokenizer, where a text could stand as well."""

    piece: Text


Parts = Annotated[tuple[str | Piece, ...], BeforeValidator(lambda value: (value,) if isinstance(value, str) else _tuple(value))]


def _tuple(value: object) -> object:
    return tuple(cast(list[object], value)) if isinstance(value, list) else value


class Role(Section):
    """The turn of one role; `follows`: roles that may come right before it; `between`: what then stands instead of the usual.

    `trim`: whether the text loses the white space around it.
    """

    open: Text | None
    header: Parts
    close: Text | None
    after: Parts
    trained: bool
    follows: Items[str]
    footer: Parts = ()
    between: dict[str, Parts] = Field(default_factory=dict)
    trim: bool = False


class Tools(Section):
    """What of tools stands in the system turn."""

    before: Parts
    after: Parts
    separator: str = "\n"
    place: Literal["behind", "before"] = "behind"
    indent: Annotated[int, Field(ge=0, le=8)] | None = None


class Calls(Section):
    """How an answer calls tools."""

    before: Parts
    after: Parts
    separator: Parts = ("\n",)
    arguments: Text = "arguments"


class Template(Section):
    """A file of specs/template."""

    begin: Text | None
    roles: dict[str, Role]
    instruction_input: str
    default_system: Text | None = None
    tools: Tools | None = None
    calls: Calls | None = None


def templates(root: Path) -> list[str]:
    """The names of all chat templates of a project."""
    return sorted(file.stem for file in (root / "specs" / "template").glob("*.yaml"))


def says_tools(root: Path, name: str) -> bool | None:
    """Whether a template can write tools, their calls and their results; None for one that cannot be read."""
    path = root / "specs" / "template" / f"{name}.yaml"
    try:
        declared = Template.model_validate(read(root, path).values) if path.is_file() else None
    except ValidationError:
        return None
    return declared and declared.tools is not None and declared.calls is not None and TOOL in declared.roles


def template(spec: Spec, root: Path) -> Mapping[str, Any]:
    """The content of the chat template that a spec names. Raises Faults with all that is wrong in it."""
    if found := faults(spec, root):
        raise Faults(found)
    return _file(spec, root).values


def faults(spec: Spec, root: Path) -> list[Diagnostic]:
    """All that is wrong in the chat template that a spec names, or between it and the tokenizer."""
    file = _file(spec, root)
    broken = [fault for fault in file.faults if fault.code != "MS0111"]  # `${` is plain text here: no reference is resolved
    if broken:
        return [replace(fault, code="MS0027") for fault in broken]
    try:
        declared = Template.model_validate(file.values)
    except ValidationError as error:
        return list(_refused(file, error))
    pieces = [*_unknown_pieces(file, declared, spec, root), *_spelt_pieces(file, declared, spec.tokenizer.special_tokens)]
    return [*_contradictions(file, declared), *_wrong_begin(file, declared, spec), *pieces]


def lacking(spec: Spec, root: Path) -> tuple[str, ...]:
    """The pieces of the chat template that a spec does not name among those of its tokenizer; none where it cannot be read."""
    try:
        declared = Template.model_validate(_file(spec, root).values)
    except ValidationError:
        return ()
    return _lacking(declared, spec.tokenizer.special_tokens)


def _file(spec: Spec, root: Path) -> SpecFile:
    return read(root, root / "specs" / "template" / f"{spec.data.instruct.template}.yaml")


def _refused(file: SpecFile, error: ValidationError) -> Iterator[Diagnostic]:
    for detail in error.errors():
        path = _written(file, tuple(detail["loc"]))
        fix = said("see specs/template/chatml.yaml for every key and its type", "全部字段及其类型见 specs/template/chatml.yaml")
        yield _fault(file, path, said(detail["msg"], f"值不符合要求：{detail['msg']}"), fix)


def _contradictions(file: SpecFile, declared: Template) -> Iterator[Diagnostic]:
    for name, role in declared.roles.items():
        yield from _unknown_roles(file, declared, name)
        for path, piece in _pieces_of_role(role):
            if piece == declared.begin and path[0] not in ("after", "between"):
                message = said(f"{declared.begin} begins the row", f"{declared.begin} 用于样本开头")
                yield _fault(file, ("roles", name, *path), message, said("use another piece inside a row", "样本内部请用其他词元"))
        if role.trained and role.close is None:
            fix = said("write the piece that ends an answer, such as eos", "请写结束回答的词元，例如 eos")
            yield _fault(file, ("roles", name, "close"), said("an answer has no end", "回答没有结束词元"), fix)
    trained = [name for name, role in declared.roles.items() if role.trained]
    if trained != [ANSWER]:
        fix = said("write `trained: true` for the assistant, and for no other role", "请为 assistant（且仅为它）写上 `trained: true`")
        message = said(f"trained is {', '.join(trained)}", f"参与训练的是{listed(trained).zh}") if trained else _NONE
        yield _fault(file, ("roles",), message, fix)
    if declared.default_system is not None and "system" not in declared.roles:
        fix = said("describe the role `system`, or take default_system out", "请描述角色 `system`，或删去 default_system")
        yield _fault(file, ("default_system",), said("there is no role system", "没有 system 角色"), fix)


def _unknown_roles(file: SpecFile, declared: Template, name: str) -> Iterator[Diagnostic]:
    role, known = declared.roles[name], (START, *declared.roles)
    for index, other in enumerate(role.follows):
        if other not in known:
            fix = said(f"known: {', '.join(known)}", f"可用的有：{listed(known).zh}")
            yield _fault(file, ("roles", name, "follows", index), said(f"{other} is no role", f"{other} 不是角色"), fix)
    untrained = tuple(other for other, one in declared.roles.items() if not one.trained)
    for other in role.between:
        if other not in untrained:
            message = said(f"{other} is no role without labels", f"{other} 不是不参与训练的角色")
            fix = said(f"known: {', '.join(untrained)}", f"可用的有：{listed(untrained).zh}")
            yield _fault(file, ("roles", name, "between", other), message, fix)


def _wrong_begin(file: SpecFile, declared: Template, spec: Spec) -> Iterator[Diagnostic]:
    bos, name = spec.tokenizer.special_tokens.bos, "tokenizer.special_tokens.bos"
    if declared.begin not in (None, bos):
        message = said(f"{declared.begin} is not {name}", f"{declared.begin} 不是 {name}")
        yield _fault(
            file,
            ("begin",),
            message,
            said(
                f'set {name}: "{declared.begin}"; or copy the template to specs/template/NAME.yaml, write {bos} there, and name that one',
                f'请设置 {name}: "{declared.begin}"；或把模板复制到 specs/template/名称.yaml，在其中写 {bos}，并改用该模板',
            ),
        )


def _unknown_pieces(file: SpecFile, declared: Template, spec: Spec, root: Path) -> Iterator[Diagnostic]:
    """Markers must be special pieces, so that no text can forge one: one fault, at the first, for all that are not."""
    special = spec.tokenizer.special_tokens
    unknown = _lacking(declared, special)
    if not unknown:
        return
    path = next(path for path, piece in _pieces(declared) if piece in unknown)
    are = "are no special pieces" if len(unknown) > 1 else "is no special piece"
    message = said(f"{listed(unknown)} {are} of the tokenizer", f"{listed(unknown).zh} 不是分词器的特殊词元")
    written = _written_pieces(spec, root, unknown)
    fix = said(
        f"write {written}; or copy the template to specs/template/NAME.yaml, name pieces there that the tokenizer has, and name that one",
        f"请写 {written}；或把模板复制到 specs/template/名称.yaml，在其中使用分词器已有的词元，并改用该模板",
    )
    yield _fault(file, path, message, fix)


def _spelt_pieces(file: SpecFile, declared: Template, special: SpecialTokens) -> Iterator[Diagnostic]:
    """Texts around the turns that spell a special piece: they would be cut into ordinary pieces."""
    known = sorted({special.pad, special.bos, special.eos, *special.user}, key=len, reverse=True)
    pattern = re.compile(f"({'|'.join(map(re.escape, known))})")
    for name, role in declared.roles.items():
        for path, text in _texts_of_role(role):
            parts = pattern.split(text)
            if spelt := parts[1::2]:
                written = ", ".join(_part(part, place % 2 == 1) for place, part in enumerate(parts) if part)
                found = listed(tuple(dict.fromkeys(spelt)))
                message = said(f"a text spells {found}", f"文本里写着 {found.zh}")
                fix = said(f"write [{written}], or use `open` and `close`", f"请写 [{written}]，或使用 `open` 和 `close`")
                yield replace(_fault(file, ("roles", name, *path), message, fix), reason=_ORDINARY)


def _part(text: str, piece: bool) -> str:
    quoted = json.dumps(text, ensure_ascii=False)
    return f"{{piece: {quoted}}}" if piece else quoted


def _written_pieces(spec: Spec, root: Path, unknown: tuple[str, ...]) -> str:
    """What to write for a tokenizer that is to have further pieces; a given one also needs their numbers."""
    try:
        found = tokenizer_file.pieces(spec, root) if spec.tokenizer.path else None
    except ValueError:
        found = None
    if found is not None:
        return tokenizer_file.numbering(spec.tokenizer, found, unknown).text
    listed_pieces = ", ".join(map(tokenizer_file.in_flow, [*spec.tokenizer.special_tokens.user, *unknown]))
    return f"tokenizer: {{special_tokens: {{user: [{listed_pieces}]}}}}"


def _lacking(declared: Template, special: SpecialTokens) -> tuple[str, ...]:
    known = (special.pad, special.bos, special.eos, *special.user, declared.begin)
    return tuple(dict.fromkeys(piece for _, piece in _pieces(declared) if piece not in known))


def _pieces(declared: Template) -> Iterator[tuple[KeyPath, str]]:
    """Every special piece that a template names inside a row, and where."""
    for name, role in declared.roles.items():
        for path, piece in _pieces_of_role(role):
            yield ("roles", name, *path), piece
    for section, around in (("tools", declared.tools), ("calls", declared.calls)):
        for part in ("before", "after", "separator") if around else ():
            yield from (((section, part, *path), piece) for path, piece in _pieces_of(getattr(around, part)))


def _pieces_of_role(role: Role) -> Iterator[tuple[KeyPath, str]]:
    for part in ("open", "close"):
        if (piece := getattr(role, part)) is not None:
            yield (part,), piece
    for part in ("header", "footer", "after"):
        yield from (((part, *path), piece) for path, piece in _pieces_of(getattr(role, part)))
    for other, parts in role.between.items():
        yield from ((("between", other, *path), piece) for path, piece in _pieces_of(parts))


def _texts_of_role(role: Role) -> Iterator[tuple[KeyPath, str]]:
    """Every text that a template puts around the turns of a role, and where."""
    around = {(part,): getattr(role, part) for part in ("header", "footer", "after")}
    for path, parts in (around | {("between", other): parts for other, parts in role.between.items()}).items():
        yield from (((*path, index) if len(parts) > 1 else path, part) for index, part in enumerate(parts) if isinstance(part, str))


def _pieces_of(parts: tuple[str | Piece, ...] | str) -> Iterator[tuple[KeyPath, str]]:
    if not isinstance(parts, str):
        yield from (((index, "piece"), part.piece) for index, part in enumerate(parts) if isinstance(part, Piece))


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


def _written(file: SpecFile, path: KeyPath) -> KeyPath:
    """A path without the names that the reader of values gives to what it tried."""
    node, found = file.node, list[str | int]()
    for part in path:
        below = _below(node, part)
        if below is None and found and isinstance(part, str) and part in ("str", "Piece", "tuple"):
            continue
        node, found = below, [*found, part]
    return tuple(found)


def _below(node: yaml.Node | None, part: str | int) -> yaml.Node | None:
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int):
        return node.value[part] if part < len(node.value) else None
    pairs: list[tuple[yaml.Node, yaml.Node]] = node.value if isinstance(node, yaml.MappingNode) else []
    return next((value for key, value in pairs if key.value == part), None)
