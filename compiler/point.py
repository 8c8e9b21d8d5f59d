"""Names of sweep points: `<experiment>--<key>-<value>...`, stable and unique."""

import hashlib
import re
from collections.abc import Sequence

LONGEST = 100
PLAIN = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


def point_name(experiment: str, overrides: Sequence[str]) -> str:
    """The name of a point, from its overrides in the order of their keys.

    A value that loses something when it is spelled in `[a-z0-9-]` (0.1, text, lists) gets a short hash of itself; a name
    that would be longer than 100 characters is a hash of all overrides.
    """
    parts = [_part(override) for override in sorted(overrides)]
    name = "--".join([experiment, *parts])
    return name if len(name) <= LONGEST else f"{experiment}--{_short(' '.join(sorted(overrides)))}"


def _part(override: str) -> str:
    key, _, value = override.partition("=")
    spelled = f"{_spell(key)}-{_spell(value)}"
    exact = PLAIN.fullmatch(value) and PLAIN.fullmatch(key.replace(".", "-").replace("_", "-"))
    return spelled.strip("-") if exact else f"{spelled}-{_short(override)}".strip("-")


def _spell(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:6]
