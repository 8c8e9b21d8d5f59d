"""A text in quotes: as a file wants it, and as an override does, inside those of the shell."""

import re
import shlex

from compiler.source import Place


def quoted(value: str) -> str:
    """A text as a quoted value of Hydra's grammar: a backslash before a quote, and at the end, is doubled."""
    return '"' + re.sub(r'(\\*)("|$)', lambda found: found[1] * 2 + ('\\"' if found[2] else ""), value) + '"'


def override_in_quotes(place: Place, text: str) -> str:
    """The override at a place with its value, `text`, in quotes, as a shell takes it; empty where it is none, or more than that."""
    key, _, value = place.text.partition("=")
    whole = place.file.startswith("<override") and value.strip() == text
    return shlex.quote(f"{key}={quoted(text)}") if whole else ""
