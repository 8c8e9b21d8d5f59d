"""A project with seeds and prompts, whose stage `synthesize` asks a server of this machine."""

import json
import shutil
import sys
from copy import deepcopy
from importlib import metadata
from pathlib import Path
from typing import Any

import yaml

from runtime import stage
from runtime.contracts import synthesize

ROOT = Path(__file__).parents[5]
KEY = "sk-very-secret-0123456789abcdef"
VARIABLE = "MINDSPEC_TEST_KEY"
JSON = dict[str, Any]
PLANETS = ["Mercury", "Venus", "Earth", "Mars", "Jupiter", "Saturn", "Uranus", "Neptune", "Ceres", "Pluto", "Eris", "Haumea"]
DEEDS = ["orbit", "spin", "glow", "cool", "drift", "collide", "melt", "freeze", "shrink", "grow", "tilt", "wobble"]


def row(number: int) -> JSON:
    """An instruction row; different numbers are different questions."""
    planet, deed, other = PLANETS[number % 12], DEEDS[number // 12 % 12], PLANETS[(number * 5 + 3) % 12]
    return {
        "instruction": f"Why does {planet} number {number} {deed} near {other} in year {number * 37 + 11}?",
        "input": "",
        "output": f"Because answer {number} about {planet} says so, and {other} has {number * 13 + 5} moons that {deed} slowly.",
    }


def endpoint(url: str, **changes: Any) -> JSON:
    """Settings of a model, with the address that `configure` puts where it belongs."""
    usual = {"base_url": url, "model": "writer-1", "temperature": 1.0, "top_p": None, "max_tokens": 200}
    return {**usual, **changes}


def sieve(**changes: Any) -> JSON:
    """Settings of the sieve."""
    usual = {
        "min_characters": 20,
        "max_characters": 2000,
        "languages": [],
        "refusals": ["as an ai"],
        "copied": 0.7,
        "near": 0.7,
        "ngram": 3,
    }
    return {**usual, **changes}


def recipe(url: str, **changes: Any) -> JSON:
    """A recipe for six instruction rows."""
    return {
        "kind": "instruct",
        "seeds": {"path": "data/seeds.jsonl", "format": "alpaca"},
        "prompt": "specs/prompt/write-instructions.yaml",
        "examples": 2,
        "count": 6,
        "requests_max": 24,
        "incomplete": "fail",
        "generator": endpoint(url),
        "sieve": sieve(),
        **changes,
    }


SCORE = {"prompt": "specs/prompt/judge-instructions.yaml", "threshold": 7.0}


class Project:
    """A project root with one experiment, which is the working directory."""

    def __init__(self, root: Path) -> None:
        self.root, self.folder = root, root / "experiments/demo"
        (self.folder / "config").mkdir(parents=True)
        shutil.copytree(ROOT / "specs/prompt", root / "specs/prompt")
        self.seeds(
            [{"instruction": f"What is {word}?", "input": "", "output": f"{word} is a word."} for word in ("dew", "fog", "hail", "rime")]
        )
        versions = {name: metadata.version(name) for name in synthesize.CONTRACT.environment if name != "python"}
        self.write("config/environment.yaml", {"python": f"{sys.version_info.major}.{sys.version_info.minor}", **versions})
        self.write("params.json", {})

    def write(self, path: str, content: JSON) -> None:
        """A compiled file."""
        (self.folder / path).write_text(yaml.safe_dump(content, allow_unicode=True, sort_keys=False), "utf-8")

    def seeds(self, rows: list[JSON], path: str = "data/seeds.jsonl") -> None:
        """Rows that people wrote."""
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in rows), "utf-8")

    def configure(self, made: JSON, *, name: str = "planets", seed: int = 1, **placed: Any) -> None:
        """What the compiler would write for one recipe; `placed`: how its model is asked."""
        usual = {"api_key_env": None, "concurrency": 1, "retries": 3, "timeout_seconds": 120.0}
        made = deepcopy(made)
        models = {"generator": made["generator"], "score": (made.get("score") or {}).get("generator")}
        told = {part: {**usual, **placed, "base_url": model.pop("base_url", None)} for part, model in models.items() if model}
        self.write("config/synthesize.yaml", {"recipes": {name: made}, "seed": seed})
        self.write("placement.yaml", {"synthetic": {name: told}})

    def run(self, made: JSON, **more: Any) -> JSON:
        """Run the stage as `python -m runtime` does, and return the metrics of the recipe."""
        self.configure(made, **more)
        stage.execute(synthesize.CONTRACT)
        return self.metrics()

    def metrics(self) -> JSON:
        """The metrics of the one recipe."""
        (told,) = json.loads((self.folder / "metrics/synthesize.json").read_text("utf-8"))["recipes"].values()
        return told

    def tree(self) -> dict[str, bytes]:
        """All files of the result, and the metrics."""
        place = self.folder / "synthetic"
        files = {path.relative_to(place).as_posix(): path.read_bytes() for path in place.rglob("*") if path.is_file()}
        return {**files, "metrics": (self.folder / "metrics/synthesize.json").read_bytes()}

    def rows(self, name: str = "planets") -> list[JSON]:
        """What a source reads."""
        return self.lines(f"synthetic/rows/{name}/part.jsonl")

    def lines(self, path: str) -> list[JSON]:
        """The rows of a JSON lines file of the experiment."""
        return [json.loads(line) for line in (self.folder / path).read_text("utf-8").splitlines()]

    @property
    def kept(self) -> Path:
        """The transcript of the project."""
        return self.root / ".mindspec/transcripts/planets.jsonl"

    def everything(self) -> bytes:
        """All bytes below the project root, logs and transcripts included."""
        return b"\n".join(path.read_bytes() for path in sorted(self.root.rglob("*")) if path.is_file())
