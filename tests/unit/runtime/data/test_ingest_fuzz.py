"""Whatever lies in the folders of a source, ingest ends in counted reasons or in one fault, and never half-way."""

import gzip
import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from corpora import Project, source

from runtime import manifest
from runtime.faults import StageFault

FORMATS = {"text": "txt", "html": "html", "markdown": "md", "jsonl": "jsonl", "json": "json", "csv": "csv", "parquet": "parquet"}
PACKED: tuple[tuple[str, Callable[[bytes], bytes]], ...] = (("", bytes), (".gz", gzip.compress), (".zst", zstandard.compress))
ENCODINGS = ("utf-8", "utf-8-sig", "gb18030", "big5", "utf-16", "utf-16-le", "utf-32", "latin-1", "shift_jis")


def bytes_of_chance(chance: random.Random) -> bytes:
    return chance.randbytes(chance.choice((0, 1, 3, 100, 5000)))


def nested(chance: random.Random) -> bytes:
    depth = chance.choice((10, 2000, 100_000))
    return chance.choice((b"[", b'{"text":', b"<div>", b'"', b"<!--")) * depth


def rows(chance: random.Random) -> bytes:
    made = [
        b'{"text":"\\ud800"}', b'{"text":"\\u0000"}', b'{"text":1e999}', b'{"text":"a"', b"NaN", b"[]", b'"a"', b"\0", b"",
        b'{"text":"' + b"x" * 30_000 + b'"}', b'{"text":["a",["b"]]}', b'\xef\xbb\xbf{"text":"b"}', b'text,"a', b"text,b", b'"a""b",c',
        '{"text":"甲\u2028乙\x85"}'.encode(), b'{"text":"\xc3\x28"}', b'{"text":null}', b"{}", b"\r", b"text,a,b,c",
    ]  # fmt: skip
    return chance.choice((b"\n", b"\r\n", b"\r")).join(chance.choices(made, k=chance.randrange(1, 30)))


def letters(chance: random.Random) -> bytes:
    signs = chance.choices('aé文字한ж\u200d\ufeff\x85\u2028\0\ud800 \n\r,"{}[]<>👩', k=chance.choice((1, 40, 3000)))
    return "".join(signs).encode(chance.choice(ENCODINGS), "ignore")


def content(chance: random.Random) -> bytes:
    """Bytes as they come, sometimes good ones with a flaw."""
    data = chance.choice((bytes_of_chance, nested, rows, letters))(chance)
    if data and chance.random() < 0.3:
        place = chance.randrange(len(data))
        data = data[:place] + chance.randbytes(chance.randrange(3)) + data[place + chance.randrange(3) :]
    return data


def files(chance: random.Random, project: Project, name: str, extension: str) -> None:
    for number in range(chance.randrange(1, 5)):
        suffix, pack = chance.choice(PACKED)
        data = pack(content(chance))
        data = data[: -chance.randrange(1, 9)] if data and chance.random() < 0.2 else data
        where = chance.choice(("", "夹/", "x\ny/"))
        project.put(f"data/raw/{name}/{where}{number}.{extension}{suffix}", data)


def settle(project: Project) -> None:
    """Run it, and look at what it leaves behind."""
    result = project.folder / "corpus/ingest"
    try:
        project.run("ingest")
    except StageFault as fault:
        assert fault.message
        assert "\n" not in fault.where
        assert fault.fix
        assert not result.exists()
        return
    told = project.metrics("ingest")
    manifest.verify(result)
    records = project.records("corpus/ingest")
    assert told["documents_out"] == len(records) > 0
    assert told["documents_in"] == told["documents_out"] + sum(told["dropped"].values())
    assert all(record.text.strip() and "\ufeff" not in record.text for record in records)
    for line in (result / "quarantine.jsonl").read_bytes().splitlines():
        assert {"source", "file", "line", "offset", "reason", "detail", "bytes", "cut", "row"} == set(json.loads(line))


def fuzz(project: Project, seed: int) -> None:
    chance = random.Random(seed)
    format = chance.choice(list(FORMATS))
    field = None if format in ("text", "html", "markdown") else "text"
    settings = {"max_line_bytes": chance.choice((50, 10_000)), "long_lines": chance.choice(("drop", "split")), "bad_rows_max": 1.0}
    policies = {"bad_rows": "refuse" if chance.random() < 0.1 else "quarantine", "max_document_bytes": chance.choice((50, 20_000_000))}
    name = f"s{seed}"
    project.put(f"data/raw/{name}/good.jsonl", b'{"text":"good"}\n')
    files(chance, project, name, FORMATS[format])
    good = source(f"data/raw/{name}/good.jsonl", "jsonl", "text")
    project.config["ingest"].update(sources={"good": good, "odd": source(f"data/raw/{name}", format, field)}, **settings, **policies)
    for path in (project.folder / "corpus").glob("*"):
        shutil.rmtree(path)
    settle(project)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    made = Project(tmp_path, {})
    monkeypatch.chdir(made.folder)
    return made


@pytest.mark.parametrize("seed", range(4))
def test_odd_files_end_in_reasons_or_one_fault(project: Project, seed: int) -> None:
    for number in range(8):
        fuzz(project, seed * 8 + number)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_many_odd_files_end_in_reasons_or_one_fault(project: Project, seed: int) -> None:
    for number in range(150):
        fuzz(project, 1000 + seed * 150 + number)


def test_a_file_that_goes_away_is_named(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    from runtime.data import ingest

    project.put("data/raw/notes/a.txt", "a")
    project.put("data/raw/notes/b.txt", "b")
    project.config["ingest"]["sources"] = {"notes": source("data/raw/notes", "text")}
    listed = ingest.files_of

    def and_then_gone(*arguments: object) -> object:
        found = listed(*arguments)  # type: ignore[arg-type]
        (project.root / "data/raw/notes/b.txt").unlink()
        return found

    monkeypatch.setattr(ingest, "files_of", and_then_gone)
    with pytest.raises(StageFault, match="No such file") as fault:
        project.run("ingest")
    assert fault.value.where == "data/raw/notes/b.txt"
