"""The YAML files of a spec: read with their positions, checked, and handed to Hydra as a source of configurations."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import yaml
from hydra._internal.core_plugins.file_config_source import FileConfigSource
from hydra.plugins.config_source import ConfigLoadError, ConfigResult
from omegaconf import OmegaConf
from omegaconf.errors import GrammarParseError

from compiler import system_errors
from compiler.diagnostics import Diagnostic
from compiler.masking import masked_lines
from compiler.parse.full_width import full_width
from compiler.parse.long_lists import LongLists
from compiler.parse.scalars import RESOLVERS, SpecLoader, is_ambiguous, other_reading
from compiler.parse.yaml_words import in_chinese
from compiler.quoting import override_in_quotes
from compiler.source import Path as KeyPath
from compiler.source import Place
from compiler.wording import Said, said

_TAGS = {f"tag:yaml.org,2002:{name}" for name in ("null", "bool", "int", "float", "str", "map", "seq")}
_TEXT = "tag:yaml.org,2002:str"
_INTEGER = "tag:yaml.org,2002:int"
_LINE_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")  # where a YAML reader counts a new line
_DIGITS = 40  # no field takes a larger number, and Python refuses to read thousands of digits
_NESTING = 50  # nested references: the reader of references needs several calls a level
_DEEPEST = 50  # mappings and lists within each other; Hydra's merge needs several calls a level


@dataclass
class SpecFile:
    """One file: its node tree, its plain values and what is wrong with it. `node` is None for an empty or broken one."""

    file: str
    text: str = ""
    node: yaml.MappingNode | None = None
    values: dict[str, Any] = field(default_factory=dict[str, Any])
    faults: list[Diagnostic] = field(default_factory=list[Diagnostic])
    readable: bool = True

    def place(self, line: int, column: int) -> Place:
        """The place at a position that counts from 0."""
        shown, secrets = self._lines[line] if line < len(self._lines) else ("", ())
        return Place(self.file, line + 1, column + 1, shown, secrets)

    @cached_property
    def _lines(self) -> list[tuple[str, tuple[str, ...]]]:
        """Each line without its secrets, and those."""
        return masked_lines(_LINE_BREAK.split(self.text))

    def at(self, node: yaml.Node) -> Place:
        """The place where a node begins."""
        return self.place(node.start_mark.line, node.start_mark.column)

    def broken(self, fault: Diagnostic) -> "SpecFile":
        """This file as one without content."""
        self.faults, self.readable = [fault], False
        self.node, self.values = None, {}
        return self


def read(root: Path, path: Path) -> SpecFile:
    """A file with all that is wrong in it; never raises for its content, or for the lack of it. A byte order mark is no content."""
    file = path.relative_to(root).as_posix()
    try:
        raw = path.read_bytes()
    except OSError as error:
        parsed = SpecFile(file)
        return parsed.broken(_unreadable(parsed, error))
    return _parsed(file, raw)


@cache
def _parsed(file: str, raw: bytes) -> SpecFile:
    """A function of name and content alone, so that what many experiments share is parsed once. Do not change the result."""
    parsed = SpecFile(file)
    try:
        parsed.text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return parsed.broken(_not_utf8(parsed, raw, error))
    try:
        node = _compose(parsed.text)
    except yaml.MarkedYAMLError as error:
        return parsed.broken(_syntax(parsed, error))
    except yaml.reader.ReaderError as error:
        return parsed.broken(_control_character(parsed, error))
    return _with_node(parsed, node)


def _compose(text: str) -> yaml.Node | None:
    reader: Any = yaml
    return reader.compose(text, Loader=SpecLoader)


def entry(file: SpecFile, key: str) -> yaml.Node | None:
    """The value of a top-level key."""
    pairs: list[tuple[yaml.ScalarNode, yaml.Node]] = file.node.value if file.node is not None else []
    return next((value for name, value in pairs if name.value == key), None)


def _with_node(parsed: SpecFile, node: yaml.Node | None) -> SpecFile:
    if node is None:
        return parsed
    if not isinstance(node, yaml.MappingNode):
        message = said("the file holds no mapping", "文件内容不是映射")
        return parsed.broken(
            Diagnostic("MS0102", message, parsed.at(node), fix=said("write `key: value` lines", "请写 `key: value` 形式的行"))
        )
    parsed.faults = list(_check(parsed, node, set()))
    if any(fault.code in ("MS0102", "MS0114", "MS0205") for fault in parsed.faults):
        parsed.readable = False
        return parsed
    parsed.node = node
    loader: Any = SpecLoader("")
    parsed.values = loader.construct_document(node)
    return parsed


def _unreadable(parsed: SpecFile, error: OSError) -> Diagnostic:
    message = said(f"the file cannot be read: {system_errors.told(error)}", f"文件无法读取：{system_errors.told(error).zh}")
    fix = said("put a readable file there, or remove it", "请换成可读的文件，或将其删除")
    return Diagnostic("MS0028", message, parsed.place(0, 0), fix=fix)


def _not_utf8(parsed: SpecFile, raw: bytes, error: UnicodeDecodeError) -> Diagnostic:
    before = raw[: error.start]
    place = Place(parsed.file, before.count(b"\n") + 1, error.start - (before.rfind(b"\n") + 1) + 1, "")
    return Diagnostic(
        "MS0101",
        said(f"byte 0x{raw[error.start]:02x} is not UTF-8", f"字节 0x{raw[error.start]:02x} 不是 UTF-8"),
        place,
        reason=said(
            "the file was saved in another encoding, such as GBK; its text would be read wrongly",
            "文件以其他编码（如 GBK）保存，文本会被读错",
        ),
        fix=said("save the file as UTF-8", "请将文件另存为 UTF-8"),
    )


def _syntax(parsed: SpecFile, error: yaml.MarkedYAMLError) -> Diagnostic:
    mark = error.problem_mark or error.context_mark
    place = parsed.place(mark.line, mark.column) if mark else None
    context = f" {error.context}" if error.context else ""
    zh = "".join(f"{in_chinese(words)}" for words in (error.context, error.problem) if words)
    message = said(f"YAML cannot be read{context}: {error.problem}", f"无法读取 YAML：{zh}")
    reason = said("nothing of the file can be used until it is read as a whole", "整个文件能读取之前，其中的内容都无法使用")
    first = error.context_mark.line if error.context_mark else mark.line if mark else 0
    lines = range(first, (mark.line if mark else first) + 1)
    wide = next((found for line in lines if (found := full_width(parsed.place(line, 0)))), None)
    if wide is not None:
        return Diagnostic("MS0102", message, wide[0], reason=reason, fix=wide[1])
    return Diagnostic("MS0102", message, place, reason=reason, fix=_hint(place))


def _hint(place: Place | None) -> Said:
    line = place.text if place else ""
    if "\t" in line:
        return said("indent with spaces", "请用空格缩进")
    if "???" in line:
        return said("write '???' in quotes between braces", "花括号中的 '???' 要加引号")
    return said("check indentation, colons and quotes here", "请检查此处的缩进、冒号和引号")


def _control_character(parsed: SpecFile, error: yaml.reader.ReaderError) -> Diagnostic:
    for number, line in enumerate(parsed.text.split("\n")):
        column = next((i for i, char in enumerate(line) if yaml.reader.Reader.NON_PRINTABLE.match(char) is not None), None)
        if column is not None:
            name = f"U+{ord(line[column]):04X}"
            message = said(f"control character {name}", f"控制字符 {name}")
            return Diagnostic("MS0102", message, parsed.place(number, column), fix=said("delete it", "请删除"))
    return Diagnostic("MS0102", said(f"YAML cannot be read: {error.reason}", f"无法读取 YAML：{error.reason}"), parsed.place(0, 0))


def _check(parsed: SpecFile, node: yaml.Node, seen: set[int], depth: int = 0) -> Iterator[Diagnostic]:
    if depth > _DEEPEST:
        message = said(f"mappings and lists nest more than {_DEEPEST} levels deep", f"映射与列表的嵌套超过 {_DEEPEST} 层")
        yield Diagnostic("MS0102", message, parsed.at(node), fix=said("no field of a spec lies as deep", "规格中没有这么深的字段"))
        return
    if id(node) in seen:
        yield _foreign(parsed, node, said("an anchor that is used again", "被再次引用的锚点"))
        return
    seen.add(id(node))
    if node.tag not in _TAGS:
        yield _foreign(parsed, node, said(f"the tag {node.tag}", f"标签 {node.tag}"))
    elif isinstance(node, yaml.ScalarNode):
        yield from _check_scalar(parsed, node)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _check(parsed, item, seen, depth + 1)
    elif isinstance(node, yaml.MappingNode):
        yield from _check_keys(parsed, node)
        for key, value in node.value:
            yield from _check(parsed, key, seen)
            yield from _check(parsed, value, seen, depth + 1)


def _foreign(parsed: SpecFile, node: yaml.Node, what: Said) -> Diagnostic:
    return Diagnostic(
        "MS0114",
        said(f"{what} has no place in a spec", f"规格中不能有{what.zh}"),
        parsed.at(node),
        reason=said("a spec is plain data, and each value is written in one place", "规格是普通数据，每个值只在一处书写"),
        fix=said("write the value out, or refer to it with ${path.to.value}", "请直接写出值，或用 ${path.to.value} 引用"),
    )


def _check_keys(parsed: SpecFile, node: yaml.MappingNode) -> Iterator[Diagnostic]:
    first: dict[str, yaml.Node] = {}
    for key, _ in node.value:
        if not isinstance(key, yaml.ScalarNode) or key.value == "<<":
            odd = said("a key that is no text", "非文本的键") if key.value != "<<" else said("the merge key `<<`", "合并键 `<<`")
            yield _foreign(parsed, key, odd)
        elif key.tag != _TEXT:
            message = said(f"key {key.value} is not text", f"键 {key.value} 不是文本")
            yield Diagnostic("MS0104", message, parsed.at(key), fix=said(f'write "{key.value}" in quotes', f'请加引号，写成 "{key.value}"'))
        elif key.value in first:
            yield Diagnostic(
                "MS0103",
                said(f"key {key.value} is written twice in one mapping", f"键 {key.value} 在同一映射中写了两次"),
                parsed.at(key),
                reason=said("only one of the two values would be used", "两个值只有一个会被采用"),
                fix=said("keep one", "请只保留一个"),
                related=((said("first written here", "首次出现在这里"), parsed.at(first[key.value])),),
            )
        first.setdefault(str(key.value), key)


def _check_scalar(parsed: SpecFile, node: yaml.ScalarNode) -> Iterator[Diagnostic]:
    if not _fits_its_tag(node):
        short = node.tag.replace("tag:yaml.org,2002:", "!!")
        yield _foreign(
            parsed, node, said(f"the tag {short} before {node.value[:_DIGITS]!r}", f" {node.value[:_DIGITS]!r} 之前的标签 {short}")
        )
        return
    if is_plain(node) and is_ambiguous(node.value):
        yield ambiguous(node.value, parsed.at(node))
    if node.tag == _INTEGER and len(node.value) > _DIGITS:
        message = said(f"a number of {len(node.value)} digits", f"数值有 {len(node.value)} 位")
        yield Diagnostic("MS0205", message, parsed.at(node), fix=said(f"write at most {_DIGITS} digits", f"请至多写 {_DIGITS} 位"))
    if "${" in node.value and (fault := _unreadable_reference(node.value)):
        yield Diagnostic(
            "MS0111",
            said(f"the reference cannot be read: {fault}", f"无法读取引用：{fault.zh}"),
            parsed.at(node),
            fix=said(
                "write ${path.to.value}, or \\${ for the two characters themselves",
                "请写 ${path.to.value}；若要这两个字符本身，请写 \\${",
            ),
        )


def _fits_its_tag(node: yaml.ScalarNode) -> bool:
    """Whether a tag that was written out, such as `!!int`, says what the text is: YAML leaves that to the program."""
    rule = RESOLVERS.get(node.tag.rpartition(":")[2])
    return rule is None or rule.fullmatch(node.value) is not None


def _unreadable_reference(text: str) -> Said | None:
    if text.count("${") > _NESTING:
        return said(f"more than {_NESTING} references in one value", f"一个值中的引用多于 {_NESTING} 个")
    try:
        OmegaConf.create({"text": text})
    except GrammarParseError as error:
        line = str(error).splitlines()[0]
        return said("{ is never closed", "{ 没有闭合") if text.count("{") > text.count("}") else said(line, line)
    return None


def ambiguous(text: str, place: Place, path: KeyPath = ()) -> Diagnostic:
    """The fault of an unquoted scalar that readers understand differently."""
    override, quotes = override_in_quotes(place, text), said(f'"{text}" in quotes', f'"{text}"')
    return Diagnostic(
        "MS0104",
        said(
            f"{text} without quotes is {other_reading(text)} to one YAML reader and something else to another",
            f"不带引号的 {text} 在一种 YAML 读取器中是{other_reading(text).zh}，在另一种中则不同",
        ),
        place,
        path,
        reason=said("the same spec would mean two things", "同一份规格会有两种含义"),
        fix=said(
            f"for the text write {override or quotes}; otherwise write true, false or a decimal number",
            f"若是文本，请加引号写成 {override or quotes.zh}；否则请写 true、false 或十进制数",
        ),
        suggestion=f'"{text}"',
    )


def is_plain(node: yaml.Node) -> bool:
    """Whether a scalar was written without quotes."""
    return isinstance(node, yaml.ScalarNode) and not node.style


class SpecFiles(FileConfigSource):
    """Hydra's view of the folder `specs/`; remembers each file that was read, by its name within the folder."""

    def __init__(self, provider: str, path: str) -> None:
        super().__init__(provider, path)
        self.parsed: dict[str, SpecFile] = {}
        self.long_lists: LongLists | None = LongLists()  # None: every list is handed over as it is

    def __deepcopy__(self, _memo: object) -> "SpecFiles":
        """Hydra copies its sources for each composition; the copies share what was read."""
        return self

    @staticmethod
    def scheme() -> str:
        return "spec"

    def load_config(self, config_path: str) -> ConfigResult:
        """Raises ConfigLoadError when there is no such file."""
        name = self._normalize_file_name(config_path)
        folder = Path(self.path)
        if not os.path.isfile(folder / name):  # also for a name that is longer than a file name can be
            raise ConfigLoadError(f"no file {name}")
        if name not in self.parsed:
            self.parsed[name] = read(folder.parent, folder / name)
        parsed = self.parsed[name]
        return ConfigResult(
            config=OmegaConf.create(self._handed_over(parsed)),
            path=self.full_path(),
            provider=self.provider,
            header={"package": _package(parsed.text)},
        )

    def _handed_over(self, parsed: SpecFile) -> dict[str, Any]:
        if not _has_sound_references(parsed):
            return {}
        return parsed.values if self.long_lists is None else self.long_lists.without(parsed.values)


def _has_sound_references(parsed: SpecFile) -> bool:
    return not any(fault.code == "MS0111" for fault in parsed.faults)


def _package(text: str) -> str | None:
    """The `# @package` line of the leading comment; Hydra itself sees it on the first line only."""
    for line in text.splitlines():
        found = re.match(r"\s*#\s*@package\s+(\S+)\s*$", line)
        if found:
            return found.group(1)
        if line.strip() and not line.lstrip().startswith("#"):
            break
    return None
