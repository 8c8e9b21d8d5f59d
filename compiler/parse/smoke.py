"""`smoke: true`: an experiment shrunk to its small twin, which takes the same way through every stage within minutes.

The twin keeps what decides whether the way is sound: the family, how many heads share a key/value head, biases, tied tables,
methods, targets, sources, templates and metrics. It has less of everything else, and never more, but for what stands beside
`smoke=true` on the command line: that holds as it is written. It runs on one device, in types that the device computes, and its
name ends in `--smoke`, so that it never overwrites the real experiment; an override that says otherwise is told.
"""

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

from compiler.source import Path, SourceTree
from compiler.spec.declare import parse_size

SUFFIX = "--smoke"
KEY = ("smoke",)
OVERRIDE = "<override"  # how the place of a value of the command line begins

_STEPS = {"pretrain": 24, "finetune": 12}
_ROWS = 8  # of a micro batch
_LAYERS = 2
_TOKENS = 96  # of a row
_WIDTH = 64  # of all heads together, where they are few
_NARROWEST = 8  # of one head
_FUSED = 16  # of which a head is a multiple where fused attention computes it
_WIDTHS = ("hidden_size", "intermediate_size", "num_heads", "num_kv_heads")  # one that is given needs the others as they are
_PIECES = 3000
_PADDING = 64  # rows of the embedding table beyond the tokenizer's pieces, where there are any
_RANK = 4
_BYTES = 600_000  # of text
_ANSWER = 8  # tokens
_ONE_DEVICE = {"data": 1, "tensor": 1, "pipeline": 1, "context": 1, "micro_batches": 1, "optimizer_sharding": 0, "recompute": "none"}


def expand(tree: SourceTree) -> SourceTree:
    """The small twin of a tree with `smoke: true`; any other tree as it is. What was lowered has its place at `smoke`."""
    if tree.values.get("smoke") is not True:
        return tree
    given = frozenset(path for path, place in tree.places.items() if place.file.startswith(OVERRIDE))
    twin = _Twin(copy.deepcopy(dict(tree.values)), given)
    for shrink in (_name, _machine, _types, _network, _vocabulary, _text, _training, _delivery):
        shrink(twin)
    return _moved(tree, twin)


def _moved(tree: SourceTree, twin: "_Twin") -> SourceTree:
    tables: tuple[dict[Path, Any], ...] = (dict(tree.places), dict(tree.keys), dict(tree.written))
    places, keys, written = tables
    overruled = {path: places[path] for path in twin.overruled}
    for path in twin.changed:
        for table in tables:
            for below in [known for known in table if known[: len(path)] == path]:
                del table[below]
        places[path] = keys[path] = tree.place(KEY)
    return replace(tree, values=twin.values, places=places, keys=keys, written=written, overruled=overruled)


@dataclass
class _Twin:
    """The values of a spec that nobody has checked yet, and the paths at which they were changed.

    `given`: what the command line says; `overruled`: what of it the twin cannot have.
    """

    values: dict[str, Any]
    given: frozenset[Path] = frozenset()
    changed: list[Path] = field(default_factory=list[Path])
    overruled: list[Path] = field(default_factory=list[Path])

    def is_given(self, *path: str) -> bool:
        """Whether the command line says something at a path, or of what lies below it."""
        return any(one[: len(path)] == path for one in self.given)

    def section(self, *path: str) -> dict[str, Any] | None:
        """The mapping at a path; None where something else or nothing stands there."""
        value: Any = self.values
        for part in path:
            value = cast(Mapping[str, Any], value).get(part) if isinstance(value, Mapping) else None
        return cast(dict[str, Any], value) if isinstance(value, dict) else None

    def get(self, *path: str) -> Any:
        """The value at a path, or None."""
        return (self.section(*path[:-1]) or {}).get(path[-1])

    def integer(self, *path: str) -> int | None:
        """A whole number above zero at a path; None for anything else, which validation refuses or has a default for."""
        value = self.get(*path)
        return int(value) if _is_number(value) and value > 0 and value == int(value) else None

    def put(self, path: tuple[str, ...], value: Any) -> None:
        """Change a value in a section that is there, unless the command line gives it."""
        if not self.is_given(*path):
            self.force(path, value)

    def force(self, path: tuple[str, ...], value: Any) -> None:
        """Change a value in a section that is there, whatever the command line says."""
        section = self.section(*path[:-1])
        if section is not None and section.get(path[-1]) != value:
            section[path[-1]] = value
            self.changed.append(path)
            self.overruled += [path] if path in self.given else []

    def lower(self, *path: str, most: int, default: int | None = None) -> None:
        """Change a count that is above `most`, and one that is left out where its default is."""
        value = self.integer(*path) if self.get(*path) is not None else default
        if value is not None and value > most:
            self.put(path, most)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _name(twin: _Twin) -> None:
    name = twin.get("name")
    if isinstance(name, str) and not name.endswith(SUFFIX):
        twin.force(("name",), name + SUFFIX)


def _machine(twin: _Twin) -> None:
    """One device, and no division of work."""
    for key in ("count", "nodes"):
        if (twin.integer("device", key) or 1) > 1:
            twin.force(("device", key), 1)
    if twin.get("device", "interconnect") is not None:
        twin.force(("device", "interconnect"), "none")
    ids = twin.get("device", "device_ids")
    if isinstance(ids, list) and len(cast(list[Any], ids)) > 1:
        twin.force(("device", "device_ids"), ids[:1])
    if twin.get("parallel") == "auto":
        twin.force(("parallel",), dict(_ONE_DEVICE))
    for key, one in _ONE_DEVICE.items():
        if key in (twin.section("parallel") or {}):
            twin.force(("parallel", key), one)


def _types(twin: _Twin) -> None:
    """Only an Ascend device computes bfloat16; elsewhere the twin takes float32."""
    if twin.get("device", "target") in ("cpu", "gpu"):
        for part, dtype in dict(twin.section("model", "dtype") or {}).items():
            if dtype == "bfloat16":
                twin.force(("model", "dtype", part), "float32")


def _network(twin: _Twin) -> None:
    twin.lower("model", "num_layers", most=_LAYERS)
    twin.lower("model", "seq_length", most=_TOKENS)
    sizes = [twin.integer("model", key) for key in _WIDTHS]
    if all(sizes) and not any(twin.is_given("model", key) for key in (*_WIDTHS, "head_dim")):
        width, wide, heads, shared = cast(list[int], sizes)
        step = _FUSED if twin.get("device", "target") == "ascend" else 2
        small = _narrow(width, wide, heads, shared, twin.integer("model", "head_dim"), step=step)
        for key, value in small.items():
            twin.put(("model", key), value)


def _narrow(width: int, wide: int, heads: int, shared: int, own: int | None, *, step: int) -> dict[str, int]:
    """Sizes of a network with the same proportions; none where it is small already, or where it is not sound.

    Heads become a multiple of `step` wide, unless they are narrower.
    """
    head = own or width // heads
    if heads % shared or head % 2 or (own is None and width % heads):
        return {}
    few = min(shared, 2)
    many = few * (heads // shared)
    narrow = min(head, max(_NARROWEST, step, _WIDTH // many // step * step))
    stream = many * narrow if own is None or own * heads == width else _eights(width * many * narrow / (heads * own))
    between = _eights(wide * stream / width)
    if stream > width or between > wide:
        return {}
    sizes = {"hidden_size": stream, "intermediate_size": between, "num_heads": many, "num_kv_heads": few}
    return sizes | ({} if own is None else {"head_dim": narrow})


def _eights(size: float) -> int:
    return max(8, round(size / 8) * 8)


def _vocabulary(twin: _Twin) -> None:
    """A vocabulary that is trained gets smaller. A table that is too small for it stays so, and is refused with its real sizes."""
    pieces, rows = twin.integer("tokenizer", "vocab_size"), twin.integer("model", "vocab_size")
    if pieces is None or twin.get("tokenizer", "path") is not None or (rows or pieces) < pieces:
        return
    twin.lower("tokenizer", "vocab_size", most=_PIECES)
    if rows is not None:
        twin.lower("model", "vocab_size", most=(twin.integer("tokenizer", "vocab_size") or 0) + min(rows - pieces, _PADDING))


def _text(twin: _Twin) -> None:
    """A small budget. Amounts of single sources were part of the large one: in the twin weights decide."""
    try:
        budget = parse_size(twin.get("data", "pretrain", "mix", "budget_bytes"))
    except ValueError:
        return
    if isinstance(budget, int) and budget > _BYTES:
        twin.put(("data", "pretrain", "mix", "budget_bytes"), _BYTES)
    twin.lower("data", "pretrain", "mix", "budget_tokens", most=_BYTES // 4)
    if twin.section("data", "pretrain", "mix", "sources"):
        twin.put(("data", "pretrain", "mix", "sources"), {})
    twin.lower("pack", "shards", most=2)


def _training(twin: _Twin) -> None:
    for stage, most in _STEPS.items():
        twin.lower(stage, "steps", most=most)
        twin.lower(stage, "micro_batch", most=_ROWS)
        twin.lower(stage, "accumulation", most=2)
        steps = twin.integer(stage, "steps") or most
        twin.lower(stage, "schedule", "warmup_steps", most=max(1, steps // 6))
        twin.lower(stage, "checkpoint", "every", most=max(1, steps // 3))
        twin.lower(stage, "checkpoint", "keep", most=2)
    _adapters(twin)


def _adapters(twin: _Twin) -> None:
    """The scale alpha / rank stays."""
    lora = twin.section("finetune", "lora")
    if lora is None or twin.is_given("finetune", "lora", "rank") or twin.is_given("finetune", "lora", "alpha"):
        return
    rank, alpha = twin.integer("finetune", "lora", "rank") if "rank" in lora else 8, lora.get("alpha", 16.0)
    if rank is not None and rank > _RANK and _is_number(alpha):
        twin.put(("finetune", "lora", "rank"), _RANK)
        twin.put(("finetune", "lora", "alpha"), alpha * _RANK / rank)


def _delivery(twin: _Twin) -> None:
    """Short answers, and no comparison: the scores of a twin mean nothing beside those of a real run."""
    twin.lower("evaluation", "suites", "core", "max_new_tokens", most=_ANSWER, default=32)
    if twin.get("compare", "gate") is True:
        twin.put(("compare", "gate"), False)
    if twin.get("compare", "baseline") is not None:
        twin.put(("compare", "baseline"), None)
