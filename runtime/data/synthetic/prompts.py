"""Prompts are data: a YAML file with `user` and perhaps `system`, in which names in braces stand for rows.

writing   {examples}: seeds, one JSON object a line, or texts with a line of dashes between them; {seed}: the first of them
judging   {row}: the row as JSON, or its text; {instruction}, {input}, {output} or {text}: a part of it
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import yaml

from runtime.data.synthetic.seeds import Row
from runtime.faults import StageFault
from runtime.raw_file import text_of

WRITING = frozenset({"examples", "seed"})
JUDGING = {"instruct": frozenset({"row", "instruction", "input", "output"}), "text": frozenset({"row", "text"})}
BETWEEN = "\n\n---\n\n"
_NAME = re.compile(r"\{([a-z_]+)\}")


@dataclass(frozen=True)
class Prompt:
    """What is said to a model, with names in braces."""

    user: str
    system: str | None = None

    def filled(self, values: Mapping[str, str]) -> list[dict[str, str]]:
        """The messages. Braces inside what is put in, and names that are not known, stay as they are."""
        told = [("system", self.system), ("user", self.user)]
        return [{"role": role, "content": _filled(text, values)} for role, text in told if text is not None]


def load(root: Path, path: str, names: frozenset[str]) -> Prompt:
    """Read a prompt that names at least one of `names`. Raises StageFault."""
    content = _content(root / path, path)
    unknown = [str(key) for key in content if key not in ("system", "user")]
    texts = [content.get("user"), *([content["system"]] if "system" in content else [])]
    if unknown or not all(isinstance(text, str) and text.strip() for text in texts):
        what = f"unknown: {', '.join(unknown)}" if unknown else "user is no text"
        raise StageFault(f"not a prompt ({what})", where=path, fix="write `user`, and perhaps `system`, each a text")
    prompt = Prompt(*(str(text) for text in texts))
    if not names & set(_NAME.findall("".join(map(str, texts)))):
        options = ", ".join(f"{{{name}}}" for name in sorted(names))
        reason = "every request would be the same"
        raise StageFault("the prompt has no place for a row", where=path, reason=reason, fix=f"write one of {options} where it shall stand")
    return prompt


def shown(row: Row) -> str:
    """A row as a model sees it."""
    return row["text"] if "text" in row else orjson.dumps({name: text for name, text in row.items() if text or name != "input"}).decode()


def examples(rows: Sequence[Row]) -> dict[str, str]:
    """What stands for the names of a writing prompt."""
    between = BETWEEN if "text" in rows[0] else "\n"
    return {"examples": between.join(map(shown, rows)), "seed": shown(rows[0])}


def _filled(text: str, values: Mapping[str, str]) -> str:
    return _NAME.sub(lambda found: values.get(found[1], found[0]), text)


def _content(file: Path, path: str) -> dict[Any, Any]:
    written = text_of(file, path, "write a YAML file with `user`, and perhaps `system`")
    try:
        content = yaml.safe_load(written)
    except (ValueError, yaml.YAMLError) as error:
        told = " ".join(str(getattr(error, "problem", None) or error).split())
        raise StageFault(f"not a prompt: {told}", where=path, fix="write a YAML file with `user`, and perhaps `system`") from None
    if not isinstance(content, dict):
        raise StageFault("not a prompt: no mapping", where=path, fix="write a YAML file with `user`, and perhaps `system`")
    return content
