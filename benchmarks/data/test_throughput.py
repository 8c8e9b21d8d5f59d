"""MB of text in each CPU second of the data stages, alone and in chains; against datatrove; and how time and memory grow.

    MINDSPEC_CORPUS=FOLDER python -m pytest benchmarks/data -q

with a FOLDER that `corpus.py` made. Further variables: MINDSPEC_DATATROVE names the Python of an environment with datatrove (see
`datatrove_chain.py`), MINDSPEC_GROWN a larger corpus below FOLDER, such as grown-1000. README.md says what is counted.
"""

import json
import math
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import fates
import numpy as np
import pytest
from experiment import CHAIN, ENVIRONMENT, MB, ROWS, TEXT, Experiment, Spent, measured, prepare
from pytest_benchmark.fixture import BenchmarkFixture

LEAST, LEAST_WITH_SIEVE, LEAST_ENCODING = 3.5, 2.3, 4.0  # MB in each CPU second
LEAST_OF_TOKENIZER, LEAST_TIMES_DATATROVE, MOST_EXPONENT = 0.9, 6.0, 1.05
HANDFUL = 3000  # bytes of a document that hardly takes time
HERE = Path(__file__).parent
pytestmark = pytest.mark.timeout(7200)


@pytest.fixture(scope="module")
def experiment(corpus: Path, tmp_path_factory: pytest.TempPathFactory, found: dict[str, Any]) -> Experiment:
    found["machine"] = f"{_processor()}, Python {platform.python_version()}"
    return prepare(corpus / "mixed", tmp_path_factory.mktemp("mixed"))


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


@pytest.mark.parametrize("stage", [*CHAIN, *ROWS])
def test_each_stage(stage: str, experiment: Experiment, benchmark: BenchmarkFixture, found: dict[str, Any]) -> None:
    benchmark.group = "stages on the mixed corpus; the columns are wall time"
    spent = benchmark.pedantic(experiment.run, (stage,), rounds=1)
    benchmark.extra_info |= asdict(spent)
    found.setdefault("stages", []).append(asdict(spent))


def test_the_chain(found: dict[str, Any]) -> None:
    chain = [one for one in found["stages"] if one["stage"] in CHAIN]
    seconds = sum(one["cpu_seconds"] for one in chain)
    told = {"chain": "ingest, clean, dedup, filter", "bytes_in": chain[0]["bytes_in"], "cpu_seconds": seconds, "wanted": LEAST}
    found.setdefault("chains", []).append(told)
    assert told["bytes_in"] / MB / seconds >= LEAST


def test_the_chain_with_the_perplexity_sieve(corpus: Path, tmp_path: Path, found: dict[str, Any]) -> None:
    if not shutil.which("lmplz"):
        pytest.skip("the builder of KenLM's models is not installed")
    reference = "++data.pretrain.clean.perplexity={reference: reference}"
    sieving = prepare(corpus / "mixed", tmp_path / "sieve", changes=[reference])
    spent = run_chain(sieving, ("ingest", "sieve", *CHAIN[1:]))
    learning = next(one for one in spent if one.stage == "sieve")
    seconds = sum(one.cpu_seconds for one in spent) - learning.cpu_seconds
    told = {"chain": "with the perplexity sieve", "bytes_in": spent[0].bytes_in, "cpu_seconds": seconds, "wanted": LEAST_WITH_SIEVE}
    found.setdefault("chains", []).append(told)
    assert told["bytes_in"] / MB / seconds >= LEAST_WITH_SIEVE


def test_rows_against_the_tokenizer_alone(experiment: Experiment, found: dict[str, Any]) -> None:
    spent = {one["stage"]: one for one in found["stages"]}
    experiment.compile(["pack.dialogues=several"])
    several = asdict(experiment.run("pack-instruct"))
    documents, rows = ("corpus/split/train",), ("../../instruct", "--rows")
    groups = {
        "pack-pretrain": ([spent["pack-pretrain"]], documents),
        "format, pack-instruct": ([spent["format"], spent["pack-instruct"]], rows),
        "the same, several dialogues in a row": ([spent["format"], several], rows),
    }
    found["encoding"] = []
    for work, (stages, texts) in groups.items():
        seconds, size = sum(one["cpu_seconds"] for one in stages), stages[0]["bytes_in"]
        found["encoding"].append({"work": work, "bytes_in": size, "cpu_seconds": seconds, "own": _own_speed(experiment, *texts)})
    slow = [one["work"] for one in found["encoding"] if _speed(one) < min(LEAST_ENCODING, LEAST_OF_TOKENIZER * one["own"])]
    assert not slow


def _speed(one: dict[str, Any]) -> float:
    return one["bytes_in"] / MB / one["cpu_seconds"]


def _own_speed(experiment: Experiment, *texts: str) -> float:
    command = [sys.executable, str(HERE / "encode_speed.py"), "tokenizer", *texts]
    told = json.loads(subprocess.run(command, cwd=experiment.folder, env=ENVIRONMENT, check=True, capture_output=True).stdout)
    return told["bytes"] / MB / told["cpu_seconds"]


def run_chain(experiment: Experiment, stages: Sequence[str] = CHAIN) -> list[Spent]:
    """Run stages one after the other."""
    return [experiment.run(stage) for stage in stages]


def test_against_datatrove(corpus: Path, tmp_path: Path, found: dict[str, Any]) -> None:
    python = os.environ.get("MINDSPEC_DATATROVE")
    if not python:
        pytest.skip("MINDSPEC_DATATROVE names no Python with datatrove")
    sample = prepare(corpus / "sample", tmp_path / "sample")
    spent = run_chain(sample)
    size, seconds = spent[0].bytes_in, sum(one.cpu_seconds for one in spent)
    theirs = _datatrove(python, corpus / "sample", tmp_path / "datatrove")
    documents = fates.Corpus.read(corpus / "sample")
    rows = fates.compared(fates.ours(sample, documents), fates.theirs(tmp_path / "datatrove"), documents.sizes)
    version = subprocess.run(
        [python, "-c", "import importlib.metadata as m; print(m.version('datatrove'))"], check=True, capture_output=True, text=True
    ).stdout.strip()
    found["datatrove"] = {"version": version, "speed": size / MB / theirs, "ours": size / MB / seconds, "fates": rows}
    assert theirs / seconds >= LEAST_TIMES_DATATROVE


def _datatrove(python: str, corpus: Path, out: Path) -> float:
    """CPU seconds of the whole chain in one process."""
    return measured([python, str(HERE / "datatrove_chain.py"), str(corpus), str(out)], out.parent, os.environ)["cpu_seconds"]


def test_growth(corpus: Path, tmp_path: Path, found: dict[str, Any]) -> None:
    grown = os.environ.get("MINDSPEC_GROWN")
    corpora = [corpus / "sample", corpus / "mixed", *([corpus / grown] if grown else [])]
    fixed = sum(one.cpu_seconds for one in run_chain(prepare(_handful(corpus, tmp_path / "handful"), tmp_path / "fixed")))
    points: list[tuple[int, float, int]] = []
    for folder in corpora:
        spent = run_chain(prepare(folder, tmp_path / "growing"))
        points.append((spent[0].bytes_in, sum(one.cpu_seconds for one in spent), max(one.peak_bytes for one in spent)))
    exponent = fitted([size for size, _, _ in points], [seconds - fixed for _, seconds, _ in points])
    found["growth"] = {"points": points, "fixed": fixed, "exponent": exponent}
    assert exponent <= MOST_EXPONENT


def fitted(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """The slope of log seconds over log sizes by least squares."""
    return float(np.polyfit([math.log(size) for size in sizes], [math.log(second) for second in seconds], 1)[0])


def _handful(corpus: Path, folder: Path) -> Path:
    """A corpus of a few short documents: what a run costs whatever its size."""
    (folder / "text").mkdir(parents=True)
    for name in TEXT:
        lines = (corpus / f"sample/text/{name}.jsonl").read_bytes().splitlines(keepends=True)
        (folder / f"text/{name}.jsonl").write_bytes(b"".join([line for line in lines if len(line) < HANDFUL][:40]))
    return folder
