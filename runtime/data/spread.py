"""A few entries of many, chosen by hash: the same ones however the many were divided among tasks.

The entries with the smallest hashes are a uniform sample without replacement (bottom-k sketch, Cohen and Kaplan 2007). Merging
two such samples gives exactly the sample of both, so tasks choose on their own and the choice is that of one pass.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

Entry = dict[str, Any]


@dataclass
class Spread:
    """At most `size` entries, those whose keys have the smallest hashes. Of several with one key the first stays."""

    size: int
    _chosen: dict[bytes, Entry] = field(default_factory=dict)
    _last: bytes = b""

    def offer(self, key: str, make: Callable[[], Entry]) -> None:
        """Choose an entry or not; `make` is called for what is chosen."""
        digest = blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        if self._takes(digest):
            self._put(digest, make())

    def add(self, other: "Spread") -> None:
        """Choose among what another spread, which came behind this one, has chosen."""
        for digest, entry in other._chosen.items():
            if self._takes(digest):
                self._put(digest, entry)

    def __iter__(self) -> Iterator[Entry]:
        """The entries in the order of their hashes."""
        return (entry for _, entry in sorted(self._chosen.items(), key=lambda one: one[0]))

    def _takes(self, digest: bytes) -> bool:
        return digest not in self._chosen and (len(self._chosen) < self.size or digest < self._last)

    def _put(self, digest: bytes, entry: Entry) -> None:
        self._chosen[digest] = entry
        if len(self._chosen) > self.size:
            del self._chosen[self._last]
        self._last = max(self._chosen)
