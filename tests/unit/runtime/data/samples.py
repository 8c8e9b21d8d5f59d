"""Small texts, settings and an experiment folder in which stages run."""

import json
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import yaml

from runtime import manifest, records, stage
from runtime.contracts.base import Contract
from runtime.contracts.tokenizer import SpecialTokens, Tokenizer
from runtime.records import Record

ROOT = Path(__file__).parents[4]
SPECIAL = SpecialTokens(pad="<pad>", bos="<s>", eos="</s>", user=("<|im_start|>", "<|im_end|>"))
TOKENIZER = {
    "kind": "sentencepiece",
    "model_type": "bpe",
    "vocab_size": 420,
    "character_coverage": 1.0,
    "byte_fallback": True,
    "special_tokens": {"pad": "<pad>", "bos": "<s>", "eos": "</s>", "user": ["<|im_start|>", "<|im_end|>"]},
}
ENGLISH = "The quick brown fox number {0} jumps over {1} lazy dogs; what it finds there is worth {0} coins.\n\tAnd so on."
CHINESE = "第{0}只狐狸跳过了{1}条懒狗，\n前年曾到門，白日依山尽，黄河入海流。"


def texts(count: int = 300) -> list[str]:
    """Documents in two languages, all different."""
    return [(ENGLISH if index % 2 else CHINESE).format(index, index * 7 % 101) for index in range(count)]


def settings(**changes: Any) -> Tokenizer:
    """Parameters of the tokenizer stage."""
    usual = {"kind": "sentencepiece", "model_type": "bpe", "vocab_size": 420, "character_coverage": 1.0, "byte_fallback": True}
    return Tokenizer(**{**usual, "special_tokens": SPECIAL, **changes})


class Experiment:
    """An experiment folder below a project root; the test's working directory."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = root / "experiments/demo"
        (self.folder / "config").mkdir(parents=True)
        libraries = ("sentencepiece", "tokenizers", "tiktoken", "orjson", "zstandard", "xxhash", "mindspore", "numpy")
        versions = {library: metadata.version(library) for library in libraries}
        self.configure("environment", {"python": f"{sys.version_info.major}.{sys.version_info.minor}", **versions})
        (self.folder / "config/template.yaml").write_bytes((ROOT / "specs/template/chatml.yaml").read_bytes())

    def configure(self, name: str, content: dict[str, Any]) -> None:
        """Write one compiled file."""
        (self.folder / f"config/{name}.yaml").write_text(yaml.safe_dump(content, allow_unicode=True, sort_keys=False), "utf-8")

    def corpus(self, train: list[Record], validation: list[Record]) -> None:
        """Write the result of the split stage."""
        folder = self.folder / "corpus/split"
        records.write(folder / "train", train)
        records.write(folder / "validation", validation)
        (folder / manifest.NAME).write_bytes(manifest.encode(manifest.describe(folder, "split", {}, {})))

    def rows(self, path: str, rows: list[dict[str, Any]]) -> None:
        """Write raw instruction rows below the project root."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")

    def run(self, contract: Contract, **parameters: Any) -> dict[str, Any]:
        """Run one stage as `python -m runtime` does and return its metrics."""
        self.configure(contract.name, parameters)
        params: dict[str, Any] = {}
        for name, path in contract.tracked.items():
            *above, last = name.split(".")
            place = params
            for part in above:
                place = place.setdefault(part, {})
            place[last] = stage.look_up(parameters, path)
        (self.folder / "params.json").write_text(json.dumps(params), "utf-8")
        stage.execute(contract)
        return json.loads((self.folder / contract.metrics_file).read_text("utf-8"))

    def tree(self, folder: str) -> dict[str, bytes]:
        """All files of a result folder."""
        place = self.folder / folder
        return {path.relative_to(place).as_posix(): path.read_bytes() for path in place.rglob("*") if path.is_file()}
