"""Stages without room on the disk, without memory, or with a worker that was killed: a message, nothing half-written, and then a rerun."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from corpora import STAGES, Project, lines_of, source
from samples import ROOT

TEXTS = [f"Document {number} tells of {number * 7919 % 1009} foxes that no other one counts, word by word." * 3 for number in range(300)]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project whose stages have all run."""
    made = Project(tmp_path, {"rows": source("data/rows.jsonl", "jsonl", "text", "en"), "notes": source("data/notes", "text", None, "en")})
    made.put("data/rows.jsonl", lines_of(*({"text": text} for text in TEXTS)))
    for number in range(40):
        made.put(f"data/notes/{number}.txt", f"Note {number} is about {number * 31} geese, and about nothing else in the world.")
    made.config["clean"]["rules"] = {}
    monkeypatch.chdir(made.folder)
    made.run(*STAGES)
    return made


def started(project: Project, stage: str, limit: str, workers: int = 1) -> "subprocess.Popen[str]":
    """The program of a stage. `limit`: options of ulimit."""
    (project.folder / "placement.yaml").write_text(f"workers: {workers}\n")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = f"ulimit {limit}; exec {sys.executable} -m runtime {stage}"
    return subprocess.Popen(["bash", "-c", command], cwd=project.folder, env=environment, stderr=subprocess.PIPE, text=True)


def refused(project: Project, stage: str, limit: str, workers: int = 1) -> str:
    """What the program says; its results are as they were, and a run without the limit makes them again."""
    before = project.results()
    process = started(project, stage, limit, workers)
    _, told = process.communicate(timeout=120)
    assert process.returncode == 1 and "Traceback" not in told, told
    assert f"mindspec: {stage}: " in told and "fix: " in told
    assert project.results() == before
    (project.folder / "placement.yaml").unlink()
    project.run(stage)
    assert project.results() == before
    return told


@pytest.mark.parametrize(("stage", "workers"), [("ingest", 1), ("clean", 2), ("dedup", 2), ("filter", 1), ("mix", 2), ("split", 1)])
def test_a_disk_without_room(project: Project, stage: str, workers: int) -> None:
    told = refused(project, stage, "-f 2", workers)
    assert "File too large" in told or "No space left" in told
    assert "experiments/demo" in told or ".scratch" in told


@pytest.mark.parametrize(
    ("stage", "megabytes", "workers"),
    [("clean", 60, 1), ("clean", 100, 1), ("clean", 110, 1), ("dedup", 90, 1), ("dedup", 108, 1), ("dedup", 300, 2)],
)
def test_too_little_memory(project: Project, stage: str, megabytes: int, workers: int) -> None:
    """Some 120 are enough for one worker, on any number of cores: NumPy's library starts no threads, which would take their share."""
    told = refused(project, stage, f"-v {megabytes * 1000}", workers)
    assert "memory" in told and "ulimit -v" in told


def test_a_worker_that_is_killed(project: Project) -> None:
    before = project.results()
    process = started(project, "dedup", "-c 0", workers=4)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while len(found := children.read_text().split()) < 3 and process.poll() is None:
        time.sleep(0.01)
    os.kill(int(found[-1]), signal.SIGKILL)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 1 and "Traceback" not in told, told
    assert "mindspec: dedup: a worker process ended before its work did" in told and "launch.workers" in told
    assert project.results() == before
