"""How a tokenizer does on texts it was not trained on."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from runtime import records
from runtime.data.encoding import Vocabulary


@dataclass
class Coverage:
    """What a tokenizer made of some texts; all numbers are sums. changed: texts that did not come back from their ids."""

    documents: int = 0
    tokens: int = 0
    bytes: int = 0
    byte_tokens: int = 0
    unknown: int = 0
    changed: int = 0

    def add(self, vocabulary: Vocabulary, text: str) -> None:
        """Encode one text, decode it again, and count."""
        ids = vocabulary.encode(text)
        self.documents += 1
        self.tokens += len(ids)
        self.bytes += len(text.encode())
        self.byte_tokens += sum(map(vocabulary.is_byte, ids))
        self.unknown += sum(map(vocabulary.is_unknown, ids))
        self.changed += vocabulary.decode(ids) != text

    def as_metrics(self) -> dict[str, float | int]:
        """Counts, and rates rounded to six digits."""
        tokens = max(self.tokens, 1)
        rates = {
            "bytes_per_token": self.bytes / tokens,
            "byte_fallback_rate": self.byte_tokens / tokens,
            "unknown_rate": self.unknown / tokens,
        }
        return {
            "documents": self.documents,
            "tokens": self.tokens,
            "bytes": self.bytes,
            **{name: round(rate, 6) for name, rate in rates.items()},
        }


def measure(vocabulary: Vocabulary, folder: Path) -> dict[str, Coverage]:
    """Encode and decode all records of a folder, by source."""
    found: dict[str, Coverage] = {}
    for record in records.read(folder):
        found.setdefault(record.source, Coverage()).add(vocabulary, record.text)
    return found


def sum_of(parts: Mapping[str, Coverage]) -> Coverage:
    """One coverage over all sources."""
    total = Coverage()
    for part in parts.values():
        for name, value in vars(part).items():
            setattr(total, name, getattr(total, name) + value)
    return total
