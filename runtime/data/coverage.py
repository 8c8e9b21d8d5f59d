"""How a tokenizer does on texts it was not trained on."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from runtime import records
from runtime.data.encoding import Vocabulary


@dataclass
class Coverage:
    """What a tokenizer made of some texts; all numbers are sums. changed: texts that did not come back from their ids.

    lost: the characters that did not come back, each with how often; one that came back as another is lost.
    """

    documents: int = 0
    tokens: int = 0
    bytes: int = 0
    characters: int = 0
    byte_tokens: int = 0
    unknown: int = 0
    changed: int = 0
    lost: Counter[str] = field(default_factory=Counter[str])

    def add(self, vocabulary: Vocabulary, text: str) -> None:
        """Encode one text, decode it again, and count."""
        ids = vocabulary.array(text)
        self.documents += 1
        self.tokens += len(ids)
        self.bytes += len(text.encode())
        self.characters += len(text)
        self.byte_tokens += int(vocabulary.partial[ids].sum())
        self.unknown += int((ids == vocabulary.backend.unknown).sum()) if vocabulary.backend.unknown is not None else 0
        if (back := vocabulary.decode(ids.tolist())) != text:
            self.changed += 1
            self.lost += Counter(text) - Counter(back)

    def as_metrics(self) -> dict[str, float | int]:
        """Counts, and rates rounded to six digits."""
        tokens = max(self.tokens, 1)
        rates = {
            "bytes_per_token": self.bytes / tokens,
            "characters_per_token": self.characters / tokens,
            "byte_fallback_rate": self.byte_tokens / tokens,
            "unknown_rate": self.unknown / tokens,
        }
        return {
            "documents": self.documents,
            "tokens": self.tokens,
            "bytes": self.bytes,
            **{name: round(rate, 6) for name, rate in rates.items()},
        }

    def most_lost(self, count: int) -> str:
        """The characters that did not come back, the most frequent first."""
        return "".join(sorted(self.lost, key=lambda character: (-self.lost[character], character))[:count])


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
