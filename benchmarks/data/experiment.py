"""An experiment on the mixed corpus, compiled from a spec as any other, whose stages are run and measured one by one.

    python benchmarks/data/experiment.py CORPUS FOLDER [STAGE ...] [--profile]

runs the stages (those of the chain by default) and prints what each took; with --profile, under cProfile, the functions that
took most. CORPUS is a folder that `corpus.py` made (`mixed`, `sample`, `grown-1000`, `wide`). That on `wide` has everything that a
data path can have, and `python benchmarks/data/experiment.py CORPUS/wide FOLDER all` runs all stages of the data and the report.
"""

import argparse
import json
import os
import pstats
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import orjson
import wide
import yaml

from runtime.data import row_files

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
NAME = "bench"
TEXT = ("english", "chinese", "poems", "manuals")
CHAIN = ("ingest", "clean", "dedup", "filter")
ROWS = ("mix", "split", "tokenizer", "pack-pretrain", "format", "pack-instruct")
ALL = ("ingest", "sieve", *CHAIN[1:], *ROWS, "report")
MB = 1_000_000
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}
ANSWERS = 40_000  # rows of instructions, at most
# A profile in CPU time of the process, which other work on the machine does not stretch.
PROFILED = """
import cProfile, sys, time
from runtime.__main__ import main
profile = cProfile.Profile(time.process_time)
code = profile.runcall(main, sys.argv[2:])
profile.dump_stats(sys.argv[1])
sys.exit(code)
"""


@dataclass(frozen=True)
class Spent:
    """What one stage took: CPU seconds of all its processes, user and system; the largest resident set of any of them; wall seconds."""

    stage: str
    cpu_seconds: float
    peak_bytes: int
    bytes_in: int
    seconds: float = 0.0

    @property
    def speed(self) -> float:
        """MB of text in each CPU second."""
        return self.bytes_in / MB / self.cpu_seconds


@dataclass(frozen=True)
class Experiment:
    """A project of its own at `root`, with links to this checkout's code."""

    root: Path

    @property
    def folder(self) -> Path:
        """Where the stages run."""
        return self.root / "experiments" / NAME

    def compile(self, changes: Sequence[str] = ()) -> None:
        """Write what the stages read; `changes` are overrides. Raises RuntimeError where the spec does not compile."""
        compiled = subprocess.run(
            [sys.executable, "-m", "compiler", "compile", NAME, *changes],
            cwd=self.root,
            env=ENVIRONMENT,
            capture_output=True,
            text=True,
            check=False,
        )
        if compiled.returncode:
            raise RuntimeError(f"the experiment does not compile: {compiled.stderr[-3000:]}")

    def run(self, stage: str, profile: Path | None = None) -> Spent:
        """Run a stage in a process of its own. Raises RuntimeError with its words where it fails."""
        started = ("-c", PROFILED, str(profile)) if profile else ("-m", "runtime")
        begun = time.monotonic()
        took = measured([sys.executable, *started, stage], self.folder)
        return Spent(stage, took["cpu_seconds"], took["peak_bytes"], self.size(stage), time.monotonic() - begun)

    def metrics(self, stage: str) -> dict[str, Any]:
        """What a stage counted."""
        return json.loads((self.folder / f"metrics/{stage}.json").read_bytes())

    def size(self, stage: str) -> int:
        """Bytes of text that a stage has read."""
        if stage == "report":
            return 0
        counted = self.metrics(stage)
        if "bytes_in" in counted:
            return counted["bytes_in"]
        if stage in ("tokenizer", "pack-pretrain"):
            return self.metrics("split")["bytes_out"]
        if stage in ("format", "pack-instruct"):
            return sum(len(text.encode()) for text in row_texts(self.root / "instruct"))
        own = self.root / "corpus" / wide.REFERENCE
        read = own if own.exists() else self.root / "reference"
        return sum(path.stat().st_size for path in ([read] if read.is_file() else read.iterdir()))


def measured(command: Sequence[str], folder: Path, environment: Mapping[str, str] = ENVIRONMENT) -> dict[str, Any]:
    """`cpu_seconds` and `peak_bytes` of a command. Raises RuntimeError with its last words where it fails."""
    run = subprocess.run(
        [sys.executable, str(HERE / "measured.py"), *command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if run.returncode:
        raise RuntimeError(f"{command[-1]} ended with {run.returncode}: {run.stderr[-2000:]}")
    return json.loads(run.stdout)


def prepare(corpus: Path, root: Path, *, html: bool = False, changes: Sequence[str] = ()) -> Experiment:
    """A project whose experiment reads a corpus; `changes` are overrides. Raises RuntimeError where it does not compile."""
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(ROOT / "specs", root / "specs")
    for name in ("requirements.lock", ".python-version", "runtime", "data", ".git"):
        (root / name).symlink_to(ROOT / name)
    (root / "corpus").symlink_to(corpus.resolve())
    (root / "reference").symlink_to(corpus.resolve().parent / "sample/text")
    (root / "params.yaml").write_text(f"experiments: [{NAME}]\n")
    broad = (corpus / wide.SOURCES).exists()
    if broad:
        (root / "instruct").symlink_to(corpus.resolve() / wide.INSTRUCT)
    else:
        (root / "instruct").mkdir()
        answers(corpus, root / "instruct/answers.jsonl")
    given = yaml.safe_load((ROOT / "specs/data/handbook-poems.yaml").read_text("utf-8"))
    made = wide.section(corpus, given) if broad else data(corpus, html, given)
    (root / "specs/data/mixed.yaml").write_text(yaml.safe_dump(made, sort_keys=False, allow_unicode=True))
    pieces = wide.PIECES if broad else ""
    (root / f"specs/experiment/{NAME}.yaml").write_text(
        f"# @package _global_\ndefaults: [override /data: mixed, _self_]\nname: {NAME}\n"
        f"model: {{seq_length: 1024}}\ntokenizer: {{vocab_size: 16000{pieces}}}\nlaunch: {{workers: 1, threads: 1}}\n"
        "pretrain: {micro_batch: 1}\nfinetune: {micro_batch: 1}\n" + (wide.PACKED if broad else "")
    )
    experiment = Experiment(root)
    experiment.compile(changes)
    return experiment


def data(corpus: Path, html: bool, given: dict[str, Any]) -> dict[str, Any]:
    """The section `data`: the sources of the corpus, each weighted by its size, and what the demo does with them."""
    files = {name: corpus / f"text/{name}.jsonl" for name in TEXT}
    sources = {
        name: {"path": f"corpus/text/{name}.jsonl", "format": "jsonl", "text_field": "text", "weight": float(path.stat().st_size)}
        for name, path in files.items()
    }
    if html:
        pages = sorted(path.name for path in (corpus / "html").iterdir())
        sources |= {f"{name}_pages": {"path": f"corpus/html/{name}", "format": "html", "weight": 1e7} for name in pages}
    budget = sum(path.stat().st_size for path in files.values()) // 2
    ingest = {**given["pretrain"]["ingest"], "max_line_bytes": "4MB"}  # one page is 1.3 MB, and a row is a line
    pretrain = {
        **given["pretrain"],
        "ingest": ingest,
        "sources": sources,
        "mix": {"budget_bytes": budget, "epochs_max": 2, "synthetic_max": 0.75},
    }
    rows = {"path": "instruct/answers.jsonl", "format": "alpaca", "weight": 1.0}
    return {"pretrain": pretrain, "instruct": {**given["instruct"], "sources": {"answers": rows}}}


def answers(corpus: Path, path: Path) -> None:
    """Rows of instructions: a document's first line is the question, its next thousand characters are the answer."""
    rows: list[dict[str, str]] = []
    for name in TEXT:
        with (corpus / f"text/{name}.jsonl").open("rb") as file:
            for line in file:
                question, _, answer = orjson.loads(line)["text"].strip().partition("\n")
                if answer.strip():
                    rows.append({"instruction": question[:200], "input": "", "output": answer[:1000]})
    random.Random(0).shuffle(rows)
    path.write_bytes(b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows[:ANSWERS]))


def row_texts(folder: Path) -> Iterator[str]:
    """The texts of the rows of instructions, without the names of their fields."""
    for path in sorted(folder.iterdir()):
        for raw in chain.from_iterable(map(row_files.rows_of, row_files.ranges_of(path.name, path))):
            yield from texts_of(raw.row)


def texts_of(value: Any) -> Iterator[str]:
    """All texts in a value of JSON."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        yield from chain.from_iterable(map(texts_of, value.values() if isinstance(value, dict) else value))


def told(spent: Spent) -> str:
    """A line of figures for people."""
    one = spent
    sizes = f"{one.bytes_in / MB:8.1f} MB  {one.speed:7.2f} MB/s" if one.bytes_in else " " * 26
    return f"{one.cpu_seconds:8.1f} s of CPU {one.seconds:8.1f} s  {sizes}  peak {one.peak_bytes / MB:6.0f} MB"


def main() -> None:
    """Run and measure stages from the command line."""
    assert __doc__ is not None
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("corpus", type=Path)
    options.add_argument("folder", type=Path)
    options.add_argument("stages", nargs="*", default=CHAIN)
    options.add_argument("--html", action="store_true", help="with the folders of pages as further sources")
    options.add_argument("--profile", action="store_true")
    options.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="an override of the spec")
    chosen = options.parse_args()
    experiment = prepare(chosen.corpus, chosen.folder, html=chosen.html, changes=chosen.set)
    spent: list[Spent] = []
    for stage in ALL if chosen.stages == ["all"] else chosen.stages:
        profile = chosen.folder / f"{stage}.profile" if chosen.profile else None
        spent.append(experiment.run(stage, profile))
        print(f"{stage:14} {told(spent[-1])}", flush=True)
        if profile:
            pstats.Stats(str(profile)).sort_stats("tottime").print_stats(15)
    chain = [one for one in spent if one.stage in CHAIN]
    if chain:
        seconds = sum(one.cpu_seconds for one in chain)
        print(f"chain          {seconds:8.1f} s  {chain[0].bytes_in / MB / seconds:7.2f} MB/s")


if __name__ == "__main__":
    main()
