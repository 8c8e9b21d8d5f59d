"""Texts in both languages, written side by side where they arise, so that neither can be forgotten or drift."""

from typing import Literal

Language = Literal["en", "zh"]


class Said(str):
    """An English text that carries its Chinese as `zh`. To everything that knows no languages it is the English one."""

    zh: str

    def __new__(cls, english: str, chinese: str) -> "Said":
        text = super().__new__(cls, english)
        text.zh = chinese
        return text


def said(english: str, chinese: str) -> Said:
    """A text in English and Chinese."""
    return Said(english, chinese)


def in_language(text: str, language: Language) -> str:
    """The text as a reader of `language` gets it; one that was written in English alone stays English."""
    return text.zh if language == "zh" and isinstance(text, Said) else str(text)
