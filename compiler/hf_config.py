"""A Hugging Face config.json with the place of each of its values."""

import errno
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

from compiler import system_errors
from compiler.diagnostics import Diagnostic, Faults
from compiler.masking import masked
from compiler.source import Path as KeyPath
from compiler.source import Place
from compiler.wording import Said, said

FILE = "config.json"
_BLANK = " \t\n\r"
_BOM = b"\xef\xbb\xbf"
_DTYPES = ("float32", "float16", "bfloat16")


@dataclass(frozen=True)
class HfConfig:
    """`file`: as places name it, relative to the project root where it lies below; `places`: by path, of nested objects too."""

    file: str
    values: dict[str, Any]
    places: dict[KeyPath, Place]


def read(root: Path, folder: str) -> HfConfig:
    """The config.json of a folder. Raises Faults that have a place where the file could be read, and none where it could not."""
    path = root / folder / FILE
    name = path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
    text = _text(path, name)
    values = _object(text, name)
    places: dict[KeyPath, Place] = {(): _place(name, text, 0)}
    faults = list(_walk(text, name, (), places))
    if faults:
        raise Faults(faults)
    return HfConfig(name, values, places)


@cache
def published_dtype(root: str, folder: str) -> str | None:
    """The numeric type of the published weights; None where config.json does not say, or names one that no spec knows."""
    try:
        values = read(Path(root), folder).values
    except Faults:
        return None
    dtype = values.get("torch_dtype", values.get("dtype"))
    return dtype if dtype in _DTYPES else None


def _text(path: Path, name: str) -> str:
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise Faults([_absent(path, name, error)]) from None
    except ValueError:  # a NUL within the path: no file has such a name
        raise Faults([_absent(path, name, FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT)))]) from None
    if raw.startswith(_BOM):
        message = said(f"{name} begins with a byte order mark", f"{name} 以字节序标记（BOM）开头")
        reason = said(
            "JSON has none: transformers and mindformers refuse the file", "JSON 不允许 BOM，transformers 与 mindformers 会拒绝该文件"
        )
        fix = said("save it as UTF-8 without a byte order mark", "另存为不带 BOM 的 UTF-8")
        raise Faults([Diagnostic("MS0315", message, Place(name, 1, 1, ""), reason=reason, fix=fix)])
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        message = said(f"byte {raw[error.start]:#04x} is not UTF-8", f"字节 {raw[error.start]:#04x} 不是 UTF-8")
        fix = said("save the file as UTF-8", "把文件另存为 UTF-8")
        raise Faults([Diagnostic("MS0315", message, Place(name, line, 1, ""), fix=fix)]) from None


def _absent(path: Path, name: str, error: OSError) -> Diagnostic:
    folder = path.parent
    if os.path.isfile(folder):
        message = said(f"{folder.name} is a file", f"{folder.name} 是一个文件")
        fix = said("name the folder that holds config.json", "请写包含 config.json 的文件夹")
    elif not os.path.exists(folder):  # also a name longer than a file name can be
        message = said("the folder does not exist", "文件夹不存在")
        fix = said("name a folder with a config.json, relative to the project root", "请写含 config.json 的文件夹，相对于项目根目录")
    else:
        message = said(f"{name} cannot be read: {system_errors.told(error)}", f"无法读取 {name}：{system_errors.told(error).zh}")
        fix = said("put the model's config.json there", "把模型的 config.json 放到该处")
    return Diagnostic("MS0315", message, reason=said("the sizes of the model are read from it", "模型尺寸从中读取"), fix=fix)


_JSON_ZH = {
    "Expecting value": "此处应为一个值",
    "Expecting property name enclosed in double quotes": "此处应为双引号中的键（末尾也不能有逗号）",
    "Expecting ':' delimiter": "此处应为 ':'",
    "Expecting ',' delimiter": "此处应为 ','",
    "Unterminated string starting at": "从此处开始的字符串没有结束",
    "Invalid control character at": "字符串中有控制字符",
    "Invalid \\escape": "无效的转义",
    "Invalid \\uXXXX escape": "无效的 \\uXXXX 转义",
    "Extra data": "对象之后还有多余的内容",
}


def _object(text: str, name: str) -> dict[str, Any]:
    try:
        values = json.loads(text)
    except json.JSONDecodeError as error:
        place = _place(name, text, error.pos)
        message = said(f"this is not JSON: {error.msg}", f"不是合法的 JSON：{_JSON_ZH.get(error.msg, error.msg)}")
        raise Faults([Diagnostic("MS0315", message, place, fix=_from_the_model())]) from None
    except (RecursionError, ValueError):  # thousands of brackets, or of digits
        message = said("nested too deep, or a number of too many digits", "嵌套过深，或数字位数过多")
        raise Faults([Diagnostic("MS0315", message, _place(name, text, 0), fix=_from_the_model())]) from None
    if not isinstance(values, dict):
        message = said("config.json holds no object", "config.json 不是 JSON 对象")
        raise Faults([Diagnostic("MS0315", message, _place(name, text, 0), fix=_from_the_model())])
    return cast(dict[str, Any], values)


def _from_the_model() -> Said:
    return said("take the file from the model's own folder again", "请重新取得该模型的原始文件")


def _walk(text: str, name: str, above: KeyPath, places: dict[KeyPath, Place], start: int = 0) -> Iterator[Diagnostic]:
    """Note the place of every member of the object that begins at or after `start`; yields keys that are written twice."""
    for key, at, value_at in _members(text, _skip(text, start)):
        path = (*above, key)
        if path in places:
            yield Diagnostic(
                "MS0315",
                said(f"the key {key} is written twice", f"键 {key} 出现了两次"),
                _place(name, text, at),
                reason=said("readers keep one of the two values, not all the same one", "不同的读取程序保留的值不同"),
                fix=said("remove one of them", "删去其中一个"),
                related=((said("first here", "首次出现于此"), places[path]),),
            )
        places[path] = _place(name, text, value_at)
        if text[value_at] == "{":
            yield from _walk(text, name, path, places, value_at)


def _members(text: str, start: int) -> Iterator[tuple[str, int, int]]:
    """(key, where it is, where its value is) of an object in sound JSON."""
    decode = json.JSONDecoder().raw_decode
    at = _skip(text, start + 1)
    while text[at] != "}":
        key, end = decode(text, at)
        value_at = _skip(text, _skip(text, end) + 1)  # behind the colon
        yield key, at, value_at
        at = _skip(text, decode(text, value_at)[1])
        at = _skip(text, at + 1) if text[at] == "," else at


def _skip(text: str, at: int) -> int:
    while text[at] in _BLANK:
        at += 1
    return at


def _place(name: str, text: str, at: int) -> Place:
    begin = text.rfind("\n", 0, at) + 1
    line = text[begin:].split("\n", 1)[0].rstrip("\r")
    return Place(name, text.count("\n", 0, at) + 1, at - begin + 1, masked(line))
