"""Which files of `runtime` a program is made of, found from their imports."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

PACKAGE = "runtime"

# An import statement as a formatter leaves it: alone on its lines, names perhaps in parentheses.
_STATEMENT = re.compile(
    r"^[ \t]*(?:from[ \t]+(?P<module>[\w.]+)[ \t]+import[ \t]*(?P<names>\([^()]*\)|[^()\\;\n]+)|import[ \t]+(?P<modules>[^()\\;\n]+))$",
    re.M,
)
_COMMENT = re.compile(r"#[^\n]*")
_IMPORT = re.compile(r"\bimport\b")


class Programs:
    """The files of one checkout, each read once: what is found stays as it was when this was made."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._imports: dict[str, tuple[str, frozenset[str]] | None] = {}

    def files(self, program: str) -> tuple[str, ...]:
        """Files of a module and of what it imports, transitively; sorted, relative to the root."""
        seen: dict[str, str] = {}
        waiting = [program]
        while waiting:
            for part in _with_packages(waiting.pop()):
                found = None if part in seen else self._module(part)
                if found is not None:
                    seen[part] = found[0]
                    waiting.extend(found[1])
        return tuple(sorted(seen.values()))

    def _module(self, name: str) -> tuple[str, frozenset[str]] | None:
        """File of a module and the modules that it imports; None for what is no module, such as a function."""
        if name not in self._imports:
            self._imports[name] = self._read(name)
        return self._imports[name]

    def _read(self, name: str) -> tuple[str, frozenset[str]] | None:
        base = name.replace(".", "/")
        for file in (f"{base}.py", f"{base}/__init__.py"):
            try:
                return file, imports((self._root / file).read_bytes())
            except (FileNotFoundError, NotADirectoryError):
                continue
        return None


def _with_packages(module: str) -> Iterator[str]:
    """A module and the packages around it, whose `__init__` runs when it is imported."""
    parts = module.split(".")
    return (".".join(parts[: end + 1]) for end in range(len(parts)))


@cache
def imports(source: bytes) -> frozenset[str]:
    """Modules of `runtime` that a source text imports, anywhere in it, and what may be modules of a package.

    Parsing all programs takes longer than the rest of a compilation, so a text whose imports are statements of the usual
    form is not parsed. A line of a docstring that reads like an import counts as one: one file too many reruns a stage, one
    too few would not.
    """
    text = source.decode("utf-8", "replace")
    found = list(_STATEMENT.finditer(_COMMENT.sub("", text)))
    if len(found) == len(_IMPORT.findall(text)):
        return frozenset(name for one in found for name in _named(one))
    return frozenset(name for node in ast.walk(ast.parse(source)) for name in _of_node(node))


def _named(statement: re.Match[str]) -> Iterator[str]:
    if module := statement["module"]:
        names = re.findall(r"(\w+)(?:\s+as\s+\w+)?", statement["names"])
        yield from _in_package(module, *(f"{module}.{name}" for name in names))
    else:
        yield from _in_package(*(part.split()[0] for part in statement["modules"].split(",")))


def _of_node(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from _in_package(*(alias.name for alias in node.names))
    elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
        yield from _in_package(node.module, *(f"{node.module}.{alias.name}" for alias in node.names))


def _in_package(*modules: str) -> Iterator[str]:
    return (module for module in modules if module.partition(".")[0] == PACKAGE)
