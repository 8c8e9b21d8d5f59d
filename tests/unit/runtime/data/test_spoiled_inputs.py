"""Inputs that are gone, or are no files any more, when they come to be read: told by their names, whoever reads them."""

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from corpora import Project, lines_of, source

from runtime.contracts.ingest import Source
from runtime.contracts.synthesize import Seeds
from runtime.data import classifier, given, pieces, provenance, row_files, sieve
from runtime.data.archives import uncompressed
from runtime.data.decoding import Hints
from runtime.data.deduplication.contaminated import _texts_of_file
from runtime.data.listing import Files, RawFile, files_of
from runtime.data.synthetic import prompts, seeds
from runtime.evaluation import cases
from runtime.faults import StageFault

SPOILS: dict[str, tuple[Callable[[Path], Any], str]] = {
    "gone": (lambda path: None, "No such file|does not exist|neither a file"),
    "link": (lambda path: path.symlink_to("nowhere"), "No such file|does not exist|neither a file"),
    "folder": (lambda path: path.mkdir(), "is a folder|neither a file|does not exist|has no row|has no file"),
    "pipe": (os.mkfifo, "not a regular file|neither a file|does not exist"),
    "unreadable": (lambda path: path.symlink_to("/proc/self/mem"), "Input/output error"),
}


def read_raw(path: Path) -> object:
    with uncompressed(path, path.name) as stream:
        return stream.read()


def read_rows(path: Path) -> object:
    for piece in row_files.ranges_of(path.name, path):
        for raw in row_files.rows_of(piece):
            if raw.fault:
                raise raw.fault
    return None


def read_seeds(path: Path) -> object:
    return seeds.read(path.parent, Seeds(path=path.name, format="jsonl", field="text"))


READERS: dict[str, Callable[[Path], object]] = {
    "documents": read_raw,
    "range of a long file": lambda path: pieces.survey(pieces.SurveyTask(RawFile(path, path.name, path.name, 9), Hints(), 9)),
    "instruction rows": read_rows,
    "hashes of a source": lambda path: provenance.describe([(path.name, path)]),
    "labelled rows": lambda path: classifier.read_rows(path, path.name),
    "tokenizer": lambda path: given._content(path.parent, path.name),
    "reference of the sieve": lambda path: list(sieve.blocks(path, path.name)),
    "evaluation texts": lambda path: list(_texts_of_file(path, path.name)),
    "cases": lambda path: cases.read(path, path.name),
    "seeds": read_seeds,
    "prompt": lambda path: prompts.load(path.parent, path.name, prompts.WRITING),
}


@pytest.mark.timeout(20)
@pytest.mark.parametrize("spoil", SPOILS)
@pytest.mark.parametrize("reader", READERS)
def test_a_file_that_is_none_any_more_is_told_by_its_name(tmp_path: Path, reader: str, spoil: str) -> None:
    make, told = SPOILS[spoil]
    path = tmp_path / "rows.jsonl"
    make(path)
    with pytest.raises(StageFault) as fault:
        READERS[reader](path)
    assert re.search(told, fault.value.message), fault.value
    assert "rows.jsonl" in f"{fault.value.where} {fault.value.message}" and fault.value.fix


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    made = Project(tmp_path, {"rows": source("data/raw/rows", "jsonl", "text"), "notes": source("data/raw/notes", "text")})
    monkeypatch.chdir(made.folder)
    for name in "ab":
        made.put(f"data/raw/rows/{name}.jsonl", lines_of({"text": f"{name} one"}, {"text": f"{name} two"}))
        made.put(f"data/raw/notes/{name}.txt", f"note {name}")
    yield made


@pytest.mark.timeout(60)
@pytest.mark.parametrize("spoil", SPOILS)
@pytest.mark.parametrize("name", ["data/raw/rows/b.jsonl", "data/raw/notes/b.txt"])
def test_a_stage_whose_file_is_spoiled_while_it_runs_leaves_nothing(
    project: Project, monkeypatch: pytest.MonkeyPatch, name: str, spoil: str
) -> None:
    def listed_then_spoiled(root: Path, of: str, described: Source) -> Files:
        found = files_of(root, of, described)
        if any(file.shown == name for file in found.read):
            (project.root / name).unlink()
            SPOILS[spoil][0](project.root / name)
        return found

    monkeypatch.setattr("runtime.data.ingest.files_of", listed_then_spoiled)
    with pytest.raises(StageFault) as fault:
        project.run("ingest")
    assert fault.value.where == name and fault.value.fix
    assert not (project.folder / "corpus/ingest").exists() and not (project.folder / "metrics/ingest.json").exists()
    monkeypatch.undo()
    monkeypatch.chdir(project.folder)
    path = project.root / name
    path.rmdir() if path.is_dir() else path.unlink(missing_ok=True)
    project.put(name, lines_of({"text": "b again"}) if name.endswith("jsonl") else "b again")
    project.run("ingest")
    assert "b again" in {record.text for record in project.records("corpus/ingest")}
