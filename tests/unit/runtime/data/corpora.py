"""A project with raw text of its own, whose corpus stages are run for real."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from runtime import manifest, records, stage
from runtime.contracts.installed import installed_version
from runtime.contracts.registry import BY_NAME
from runtime.records import Record

STAGES = ("ingest", "clean", "dedup", "filter", "mix", "split")
PARAMS = {
    "data": {
        "pretrain": {"dedup": {"documents": {"near": {"threshold": 0.8}}}, "mix": {"budget_bytes": 100_000}, "split": {"validation": 0.2}}
    }
}


def source(path: str, format: str, text_field: str | None = None, language: str | None = None) -> dict[str, Any]:
    """One source as the compiler writes it."""
    return {"path": path, "format": format, "text_field": text_field, "language": language, "domain": "general"}


def settings(sources: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The configuration of all corpus stages, with weights that are equal."""
    return {
        "ingest": {"sources": sources, "encodings": "auto", "max_line_bytes": 10_000, "fix_mojibake": "suspected"},
        "clean": {"html": "main_content", "normalization": "cjk", "rules": {"zh": "chinese_basic"}},
        "dedup": {
            "lines": {"exact": True, "min_length": 20},
            "documents": {"exact": True, "near": {"threshold": 0.8, "permutations": 128, "ngram": 5}},
            "keep": "longest",
        },
        "filter": {"languages": ["en", "zh"], "deny": [], "allow": []},
        "mix": {
            "sources": {name: {"weight": 1.0, "synthetic": False} for name in sources},
            "budget_bytes": 100_000,
            "epochs_max": 2,
            "synthetic_max": 0.75,
            "seed": 42,
        },
        "split": {"validation": 0.2, "by": "document", "seed": 42},
    }


@dataclass
class Project:
    """`root`: where `data/` is; the experiment folder is below it and must be the current one."""

    root: Path
    sources: dict[str, dict[str, Any]]
    config: dict[str, dict[str, Any]] = field(init=False)

    def __post_init__(self) -> None:
        (self.folder / "config").mkdir(parents=True)
        self.config = settings(self.sources)
        (self.folder / "params.json").write_text(json.dumps(PARAMS))
        libraries = {library for name in STAGES for library in BY_NAME[name].environment}
        locked = {library: installed_version(library) for library in sorted(libraries)}
        (self.folder / "config/environment.yaml").write_text(yaml.safe_dump(locked))

    @property
    def folder(self) -> Path:
        """The experiment folder."""
        return self.root / "experiments" / "demo"

    def put(self, path: str, content: str | bytes) -> None:
        """Write a raw file; a string as UTF-8."""
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content if isinstance(content, bytes) else content.encode())

    def tracked(self, name: str, value: Any) -> None:
        """Put a value of data.pretrain into `params.json`, as the compiler does."""
        path = self.folder / "params.json"
        content = json.loads(path.read_text())
        *above, last = name.split(".")
        node = content["data"]["pretrain"]
        for part in above:
            node = node.setdefault(part, {})
        node[last] = value
        path.write_text(json.dumps(content))

    def made(self, stage_name: str, documents: Iterable[Record]) -> None:
        """Put documents where a stage would have written them."""
        folder = self.folder / "corpus" / stage_name
        count = records.write(folder, documents)
        facts = {"sources": list(self.sources)}
        (folder / manifest.NAME).write_bytes(manifest.encode(manifest.describe(folder, stage_name, {"documents": count}, facts)))

    def run(self, *stages: str) -> None:
        """Run stages, with `config` as it is now."""
        for name in stages:
            (self.folder / f"config/{name}.yaml").write_text(yaml.safe_dump(self.config[name], allow_unicode=True, sort_keys=False))
            stage.execute(BY_NAME[name])

    def records(self, folder: str) -> list[Record]:
        """The records below a result folder."""
        return list(records.read(self.folder / folder))

    def metrics(self, name: str) -> dict[str, Any]:
        """The metrics a stage wrote."""
        return json.loads((self.folder / f"metrics/{name}.json").read_text("utf-8"))

    def results(self) -> dict[str, bytes]:
        """Every file of every result folder and of the metrics."""
        below = [path for top in ("corpus", "metrics") for path in (self.folder / top).rglob("*") if path.is_file()]
        return {path.relative_to(self.folder).as_posix(): path.read_bytes() for path in below}


def lines_of(*rows: object) -> str:
    """JSON Lines."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
