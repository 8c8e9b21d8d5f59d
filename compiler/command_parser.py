"""The parser of the command line: argparse, whose words on wrong usage come in the language that is spoken."""

import argparse
import re
from typing import Any, NoReturn

from compiler.suggest import closest, did_you_mean
from compiler.wording import Said, in_language, listed, said

_FORMS = (
    (r"the following arguments are required: (.*)", "缺少参数：{}"),
    (r"unrecognized arguments: (.*)", "无法识别的参数：{}"),
    (r"argument (.*): expected one argument", "参数 {} 需要一个值"),
    (r"argument (.*): ignored explicit argument (.*)", "参数 {} 不接受值 {}"),
    (r"argument (.*): a number from 1 is needed, not (.*)", "参数 {} 需要不小于 1 的整数，而不是 {}"),
    (r"argument (.*): not allowed with argument (.*)", "参数 {} 不能与 {} 同用"),
    (r"ambiguous option: (.*) could match (.*)", "选项 {} 有歧义，可能是 {}"),
)

_KINDS = {"COMMAND": said("command", "命令"), "STAGE": said("data stage", "数据阶段")}


class CommandParser(argparse.ArgumentParser):
    """As argparse, but bilingual. Options are never abbreviated: `--lay` would change its meaning with the next option."""

    def __init__(self, *arguments: object, **options: object) -> None:
        super().__init__(*arguments, **{"allow_abbrev": False, **options})  # type: ignore[arg-type]

    def add_argument(self, *names: Any, **options: Any) -> argparse.Action:
        """As argparse; it counts words of which there may be none among those that are required, unless they have a default."""
        return super().add_argument(*names, **({"default": []} if options.get("nargs") == "*" else {}), **options)

    def error(self, message: str) -> NoReturn:
        """Exit with code 2."""
        head = in_language(said("error", "错误"))
        self.exit(2, f"{self.format_usage()}{self.prog}: {head}: {in_language(usage_words(message))}\n")

    def format_usage(self) -> str:
        """The head of the usage, which argparse words in English."""
        return _headed(super().format_usage())

    def format_help(self) -> str:
        """The headings too."""
        text = _headed(super().format_help())
        for english, chinese in (
            ("positional arguments:", "参数："),
            ("options:", "选项："),
            ("show this help message and exit", "显示此帮助并退出"),
        ):
            text = text.replace(english, in_language(said(english, chinese)), 1)
        return text


def _headed(text: str) -> str:
    return in_language(said("usage:", "用法：")) + text.removeprefix("usage:")


def usage_words(message: str) -> Said:
    """What argparse says of wrong usage, in both languages."""
    if isinstance(message, Said):
        return message
    unknown = re.match(r"argument (\w+): invalid choice: '(.*)' \(choose from (.*)\)", message, re.DOTALL)
    if unknown:
        name, known = unknown[2], re.findall(r"'([^']+)'", unknown[3])
        return _unknown(unknown[1], name, known)
    for form, chinese in _FORMS:
        if found := re.fullmatch(form, message, re.DOTALL):
            return said(message, chinese.format(*found.groups()))
    return said(message, message)


def _unknown(kind: str, name: str, known: list[str]) -> Said:
    meant = closest(name, known)
    hint = did_you_mean(meant) if meant else said(f"known: {listed(known)}", f"可用的有：{listed(known).zh}")
    what = _KINDS.get(kind, said("action", "操作"))
    return said(f"there is no {what} {name!r}; {hint}", f"没有{what.zh} {name!r}；{hint.zh}")
