"""MindRecord's shared library, without the rest of MindSpore.

The classes of `mindspore.mindrecord` are thin shells around it, and to import them is to import all of MindSpore: several CPU
seconds, and half a gigabyte of memory, whatever is written. The library itself is there in a hundredth of a second.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

LIBRARY = "mindspore._c_mindrecord"
CONSUMERS = 1  # threads that a reader decompresses rows in
LENGTH = 8  # bytes that say how long a column of a row is, big-endian, where a row has several


def library() -> Any:
    """The library, loaded under the name that MindSpore gives it: a later `import mindspore` finds it and loads no other one.

    Raises ImportError where MindSpore is not installed.
    """
    package = None if LIBRARY in sys.modules or "mindspore" in sys.modules else find_spec("mindspore")
    spec = PathFinder.find_spec(LIBRARY, package.submodule_search_locations) if package else None
    if spec is None or spec.loader is None:
        return import_module(LIBRARY)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return sys.modules.setdefault(LIBRARY, module)


def _done(status: Any, what: str) -> None:
    if status != library().MSRStatus.SUCCESS:
        raise RuntimeError(f"MindRecord cannot {what}")


class Writer:
    """Writes rows of int32 columns into one file."""

    def __init__(self, path: Path, columns: Sequence[str], *, page_bytes: int, header_bytes: int) -> None:
        found = library()
        schema = found.Schema.build("rows", {column: {"type": "int32", "shape": [-1]} for column in columns})
        header = found.ShardHeader()
        self._path, self._writer, self._order = path, found.ShardWriter(), schema.get_blob_fields()
        if header.add_schema(schema) < 0:
            raise RuntimeError(f"MindRecord takes no columns {', '.join(columns)}")
        _done(self._writer.set_page_size(page_bytes), "set the size of a page")
        _done(self._writer.set_header_size(header_bytes), "set the size of the header")
        _done(self._writer.open([str(path)], False, False), f"open {path}")
        _done(self._writer.set_shard_header(header), "set the header")

    def write(self, rows: Mapping[str, NDArray[np.int32]]) -> None:
        """Write rows, at least one: of each column (rows, length)."""
        parts = [np.ascontiguousarray(rows[column], "<i4").view(np.uint8) for column in self._order]
        together = parts[0] if len(parts) == 1 else np.concatenate([part for column in parts for part in (_length(column), column)], axis=1)
        _done(self._writer.write_raw_data({}, [row.tobytes() for row in together], True, False), f"write to {self._path}")

    def commit(self) -> None:
        """Finish the file, and write its index beside it."""
        _done(self._writer.commit(), f"finish {self._path}")
        index = library().ShardIndexGenerator(str(self._path.resolve()), False)
        _done(index.build(), f"index {self._path}")
        _done(index.write_to_db(), f"write the index of {self._path}")


def _length(column: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """What stands before each row of a column."""
    rows, size = column.shape
    return np.broadcast_to(np.frombuffer(size.to_bytes(LENGTH, "big"), np.uint8), (rows, LENGTH))


class Reader:
    """Reads the rows of one file in order."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @cached_property
    def _opened(self) -> Any:
        reader = library().ShardReader()
        _done(reader.open([str(self._path)], False, CONSUMERS, [], []), f"open {self._path}")
        _done(reader.launch(), f"read {self._path}")
        return reader

    def rows(self) -> Iterator[dict[str, bytes]]:
        """Each row: of each column, its little-endian numbers."""
        reader = self._opened
        try:
            while found := reader.get_next():
                yield from ({name: bytes(column) for name, column in columns.items()} for columns, _ in found)
        finally:
            reader.close()
