"""Did you mean: keys, in the right section, values, and paths of files."""

import difflib
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import islice
from pathlib import Path, PurePosixPath

from compiler.spec import fields
from compiler.wording import Said, listed, said

# What other tools call a field, by the last part of its path here.
_OTHER_NAMES = {
    "lr": "peak",
    "learning_rate": "peak",
    "max_lr": "peak",
    "min_lr": "final",
    "lr_end": "final",
    "warmup": "warmup_steps",
    "num_warmup_steps": "warmup_steps",
    "batch_size": "micro_batch",
    "per_device_train_batch_size": "micro_batch",
    "gradient_accumulation_steps": "accumulation",
    "max_steps": "steps",
    "total_steps": "steps",
    "save_steps": "every",
    "save_total_limit": "keep",
    "keep_checkpoint_max": "keep",
    "max_grad_norm": "clip_norm",
    "n_layers": "num_layers",
    "num_hidden_layers": "num_layers",
    "n_heads": "num_heads",
    "num_attention_heads": "num_heads",
    "n_kv_heads": "num_kv_heads",
    "num_key_value_heads": "num_kv_heads",
    "max_seq_len": "seq_length",
    "max_position_embeddings": "seq_length",
    "lora_rank": "rank",
    "lora_r": "rank",
    "r": "rank",
    "lora_alpha": "alpha",
    "lora_dropout": "dropout",
    "target_modules": "targets",
    "dp": "data",
    "data_parallel": "data",
    "tp": "tensor",
    "mp": "tensor",
    "model_parallel": "tensor",
    "pp": "pipeline",
    "pipeline_stage": "pipeline",
    "cp": "context",
    "micro_batch_num": "micro_batches",
    "device_target": "target",
    "random_seed": "seed",
    "corpora": "sources",
}


_LOOKED_AT = 5000  # entries of a folder of data; a hint is not worth more
_READ, _OFFERED = 24, 5  # names that a person still reads through, and how many of more are shown
_LIKENESS = 0.6  # how much of a name must agree


def did_you_mean(word: str) -> Said:
    """The question."""
    return said(f"did you mean {word}?", f"是否想写 {word}？")


def closest(word: str, known: Iterable[str]) -> str | None:
    """The known word most like `word`, or None."""
    options = sorted(known)
    folded = {_fold(option): option for option in options}
    if _fold(word) in folded:
        return folded[_fold(word)]
    found = difflib.get_close_matches(_fold(word), list(folded), n=1, cutoff=0.7)
    return folded[found[0]] if found else None


def offered(word: str, known: Iterable[str]) -> Said:
    """What could be written instead: everything, or of a long list the names most like `word` and how many more there are."""
    options = list(known)
    if len(options) <= _READ:
        return listed(options)
    near = sorted(options, key=lambda option: -difflib.SequenceMatcher(None, _fold(word), _fold(option)).ratio())[:_OFFERED]
    more = len(options) - len(near)
    return said(f"{listed(near)}, and {more} more", f"{listed(near).zh}，另有 {more} 个")


def key(parent: Sequence[str], wrong: str, siblings: Iterable[str], given: Iterable[str]) -> str | None:
    """The whole dotted path that an unknown key was probably meant for.

    `parent` is the path of the mapping the key stands in, `siblings` are the keys that may stand there and `given` those
    that do. A key that is not given yet comes first, then the same key at another level, nearest first, then a given one.
    """
    unused = set(siblings) - set(given)
    beside = closest(wrong, unused) or _other_name(wrong, unused)
    if beside:
        return ".".join([*parent, beside])
    again = closest(wrong, siblings)
    return _elsewhere(parent, wrong, exact=True) or (again and ".".join([*parent, again])) or _elsewhere(parent, wrong)


def _other_name(wrong: str, siblings: Iterable[str]) -> str | None:
    name = _own_name(wrong)
    return name if name in set(siblings) else None


def _own_name(wrong: str) -> str | None:
    """Our name for what another tool calls `wrong`, even misspelt."""
    near = difflib.get_close_matches(_fold(wrong), list(_OTHER_NAMES), n=1, cutoff=0.85)
    return _OTHER_NAMES[near[0]] if near else None


def _elsewhere(parent: Sequence[str], wrong: str, *, exact: bool = False) -> str | None:
    wanted = {_fold(wrong), _own_name(wrong)}
    found = [path for path in _paths() if path.rpartition(".")[2] in wanted]
    if not found and not exact:
        last = closest(wrong, {path.rpartition(".")[2] for path in _paths()})
        found = [path for path in _paths() if path.rpartition(".")[2] == last]
    return min(found, key=lambda path: (_distance(parent, path), path), default=None)


def _distance(parent: Sequence[str], path: str) -> int:
    """Steps through the tree from a mapping to a field."""
    steps = path.split(".")
    shared = 0
    while shared < min(len(parent), len(steps)) and steps[shared] in (parent[shared], "*"):
        shared += 1
    return len(parent) + len(steps) - 2 * shared


@cache
def _paths() -> tuple[str, ...]:
    """All fields and sections, without those that stand below a name of the user's choice."""
    leaves = [declared.path for declared in fields()]
    sections = {path.rsplit(".", depth)[0] for path in leaves for depth in range(1, path.count(".") + 1)}
    return tuple(sorted(path for path in {*leaves, *sections} if "*" not in path))


def _fold(word: str) -> str:
    return word.lower().replace("-", "_")


def existing_path(root: Path, written: PurePosixPath) -> str | None:
    """The path below `root` that was probably meant: the nearest names along the whole path, else the same name elsewhere.

    Where no folder is near, what lies below `data` is looked through for the last part of the path.
    """
    along = list(_along(root, PurePosixPath(), written.parts))
    found = along or [path for path in _below(root, "data") if _near(path.name, written.name) and _same_kind(path, written)]
    return str(max(found, key=lambda path: (_alike(str(path), str(written)), str(path)))) if found else None


def _along(root: Path, above: PurePosixPath, parts: Sequence[str]) -> Iterator[PurePosixPath]:
    """Every existing path whose parts are each near to the written ones."""
    if not parts:
        yield above
        return
    folder = root / above
    names = sorted(entry.name for entry in islice(folder.iterdir(), _LOOKED_AT)) if folder.is_dir() else []
    near = [parts[0]] if parts[0] in names else [name for name in names if _near(name, parts[0])]
    for name in near:
        yield from _along(root, above / name, parts[1:])


def _below(root: Path, folder: str) -> Iterator[PurePosixPath]:
    entries = islice((root / folder).rglob("*"), _LOOKED_AT)
    return (PurePosixPath(path.relative_to(root).as_posix()) for path in entries if not path.name.startswith("."))


def _near(one: str, other: str) -> bool:
    """Whether two names are alike apart from their suffixes, which many files share."""
    return _alike(PurePosixPath(one).stem, PurePosixPath(other).stem) >= _LIKENESS


def _same_kind(one: PurePosixPath, other: PurePosixPath) -> bool:
    return one.suffix == other.suffix or not other.suffix


def _alike(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, one.lower(), other.lower()).ratio()
