"""What is wrong with the text of an override, at the character where it goes wrong, with the text that would be right."""

import re
import shlex

from hydra.errors import HydraException

from compiler.diagnostics import Diagnostic
from compiler.masking import masked, pieces
from compiler.parse.value_reader import troubles
from compiler.quoting import quoted
from compiler.source import Place
from compiler.suggest import closest, did_you_mean
from compiler.wording import Said, said
from runtime.contracts.registry import EVERY

_KEY = re.compile(r"(\+\+?|~)?[A-Za-z_][\w/-]*(@[\w.:]*)?(\.\w[\w-]*)*(\[\d+\])?", re.ASCII)
_FUNCTIONS = ("choice", "range", "interval", "glob", "sort", "shuffle", "tag", "int", "float", "str", "bool")


def unreadable(number: int, text: str, error: Exception, *, another: bool = False) -> Diagnostic:
    """The fault of the override `number`, whose text Hydra refused with an error; `another`: it is the name of an experiment."""
    if another:
        message = said(f"{text} is an experiment, and one command takes one", f"{text} 是实验名，而一次只能处理一个实验")
        fix = said("leave it out; behind the name stand overrides: key=value", "请去掉；实验名之后是覆盖项：key=value")
        return Diagnostic("MS0107", message, place_of(number, text, 0), fix=fix)
    if text in {contract.name for contract in EVERY}:
        return _stage(number, text)
    key, equals, value = text.partition("=")
    if "[" in key and _KEY.fullmatch(key):
        return lone_item(place_of(number, text, len(key) + 1))
    if not equals:
        return _no_value(number, text)
    if not _KEY.fullmatch(key):
        return _no_key(number, text, key, value)
    return _unreadable_value(number, text, error)


def _stage(number: int, text: str) -> Diagnostic:
    message = said(
        f"{text} is a stage, and behind the name stand overrides: key=value", f"{text} 是阶段名，而实验名之后是覆盖项：key=value"
    )
    fix = said(
        f"leave it out to run all; for this stage and those that it needs: dvc repro experiments/NAME/dvc.yaml:{text}",
        f"请去掉以运行全部阶段；只运行该阶段及其所需的阶段：dvc repro experiments/名称/dvc.yaml:{text}",
    )
    return Diagnostic("MS0107", message, place_of(number, text, 0), fix=fix)


def place_of(number: int, text: str, index: int) -> Place:
    """The place of a character of an override; of its last one where the index is behind it."""
    line = one_line(text)
    shown = masked(line)
    return Place(f"<override {number}>", 1, min(index, max(len(text) - 1, 0)) + 1, shown, pieces(line, shown))


def one_line(text: str) -> str:
    """An override as it can be shown above a caret: each line end as one sign."""
    return re.sub(r"[\r\n\x85\u2028\u2029]", "\u2424", text)


def lone_item(place: Place) -> Diagnostic:
    """The fault of setting, or taking away, one item of a list."""
    message = said("an item of a list cannot be set alone", "不能单独设置列表中的某一项")
    return Diagnostic("MS0107", message, place, fix=said("give the whole list: key=[a,b]", "请给出整个列表：key=[a,b]"))


def nested_too_deep(place: Place) -> Diagnostic:
    """The fault of brackets in brackets beyond what a value can be."""
    message = said("the override nests too deep", "该覆盖项嵌套过深")
    return Diagnostic("MS0107", message, place, fix=said("close the brackets that are open", "请闭合已打开的括号"))


def key_too_long(number: int, text: str, length: int) -> Diagnostic:
    """The fault of a key that is no path of any field."""
    message = said(f"a key of {length} characters", f"键长达 {length} 个字符")
    fix = said("write key=value; no path of a field is as long", "请写成 key=value；没有这么长的字段路径")
    return Diagnostic("MS0107", message, place_of(number, text, 0), fix=fix)


def _no_value(number: int, text: str) -> Diagnostic:
    found = re.fullmatch(r"\s*([A-Za-z_][\w.]*)\s*[: ]\s*(\S+)\s*", text, re.ASCII)
    meant = f"{found[1]}={found[2]}" if found else ""
    fix = said(f"write {shlex.quote(meant)}", f"请写成 {shlex.quote(meant)}") if meant else said("write key=value", "请写成 key=value")
    message = said(f"{text} has no value", f"{text} 没有值")
    return Diagnostic("MS0107", message, place_of(number, text, 0), fix=fix, suggestion=meant)


def _no_key(number: int, text: str, key: str, value: str) -> Diagnostic:
    place = place_of(number, text, 0)
    foreign = re.search(r"[^\x00-\x7f]", key)
    if foreign:
        return Diagnostic(
            "MS0107",
            said(
                f"the key {key} holds {foreign[0]}; Hydra reads ASCII alone in a key",
                f"键 {key} 含有 {foreign[0]}，而 Hydra 的键只能用 ASCII",
            ),
            place_of(number, text, foreign.start()),
            fix=said(
                "write the value in the file of the experiment: there any text may be a key", "请写进实验文件，文件中的键可以是任意文本"
            ),
        )
    meant = re.sub(r"\.{2,}", ".", key.strip().strip("./-").strip())
    example = f"{meant}={value}" if _KEY.fullmatch(meant) else "pretrain.steps=100"
    return Diagnostic(
        "MS0107",
        said(f"{key!r} is no path of a field", f"{key!r} 不是字段的路径") if key else said("the key is empty", "键为空"),
        place,
        fix=said(
            f"write key=value, without blanks before the `=`, for example {example}", f"请写成 key=value，`=` 前不留空格，例如 {example}"
        ),
        suggestion=example if meant else "",
    )


def _unreadable_value(number: int, text: str, error: Exception) -> Diagnostic:
    key, _, value = text.partition("=")
    offset = len(key) + 1
    if value.strip() == "~":
        message = said("~ is not read in an override", "覆盖项中不能写 ~")
        fix = said(f"write {key}=null", f"请写成 {key}=null")
        return Diagnostic("MS0107", message, place_of(number, text, offset), fix=fix, suggestion=f"{key}=null")
    if not isinstance(error, HydraException):
        message = said("the value is nested too deep or has too many digits", "值的嵌套过深，或位数过多")
        return Diagnostic("MS0107", message, place_of(number, text, offset), fix=said("write a plain value", "请写普通的值"))
    if function := re.search(r"while evaluating '((\w+)\(.*)': (.*)", str(error)):
        return _function(number, text, function[2], function[3])
    trouble = next(troubles(value), None)
    foreign = re.search(r"[^\x00-\x7f]", value)
    if foreign and (trouble is None or trouble[0] > foreign.start()):
        return _foreign(number, text, offset + foreign.start())
    index, message = trouble or (0, _as_hydra_says(error))
    head = said(f"the override cannot be read: {message}", f"无法读取该覆盖项：{message.zh}")
    return _quotable("MS0107", head, place_of(number, text, offset + index), text)


def _quotable(code: str, message: Said, place: Place, text: str) -> Diagnostic:
    """A fault that goes away when the value is a quoted text; where it may be a list, also with the comma taken out."""
    key, _, value = text.partition("=")
    meant = f"{key}={quoted(value)}"
    shown = shlex.quote(meant)
    fix = said(
        f"for a text, quote the value for Hydra inside the quotes of the shell: {shown}",
        f"若是文本，请在 shell 引号之内再为 Hydra 加一层引号：{shown}",
    )
    repaired = _without_empty_items(value)
    if repaired != value and not list(troubles(repaired)):
        meant = f"{key}={repaired}"
        fix = said(f"write {shlex.quote(meant)}", f"请写成 {shlex.quote(meant)}")
    return Diagnostic(code, message, place, fix=fix, suggestion=meant)


def _without_empty_items(value: str) -> str:
    return re.sub(r",\s*(?=[\]}])", "", re.sub(r",\s*(?=,)", "", value)) if value[:1] in ("[", "{") else value


def _function(number: int, text: str, name: str, problem: str) -> Diagnostic:
    """A name before a bracket is a call to Hydra."""
    key, _, value = text.partition("=")
    index = len(key) + 1 + max(value.find(f"{name}("), 0)
    if not problem.startswith("Unknown function"):
        message = said(f"the override cannot be read: {name}(...): {problem}", f"无法读取该覆盖项：{name}(...)：{problem}")
        return _quotable("MS0107", message, place_of(number, text, index), text)
    message = said(f"the override cannot be read: Hydra has no function {name}", f"无法读取该覆盖项：Hydra 没有函数 {name}")
    fault = _quotable("MS0107", message, place_of(number, text, index), text)
    meant = closest(name, _FUNCTIONS)
    if meant is None:
        return fault
    fix = said(f"{did_you_mean(meant)} {fault.fix}", f"{did_you_mean(meant).zh}{fault.fix.zh}" if isinstance(fault.fix, Said) else "")
    return Diagnostic("MS0107", message, fault.place, fix=fix, suggestion=fault.suggestion)


def _as_hydra_says(error: Exception) -> Said:
    line = next(iter(str(error).splitlines()), type(error).__name__).partition(" expecting ")[0]
    return said(line, line)


def _foreign(number: int, text: str, index: int) -> Diagnostic:
    key, _, value = text.partition("=")
    structured = value.lstrip()[:1] in ("[", "{")
    inner = re.sub(r"[^\s\[\]{},:\"']*[^\x00-\x7f][^\[\]{},:\"']*", r'"\g<0>"', value) if structured else quoted(value)
    meant = f"{key}={inner}"
    shown = shlex.quote(meant)
    return Diagnostic(
        "MS0108",
        said(
            "text other than ASCII needs quotes in an override (命令行中的中文等非 ASCII 文本需要加引号)",
            "命令行中的中文等非 ASCII 文本需要加引号",
        ),
        place_of(number, text, index),
        reason=said(
            "the shell strips one level of quotes, and Hydra's grammar wants its own",
            "shell 会去掉一层引号，而 Hydra 的语法还需要自己的一层",
        ),
        fix=said(f"write {shown} (请写成 {shown})", f"请写成 {shown}"),
        suggestion=meant,
    )
