"""Where the value of an override stops being one that Hydra's grammar can read, and why.

The grammar itself says only which token it had not expected, which is rarely the character to change.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from compiler.wording import Said, said

_TOKEN = re.compile(
    r"""(?P<quoted>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')"""
    r"|(?P<escaped>\\[\\()\[\]{}:=, \t])|(?P<opening>[\[{(])|(?P<closing>[\]})])|(?P<comma>,)|(?P<blank>\s)|(?P<other>.)",
    re.DOTALL,
)
_UNQUOTED = re.compile(r"[\w/\\+.$%*@?|:-]|[^\x00-\x7f]")  # every other character has a meaning of its own, or none
_PAIRS = {"[": "]", "{": "}", "(": ")"}
_STARTS = ",[{(:"  # an item may begin behind one of these


def troubles(value: str) -> Iterator[tuple[int, Said]]:
    """What keeps a value from being read, in the order in which a reader meets it: where in the value, and in words."""
    return _Reader(value).read()


@dataclass
class _Reader:
    """`opened`: brackets that are still open, with their places; `before`: the last character that is no blank."""

    value: str
    opened: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    before: str = ","

    def read(self) -> Iterator[tuple[int, Said]]:
        for token in _TOKEN.finditer(self.value):
            kind, text = str(token.lastgroup), token.group()
            if kind == "blank" and text not in "\r\n":
                continue
            if message := getattr(self, f"_{kind}")(token.start(), text):
                yield token.start(), message
                if text in "\"'" or (kind == "closing" and self._wrong_pair(text)):
                    return
            if kind == "closing":
                self.opened.pop()
            self.before = "x" if kind == "escaped" else text[-1]
        yield from self._end()

    def _quoted(self, _index: int, _text: str) -> Said | None:
        return None if self.before in _STARTS else said("a quoted text stands beside other text", "带引号的文本与其他文本相连")

    def _blank(self, _index: int, _text: str) -> Said | None:
        return said("a line end has no place in a text without quotes", "不带引号的文本中不能有换行符")

    def _escaped(self, _index: int, _text: str) -> Said | None:
        return None

    def _opening(self, index: int, text: str) -> Said | None:
        self.opened.append((index, text))
        if text == "(":
            called = re.search(r"\w$", self.value[:index])
            return None if called else said("( calls a function and has none before it", "( 表示函数调用，但前面没有函数名")
        if self.before in _STARTS or self.before == "$":
            return None
        return said(f"{text} begins a list or a mapping, and stands within a text", f"{text} 表示列表或映射的开头，却出现在文本之中")

    def _closing(self, _index: int, text: str) -> Said | None:
        if self._wrong_pair(text):
            return said(f"{text} closes nothing", f"{text} 没有对应的左括号")
        if self.before == "," and text != ")":
            return said("nothing stands behind the last comma", "最后一个逗号之后没有内容")
        return None

    def _wrong_pair(self, text: str) -> bool:
        return not self.opened or _PAIRS[self.opened[-1][1]] != text

    def _comma(self, _index: int, _text: str) -> Said | None:
        return said("nothing stands before the comma", "逗号之前没有内容") if self.before in ",[{" else None

    def _other(self, _index: int, text: str) -> Said | None:
        if text in "\"'":
            return said(f"the quote {text} is never closed", f"引号 {text} 没有闭合")
        if self.before in "\"'" and text != ":":
            return said("other text stands beside a quoted text", "带引号的文本与其他文本相连")
        return (
            None if _UNQUOTED.fullmatch(text) else said(f"{text} has no place in a text without quotes", f"不带引号的文本中不能有 {text}")
        )

    def _end(self) -> Iterator[tuple[int, Said]]:
        if self.opened:
            index, text = self.opened[-1]
            yield index, said(f"{text} is never closed", f"{text} 没有闭合")
        elif self.before == "," and self.value.strip():
            yield len(self.value) - 1, said("nothing stands behind the last comma", "最后一个逗号之后没有内容")
