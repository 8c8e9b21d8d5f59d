"""Texts in both languages, written side by side where they arise, so that neither can be forgotten or drift."""

from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal

Language = Literal["en", "zh"]
LANGUAGES: tuple[Language, ...] = ("en", "zh")

_SPOKEN: ContextVar[Language] = ContextVar("spoken", default="en")


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


def in_language(text: str, language: Language | None = None) -> str:
    """The text as a reader of `language` gets it; one that was written in English alone stays English.

    Without a language: in the one that this process speaks.
    """
    return text.zh if (language or spoken()) == "zh" and isinstance(text, Said) else str(text)


def listed(words: Iterable[object]) -> Said:
    """Words one after the other; each may have its own Chinese."""
    texts = [word if isinstance(word, str) else str(word) for word in words]
    return said(", ".join(texts), "、".join(in_language(text, "zh") for text in texts))


def spoken() -> Language:
    """The language in which this process talks to a person."""
    return _SPOKEN.get()


@contextmanager
def speaking(language: Language) -> Generator[None]:
    """Talk in a language for a while."""
    token = _SPOKEN.set(language)
    try:
        yield
    finally:
        _SPOKEN.reset(token)


def language_of(environment: Mapping[str, str]) -> Language:
    """The language of a locale, by the first of LC_ALL, LC_MESSAGES and LANG that is set, as POSIX has it."""
    chosen = next((value for name in ("LC_ALL", "LC_MESSAGES", "LANG") if (value := environment.get(name))), "")
    return "zh" if chosen.lower().startswith("zh") else "en"
