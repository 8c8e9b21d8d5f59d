"""Kinds of personal data that `clean` replaces."""

from collections.abc import Mapping

# kind -> the field of the spec that asks for it, in the order in which they are looked for
KINDS: Mapping[str, str] = {"email": "emails", "id": "ids", "card": "cards", "phone": "phones", "ip_address": "ip_addresses"}


def placeholder(kind: str) -> str:
    """What stands in the place of personal data unless the spec says otherwise."""
    return f"<{kind}>"
