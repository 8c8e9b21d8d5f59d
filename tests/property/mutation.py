"""Another legal value for every declared field, to see what it reaches.

A value is changed by its type. A field that needs more than that has an entry in CONTEXT: values that are the same on both
sides of the comparison, such as two devices where work is divided, and perhaps the other value itself.
"""

import base64
import json
import shutil
import types
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from compiler.diagnostics import Faults
from compiler.parse import from_hf, smoke
from compiler.pipeline import Compiled, compile_experiment, compile_tree
from compiler.project import Project
from compiler.source import Place, SourceTree
from compiler.spec.walk import DeclaredField

ROOT = Path(__file__).parents[2]
Values = dict[str, Any]
UNCHANGED: Any = object()


@dataclass(frozen=True)
class Context:
    """`given`: path -> value on both sides; `to`: the other value; `along`: path -> value that changes with it."""

    given: Values = field(default_factory=dict[str, Any])
    to: Any = UNCHANGED
    along: Values = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class Mutation:
    """One experiment, compiled with the first value of a field and with the other one; `changed`: declared paths that differ."""

    before: Compiled
    after: Compiled
    changed: frozenset[str]


class Experiments:
    """The demo in a project of its own that has a second one of what a spec may name: template, sources, cases, baseline."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.project = project(root)
        self.values: Values = compile_experiment(self.project, "demo").spec.model_dump()
        self._befores: dict[str, Compiled] = {}
        self._mutations: dict[str, Mutation | list[str]] = {}

    def mutation(self, declared: DeclaredField, context: Context) -> Mutation | list[str]:
        """The field with another value, or what was tried and why it was refused."""
        if declared.path not in self._mutations:
            self._mutations[declared.path] = self._mutated(declared, context)
        return self._mutations[declared.path]

    def _mutated(self, declared: DeclaredField, context: Context) -> Mutation | list[str]:
        values = changed(self.values, context.given)
        before = self._before(values)
        refused: list[str] = []
        path = concrete(values, declared.path)
        for value in _others(declared, select(values, path)) if context.to is UNCHANGED else [context.to]:
            try:
                after = self.compiled(changed(values, {path: value, **context.along}))
            except Faults as faults:
                refused.append(f"{value!r}: {'; '.join(one.message for one in faults.diagnostics if one.severity == 'error')}")
            else:
                return Mutation(before, after, frozenset({declared.path, *context.along}))
        return refused

    def given(self, context: Context) -> Compiled:
        """The demo with what a context gives."""
        return self._before(changed(self.values, context.given))

    def compiled(self, values: Values) -> Compiled:
        """What these values compile to."""
        tree = SourceTree(str(self.project.root), values, {(): Place("values", 1, 1, "")}, {}, {})
        return compile_tree(self.project, smoke.expand(from_hf.expand(tree)))

    def _before(self, values: Values) -> Compiled:
        key = json.dumps(values)
        if key not in self._befores:
            self._befores[key] = self.compiled(values)
        return self._befores[key]


def project(root: Path) -> Project:
    """A copy of this one: specs are files, code and data links."""
    shutil.copytree(ROOT / "specs", root / "specs")
    for name in ("requirements.lock", ".python-version", "params.yaml", "runtime"):
        (root / name).symlink_to(ROOT / name)
    chatml = (root / "specs/template/chatml.yaml").read_text("utf-8")
    for name, text in {"second": chatml.replace("user\\n", "person\\n"), "third": chatml.replace('"<s>"', '"<begin>"')}.items():
        assert text != chatml
        (root / f"specs/template/{name}.yaml").write_text(text, "utf-8")
    for source, link in LINKS.items():
        (root / link).parent.mkdir(parents=True, exist_ok=True)
        (root / link).symlink_to(ROOT / source)
    for name, order in {"small": range(256), "second": range(255, -1, -1)}.items():
        ranks = (f"{base64.b64encode(bytes([byte])).decode()} {rank}\n" for rank, byte in enumerate(order))
        (root / f"data/{name}.tiktoken").write_text("".join(ranks), "utf-8")
    (root / "network").mkdir()
    (root / "network/config.json").write_text(json.dumps(NETWORK), "utf-8")
    return Project(root)


LINKS = {
    "data/raw/handbook": "data/raw/handbook",
    "data/raw/poems": "data/raw/poems",
    "data/raw/instruct": "data/raw/instruct",
    "data/evaluation/core.jsonl": "data/evaluation/core.jsonl",
    "data/README.md": "data/second.txt",
    "data/raw/instruct/poems.jsonl": "data/second.jsonl",
}
NETWORK = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 128, "intermediate_size": 352, "num_hidden_layers": 4,
    "num_attention_heads": 4, "num_key_value_heads": 4, "vocab_size": 4000, "rms_norm_eps": 1e-6, "rope_theta": 10000.0,
    "max_position_embeddings": 128, "tie_word_embeddings": False, "hidden_act": "silu", "torch_dtype": "float32",
}  # fmt: skip


def changed(values: Values, changes: Values) -> Values:
    """A copy with values set by dotted path. The changes are copied too: contexts share values, and a later path may reach into one."""
    copy: Values = json.loads(json.dumps(values))
    for path, value in deepcopy(changes).items():
        *above, last = concrete(copy, path).split(".")
        node = copy
        for part in above:
            node = node[part]
        if value is None or not isinstance(value, Mapping) or not isinstance(node.get(last), dict):
            node[last] = value
        else:
            node[last] = {**node[last], **value}
    return copy


def concrete(values: Values, path: str) -> str:
    """The path with the first name of each map in the place of `*`."""
    while "*" in path.split("."):
        above, _, below = path.partition(".*")
        path = f"{above}.{next(iter(select(values, above)))}{below}"
    return path


def select(values: Any, path: str) -> Any:
    """The value at a dotted path; None where a section around it is not there."""
    for part in path.split("."):
        values = values.get(part) if isinstance(values, Mapping) else None
    return values


def kinds(annotation: Any) -> Iterator[Any]:
    """The plain types and literal values in an annotation."""
    origin = get_origin(annotation)
    if origin in (Union, types.UnionType):
        for branch in get_args(annotation):
            yield from kinds(branch)
    elif origin is Annotated:
        yield from kinds(get_args(annotation)[0])
    elif origin is Literal:
        yield from get_args(annotation)
    else:
        yield annotation


def single_valued(declared: DeclaredField) -> bool:
    """Whether the type has one value, so that there is no other."""
    known = list(kinds(declared.info.annotation))
    return len(known) == 1 and isinstance(known[0], str)


def _others(declared: DeclaredField, value: Any) -> list[Any]:
    """Other values, the likeliest first; whether they are legal, the compiler says."""
    known = list(kinds(declared.info.annotation))
    literals = [kind for kind in known if not isinstance(kind, type) and get_origin(kind) is None and kind != value]
    return [other for other in (*literals, *_near(value, known)) if other != value]


def _near(value: Any, known: list[Any]) -> list[Any]:
    if value is None:
        return [{int: 3, float: 0.5, str: "en"}[kind] for kind in known if kind in (int, float, str)]
    near: dict[type, Callable[[], list[Any]]] = {
        bool: lambda: [not value],
        int: lambda: [value + 1, value * 2, value // 2, value - 1],
        float: lambda: [value * 0.5, value * 1.5, (value + 1) / 2, value + 0.125],
        str: lambda: [f"{value}x"],
        list: lambda: [value[:-1], [*value, *_items(known)], value[::-1]],
    }
    return near.get(type(value), list)()


def _items(known: list[Any]) -> list[Any]:
    """Items for a list that is empty or may grow."""
    items = [item for kind in known for item in kinds(get_args(kind)[0]) if get_origin(kind) is tuple]
    return [*(item for item in items if isinstance(item, str)), *("x" for item in items if item is str)][:1]
