"""What Hydra refuses while it composes, in the terms of a spec, with a place and a fix."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import yaml
from hydra.errors import MissingConfigException

from compiler.diagnostics import Diagnostic
from compiler.parse.defaults import circle, entries
from compiler.parse.files import SpecFile, SpecFiles
from compiler.parse.groups import Groups
from compiler.parse.overrides import GivenOverride
from compiler.source import Path as KeyPath
from compiler.source import Place, dotted
from compiler.spec import is_map
from compiler.suggest import key
from compiler.wording import Said, said

_DETAIL = re.compile(r"\s*(full_key|object_type|reference_type)\b")


def explain(error: Exception, given: list[GivenOverride], files: SpecFiles, groups: Groups) -> tuple[Diagnostic, GivenOverride | None]:
    """One diagnostic for an exception that Hydra raised while composing, and the override that is to blame, if it is one."""
    if isinstance(error, MissingConfigException) and error.missing_cfg_file:
        return _missing(error, files, groups), None
    if isinstance(error, RecursionError):
        return _circle(files), None
    message = _message(error)
    culprit = _culprit(message, given)
    if culprit is not None:
        return _of_override(culprit, message), culprit
    return _of_file(message, files), None


def _culprit(message: str, given: list[GivenOverride]) -> GivenOverride | None:
    """The override that a message names; Hydra does not always give it as it was written."""
    named = [one for one in given if one.text in message or f"'{_bare(one)}'" in message or f"'{_bare(one)}={one.raw}'" in message]
    index = re.search(r"invalid literal for int\(\) with base 10: '(.*)'", message)
    if not named and index:
        named = [one for one in given if index[1] in one.path]
    return max(named, key=lambda one: len(one.text), default=None)


def _bare(override: GivenOverride) -> str:
    """The key as Hydra shows it, package and all."""
    return override.text.lstrip("+~").partition("=")[0]


def _of_override(override: GivenOverride, message: str) -> Diagnostic:
    name, raw = _bare(override), override.raw
    if message.startswith("Could not delete"):
        return _not_deleted(override, message)
    if message.startswith("Could not append"):
        return _prefixed(
            override,
            said(f"{name} has a value already, and + adds what is not there", f"{name} 已有值，而 + 只用于添加尚不存在的项"),
            f"{name}={raw}",
        )
    if "list index out of range" in message or "invalid literal for int" in message:
        return _no_item(override)
    if "looks like a config group override" in message:
        group = override.parsed.key_or_group
        text = said(f"{group} is no group, so it cannot be moved with @", f"{group} 不是配置组，不能用 @ 移动")
        return Diagnostic(
            "MS0115", text, override.key_place, fix=said(f"write {group}={raw}", f"请写成 {group}={raw}"), suggestion=f"{group}={raw}"
        )
    first = message.splitlines()[0]
    return Diagnostic(
        "MS0113",
        said(f"the spec cannot be composed: {first}", f"无法组合规格：{first}"),
        override.key_place,
        fix=_hint(message),
    )


def _not_deleted(override: GivenOverride, message: str) -> Diagnostic:
    name = _bare(override)
    other = re.search(r"The value of '.*' is (.*) and not (.*)\.$", message)
    if other:
        text = said(
            f"{name} is {other[1]}, not {other[2]}, so it is not taken away", f"{name} 的值是 {other[1]} 而非 {other[2]}，因此不会删除"
        )
        return _prefixed(override, text, f"~{name}")
    if "defaults list" in message:
        text = said(f"{name} is not chosen with {override.raw}", f"{name} 没有选用 {override.raw}")
        return _prefixed(override, text, f"~{name}")
    parent = [str(part) for part in override.path[:-1]]
    named = is_map(tuple(parent))  # then the last part is a name of the user's, and no field is like it
    meant = None if named else key(parent, str(override.path[-1]), [], [])
    text = said(f"{name} is not there, so it cannot be taken away", f"{name} 不存在，无法删除")
    return _prefixed(override, text, f"~{meant}" if meant and meant != name else "")


def _prefixed(override: GivenOverride, message: Said, meant: str) -> Diagnostic:
    """`+` and `~` say what is there; they are wrong where it is not so."""
    fix = said(f"write {shlex.quote(meant)}", f"请写成 {shlex.quote(meant)}") if meant else said("leave it out", "请去掉")
    return Diagnostic("MS0118", message, override.key_place, fix=fix, suggestion=meant)


def _no_item(override: GivenOverride) -> Diagnostic:
    *above, item = override.path
    name = dotted(tuple(above))
    return Diagnostic(
        "MS0119",
        said(f"the list {name} has no item {item}", f"列表 {name} 中没有 {item} 这一项"),
        override.key_place,
        reason=said("an override replaces what is there; it does not make a list longer", "覆盖项只替换已有的内容，不会加长列表"),
        fix=said(f"items count from 0; or give the whole list: '{name}=[a,b]'", f"下标从 0 开始；或给出整个列表：'{name}=[a,b]'"),
    )


def _of_file(message: str, files: SpecFiles) -> Diagnostic:
    twice = re.match(r"(?:Multiple values for )?([\w/]+)(?: appears more than once|\. To override)", message)
    if twice:
        return _chosen_twice(twice.group(1), files)
    absent = re.search(r"Could not override '([^']+)'\.", message)
    if absent:
        return _nothing_to_override(absent.group(1), files)
    if clash := _clash(message, files):
        return clash
    first = message.splitlines()[0]
    place = _file_named_in(message, files)
    return Diagnostic("MS0113", said(f"the spec cannot be composed: {first}", f"无法组合规格：{first}"), place, fix=_hint(message))


def _hint(message: str) -> str:
    """Further lines of a message of Hydra are advice, as far as they are no data."""
    return "; ".join(line.strip() for line in message.splitlines()[1:3] if line.strip() and not _DETAIL.match(line))


def _circle(files: SpecFiles) -> Diagnostic:
    return Diagnostic(
        "MS0121",
        said("the defaults lists name each other in a circle", "defaults 列表互相引用，形成了环"),
        circle(files.parsed.values()),
        reason=said("there would be no first file to start from", "没有可以最先读取的文件"),
        fix=said("take the entry that leads back out of one of the lists", "请从其中一个列表中去掉指回来的那一项"),
    )


def _chosen_twice(group: str, files: SpecFiles) -> Diagnostic:
    found = [(file, one.node) for file in files.parsed.values() for one in entries(file) if one.group == group]
    file, value = found[-1] if found else (None, None)
    return Diagnostic(
        "MS0116",
        said(f"the group {group} is chosen twice", f"配置组 {group} 被选了两次"),
        file.at(value) if file and value else None,
        reason=said("both files would be merged, and which one wins would depend on their order", "两个文件会合并，谁覆盖谁取决于先后次序"),
        fix=said(f"in the later defaults list write `override /{group}: NAME`", f"请在后面的 defaults 列表中写 `override /{group}: NAME`"),
    )


def _nothing_to_override(written: str, files: SpecFiles) -> Diagnostic:
    """An override of a group that no list chooses."""
    name = written.partition("@")[0]
    found = [(file, one) for file in files.parsed.values() for one in entries(file) if one.overrides and name.endswith(one.group)]
    file, one = found[-1] if found else (None, None)
    if one is not None and not one.written.startswith("/"):
        meant = f"override /{one.group}: {one.option}"
        message = said(f"{one.group} needs a slash: a group is named from specs/ on", f"{one.group} 前要加斜杠：配置组从 specs/ 起算")
    elif one is not None and "@" in written:
        meant = f"override {one.written}: {one.option}"
        message = said(f"the group {name} has no second place, such as {written}", f"配置组 {name} 没有 {written} 这样的另一处")
    else:
        meant = f"/{name}: {one.option if one else 'NAME'}"
        message = said(f"the group {name} is chosen nowhere, so it cannot be overridden", f"配置组 {name} 尚未选用，无法覆盖")
    fix = said(f"write `{meant}`", f"请写 `{meant}`")
    return Diagnostic("MS0115", message, file.at(one.node) if file and one else None, ("defaults",), fix=fix, suggestion=meant)


def _message(error: BaseException) -> str:
    """Hydra wraps the reason: the outermost message that gives one."""
    text = str(error).strip()
    inner = error.__cause__ or error.__context__
    if inner and (not text or text.startswith("Error merging override")):
        return f"{text}: {_message(inner)}".removeprefix(": ").replace("override ++", "override ")
    return text or type(error).__name__


def _file_named_in(message: str, files: SpecFiles) -> Place | None:
    for name, file in files.parsed.items():
        if f"'{name.removesuffix('.yaml')}'" in message or f"In {name.removesuffix('.yaml')}:" in message:
            return file.place(0, 0)
    computed = (file.at(one.node) for file in files.parsed.values() for one in entries(file) if "${" in f"{one.option}")
    return next(computed, None) if "interpolation" in message else None


def _clash(message: str, files: SpecFiles) -> Diagnostic | None:
    """A list where another file has a mapping, or the reverse; OmegaConf does not say at which key."""
    found = re.match(r"In '([^']+)': \w+ raised while composing config:\s*Cannot merge", message)
    own = files.parsed.get(f"{found.group(1)}.yaml") if found else None
    if own is None:
        return None
    others = {path: node for file in files.parsed.values() if file is not own for path, node in _collections(file)}
    path, node = next(item for item in _collections(own) if type(item[1]) is not type(others.get(item[0], item[1])))
    kinds = said("a list", "列表"), said("a mapping", "映射")
    wanted, got = kinds if isinstance(node, yaml.MappingNode) else kinds[::-1]
    message = said(f"expected {wanted}, got {got}", f"应为{wanted.zh}，实际是{got.zh}")
    return Diagnostic("MS0203", message, own.at(node), path, fix=said(f"write {wanted}", f"请写{wanted.zh}"))


def _collections(file: SpecFile) -> Iterator[tuple[KeyPath, yaml.Node]]:
    """Mappings and lists of a file by their path in the composed spec."""
    group = Path(file.file).parent.parts[1:]
    package = () if group in ((), ("experiment",)) else group

    def below(path: KeyPath, node: yaml.Node) -> Iterator[tuple[KeyPath, yaml.Node]]:
        if isinstance(node, (yaml.MappingNode, yaml.SequenceNode)):
            yield path, node
        for name, value in node.value if isinstance(node, yaml.MappingNode) else ():
            yield from below((*path, name.value), value)

    if file.node is not None:
        yield from below(package, file.node)


def _missing(error: MissingConfigException, files: SpecFiles, groups: Groups) -> Diagnostic:
    """A file that a defaults list names and that is not there; most are found before Hydra is asked."""
    group, _, option = str(error.missing_cfg_file).rpartition("/")
    place = next((file.at(one.node) for file in files.parsed.values() for one in entries(file) if one.option == option), None)
    return groups.no_option(group, option, place) if groups.exists(group) else groups.no_group(group or option, place)
