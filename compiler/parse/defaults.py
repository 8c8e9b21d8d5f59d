"""Defaults lists: what Hydra takes without a word, refuses without a place, or stops at although more is wrong."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import yaml

from compiler.diagnostics import Diagnostic
from compiler.parse.files import SpecFile, entry
from compiler.parse.groups import Groups
from compiler.source import Place
from compiler.suggest import offered
from compiler.wording import Said, said

PRIMARY = "specs/mindspec.yaml"
_EXAMPLE = said("write a list such as `[_self_, {override /model: NAME}]`", "请写 `[_self_, {override /model: NAME}]` 这样的列表")
_WORDS = ("override", "optional")


@dataclass(frozen=True)
class Entry:
    """`override /model@x: small`: the words before a group, the group as it is written, its option. A file has no group.

    `node` is that of the option, `key` that of what stands before it.
    """

    node: yaml.Node
    key: yaml.Node
    words: tuple[str, ...]
    written: str
    option: str | None

    @property
    def group(self) -> str:
        """The name of the group, wherever the list stands."""
        return self.written.strip("/")

    @property
    def overrides(self) -> bool:
        """Whether it replaces a choice that stands elsewhere."""
        return "override" in self.words


def entries(file: SpecFile) -> Iterator[Entry]:
    """The entries that can be read; one with several options gives several."""
    for item in _items(file):
        if isinstance(item, yaml.ScalarNode):
            yield Entry(item, item, (), "", item.value)
        elif isinstance(item, yaml.MappingNode) and len(item.value) == 1:
            key, value = item.value[0]
            *words, written = str(key.value).split() or [""]
            for node in value.value if isinstance(value, yaml.SequenceNode) else [value]:
                if isinstance(node, yaml.ScalarNode):
                    option = None if node.tag.endswith(":null") else str(node.value)
                    yield Entry(node, key, tuple(words), written.partition("@")[0], option)


def faults(file: SpecFile, groups: Groups) -> Iterator[Diagnostic]:
    """Everything that is wrong in the defaults list of a file, and settings of Hydra in a wrong file."""
    own = entry(file, "hydra")
    if own is not None and file.file != PRIMARY:
        yield foreign_setting(file.at(own), ("hydra",))
    malformed = list(_malformed(file))
    yield from malformed
    if not malformed:
        yield from _order(file)
        yield from _repeated(file)
        yield from _unknown(file, groups)


def foreign_setting(place: Place, path: tuple[str, ...] = ()) -> Diagnostic:
    """A setting of Hydra where a spec is written."""
    return Diagnostic(
        "MS0120",
        said("Hydra's own settings are not part of a spec", "Hydra 自身的设置不属于规格"),
        place,
        path,
        reason=said("a spec would run differently from the same spec composed elsewhere", "同一份规格在别处组合时，运行方式会不同"),
        fix=said(f"leave it out; those of the project stand in {PRIMARY}", f"请去掉；项目的设置位于 {PRIMARY}"),
    )


def _items(file: SpecFile) -> list[yaml.Node]:
    node = entry(file, "defaults")
    return node.value if isinstance(node, yaml.SequenceNode) else []


def _malformed(file: SpecFile) -> Iterator[Diagnostic]:
    node = entry(file, "defaults")
    if node is not None and not isinstance(node, yaml.SequenceNode):
        yield _fault("MS0117", file.at(node), said("the defaults are no list", "defaults 不是列表"), _EXAMPLE)
    for item in _items(file):
        if message := _misshapen(item):
            yield _fault("MS0117", file.at(item), message, _EXAMPLE)


def _misshapen(item: yaml.Node) -> Said | None:
    """What is wrong with the form of one entry."""
    if isinstance(item, yaml.MappingNode):
        return _misshapen_choice(item)
    if not isinstance(item, yaml.ScalarNode):
        return said("an entry is a list", "某一项是列表")
    name = item.value or "null"
    plain = item.tag.endswith(":str") and name != "???"
    return None if plain else said(f"{name} is no name of a file", f"{name} 不是文件名")


def _misshapen_choice(item: yaml.MappingNode) -> Said | None:
    if len(item.value) != 1:
        return said(
            f"an entry with {len(item.value)} groups; each is an entry of its own", f"一项中有 {len(item.value)} 个配置组，应各占一项"
        )
    key, value = item.value[0]
    if not str(key.value).strip(" /"):
        return said("an entry names no group", "某一项没有写配置组")
    if unknown := [word for word in str(key.value).split()[:-1] if word not in _WORDS]:
        return said(f"{unknown[0]} is none of {', '.join(_WORDS)}", f"{unknown[0]} 不是 {'、'.join(_WORDS)} 之一")
    nodes = value.value if isinstance(value, yaml.SequenceNode) else [value]
    if not all(isinstance(node, yaml.ScalarNode) for node in nodes):
        return said(f"the option of {key.value} is no name of a file", f"{key.value} 的选项不是文件名")
    return None


def _order(file: SpecFile) -> Iterator[Diagnostic]:
    """The place of the file's own values must be said, and said once."""
    found = [item for item in _items(file) if item.value == "_self_"]
    if len(found) > 1:
        message = said("_self_ stands twice in the defaults list", "defaults 列表中 _self_ 出现了两次")
        yield _fault("MS0117", file.at(found[1]), message, said("keep one", "请只保留一个"))
    if _items(file) and not found:
        yield Diagnostic(
            "MS0105",
            said("the defaults list does not say where the file's own values stand", "defaults 列表没有说明本文件的值处于什么次序"),
            file.at(_items(file)[0]),
            ("defaults",),
            reason=said(
                "whether they win over the groups would depend on the version of Hydra", "它们能否覆盖配置组的值，将取决于 Hydra 的版本"
            ),
            fix=said(
                "add `- _self_`: first lets the groups win, last lets this file win",
                "请加上 `- _self_`：放在最前由配置组覆盖，放在最后由本文件覆盖",
            ),
        )


def _repeated(file: SpecFile) -> Iterator[Diagnostic]:
    """Hydra keeps one of two overrides of a group without a word, and lets the command line win over one of the experiment."""
    seen: set[str] = set()
    for one in (one for one in entries(file) if one.overrides):
        if one.group in seen:
            message = said(f"the group {one.group} is overridden twice", f"配置组 {one.group} 被覆盖了两次")
            reason = said("only one of the two files would be used", "两个文件只有一个会被采用")
            yield _fault("MS0116", file.at(one.node), message, said("keep one", "请只保留一个"), reason)
        seen.add(one.group)
    for one in (one for one in entries(file) if one.written.startswith("/") or one.overrides):
        if one.group == "experiment" and file.file != PRIMARY:
            message = said("the experiment is chosen by its name", "实验由其名称选定")
            fix = said(f"to build on another experiment write `- {one.option}`", f"要以另一个实验为基础，请写 `- {one.option}`")
            yield _fault("MS0120", file.at(one.node), message, fix, said("this entry would be ignored", "这一项会被忽略"))


def _unknown(file: SpecFile, groups: Groups) -> Iterator[Diagnostic]:
    """Groups and options that are not there; what Hydra computes (`${...}`) or waits for (`???`) is left to it."""
    folder = file.file.removeprefix("specs/").rpartition("/")[0]
    for one in entries(file):
        group, option = _absolute(one.written, folder), one.option
        if option == "???" and file.file != PRIMARY:
            yield _left_open(file, one, groups)
        if option in ("_self_", "???") or "hydra" in group or "optional" in one.words or "${" in f"{one.written}{option}":
            continue
        if not one.written:
            yield from _no_file(file, one, folder, groups)
        elif not groups.exists(group):
            yield groups.no_group(group, file.at(one.key))
        elif option is not None and not groups.has(group, option):
            yield groups.no_option(group, option, file.at(one.node))


def _left_open(file: SpecFile, one: Entry, groups: Groups) -> Diagnostic:
    options = offered("", groups.options(one.group))
    return Diagnostic(
        "MS0110",
        said(f"a file of the group {one.group} must be chosen", f"必须在配置组 {one.group} 中选一个文件"),
        file.at(one.node),
        ("defaults",),
        fix=said(f"known: {options}", f"可用的有：{options.zh}"),
    )


def _absolute(written: str, folder: str) -> str:
    """A group without a slash before it lies below the folder of the file."""
    return written.strip("/") if written.startswith("/") or not folder else f"{folder}/{written}"


def _no_file(file: SpecFile, one: Entry, folder: str, groups: Groups) -> Iterator[Diagnostic]:
    option = str(one.option)
    group, _, name = _absolute(option, folder).rpartition("/")
    if not groups.has(group, name):
        yield (
            groups.no_option(group, name, file.at(one.node))
            if group
            else _fault(
                "MS0106",
                file.at(one.node),
                said(f"there is no file specs/{name}.yaml", f"没有文件 specs/{name}.yaml"),
                said("write `/GROUP: OPTION` to choose a file of a group", "要选用配置组中的文件，请写 `/GROUP: OPTION`"),
            )
        )


def circle(files: Iterable[SpecFile]) -> Place | None:
    """Where one of these files takes in another one that leads back to it."""
    leads = {_name(file): [(_target(one, file), file.at(one.node)) for one in entries(file)] for file in files}

    def back(name: str, above: tuple[str, ...]) -> Place | None:
        for target, place in leads.get(name, []):
            found = place if target in (*above, name) else back(target, (*above, name))
            if found:
                return found
        return None

    return next((place for name in leads if (place := back(name, ()))), None)


def _name(file: SpecFile) -> str:
    return file.file.removeprefix("specs/").removesuffix(".yaml")


def _target(one: Entry, file: SpecFile) -> str:
    folder = _name(file).rpartition("/")[0]
    return _absolute(f"{one.written}/{one.option}" if one.written else str(one.option), folder)


def _fault(code: str, place: Place, message: Said, fix: Said, reason: str = "") -> Diagnostic:
    return Diagnostic(code, message, place, ("defaults",), reason=reason, fix=fix)
