"""Disjoint sets of documents: Tarjan 1975, "Efficiency of a good but not linear set union algorithm", with path halving."""

from array import array

import numpy as np

from runtime.data.deduplication.partitions import Documents


class Forest:
    """Sets of the documents 0 .. `size` - 1; the root of a set is its first document. Memory: 8 bytes a document."""

    def __init__(self, size: int) -> None:
        self._parent = array("q", range(size))

    def root(self, document: int) -> int:
        """The first document of the set that holds `document`."""
        parent = self._parent
        while (above := parent[document]) != document:
            parent[document] = document = parent[above]
        return document

    def join(self, left: int, right: int) -> None:
        """Unite two sets."""
        low, high = sorted((self.root(left), self.root(right)))
        self._parent[high] = low

    def joined(self) -> tuple[Documents, Documents]:
        """The documents of sets of two or more, in order, and the roots of their sets."""
        parent = np.frombuffer(self._parent, np.int64) if len(self._parent) else np.zeros(0, np.int64)
        below = np.flatnonzero(parent != np.arange(len(parent)))
        roots = np.array([self.root(document) for document in below.tolist()], np.int64)
        documents = np.union1d(below, roots)
        of_all = documents.copy()
        of_all[np.searchsorted(documents, below)] = roots
        return documents, of_all
