"""Long lines and long texts: cut where a reader would, nothing lost, nothing held that is not needed."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from corpora import Project, lines_of, source

from runtime.data import reading
from runtime.data.fitting import Fitted, Limits, cut_before, fits, fitted

# Peak of the program itself in kB: what getrusage says of a child counts the process that started it.
MEASURED = (
    'from runtime.__main__ import main; code = main(["ingest"]); '
    'print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))); raise SystemExit(code)'
)

ROOT = Path(__file__).parents[4]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    made = Project(tmp_path, {"notes": source("data/raw/notes", "text")})
    monkeypatch.chdir(made.folder)
    return made


def use(project: Project, **settings: Any) -> None:
    project.config["ingest"].update(settings)


def documents(project: Project) -> list[tuple[str, int | None]]:
    project.run("ingest")
    return [(record.text, record.meta.get("part")) for record in project.records("corpus/ingest")]


@pytest.mark.parametrize(
    ("text", "most", "head"),
    [
        ("One sentence. And another one that goes on", 30, "One sentence. And another one "),
        ("One sentence here. And more", 22, "One sentence here."),
        ("第一句。第二句很长很长很长很长", 30, "第一句。第二句很长"[:4] if False else "第一句。第二句很长很"),
        ("第一句话在这里结束。第二句很长", 36, "第一句话在这里结束。"),
        ("a" * 50, 20, "a" * 20),
        ("ab👩‍👩‍👧‍👦cd", 12, "ab"),
        ("xxxxxxxxxe\u0301\u0302tail", 12, "xxxxxxxxx"),
        ("他说：“好！”然后他就走了很远很远", 33, "他说：“好！”"),
    ],
)
def test_a_line_is_cut_at_a_sentence_a_blank_or_between_characters(text: str, most: int, head: str) -> None:
    place = cut_before(text, most)
    assert text[:place] == head
    assert len(head.encode()) <= most


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_blocks_of_any_size_give_the_same_documents_and_nothing_is_lost(size: int) -> None:
    text = "\n".join(("文" * (n * 31 % 40) if n % 2 else "word " * (n * 7 % 9)) if n % 5 else "" for n in range(200))
    limits = Limits(line=60, document=400, split=True)
    blocks = [text[start : start + size] for start in range(0, len(text), size)]
    found = list(fitted(blocks, limits))
    assert found == list(fitted([text], limits))
    assert "".join(one.text for one in found).replace("\n", "") == text.replace("\n", "")
    assert all(len(one.text.encode()) == one.size <= 400 for one in found)
    assert all(len(line.encode()) <= 60 for one in found for line in one.text.split("\n"))


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_a_refused_line_costs_its_document_and_no_other(size: int) -> None:
    text = "a\n" * 100 + "\n" + "b" * 50 + "\n" + "c\n" * 300
    blocks = [text[start : start + size] for start in range(0, len(text), size)]
    found = list(fitted(blocks, Limits(line=20, document=200, split=False)))
    assert [(one.refused, set(one.text.strip())) for one in found] == [(False, {"a", "\n"}), (True, set()), *[(False, {"c", "\n"})] * 3]
    assert sum(one.size for one in found) == len(text)


def test_a_text_of_the_limit_is_left_as_it_is() -> None:
    limits = Limits(line=6, document=13, split=True)
    for text in ("", "abcdef", "文文", "文文\n文文", "abcdef\nabcde"):
        assert fits(text, limits)
        assert list(fitted([text], limits)) == ([Fitted(text, len(text.encode()))] if text else [])
    assert not any(fits(text, limits) for text in ("abcdefg", "文文a", "文文\n文文\n", "a\n" * 7))


def test_a_long_text_becomes_documents_that_end_at_blank_lines(project: Project) -> None:
    paragraphs = [f"第{number}段" + "字" * 90 + "\n\n" for number in range(20)]
    project.put("data/raw/notes/a.txt", "".join(paragraphs))
    project.put("data/raw/notes/b.txt", "short")
    use(project, max_document_bytes=1000, max_line_bytes=1000)
    found = documents(project)
    assert [part for _, part in found] == [1, 2, 3, 4, 5, 6, 7, None]
    assert found[0][0] == "".join(paragraphs[:3])
    assert "".join(text for text, part in found if part) == "".join(paragraphs)


@pytest.mark.parametrize("whole", [100, 10_000_000])
def test_a_stream_gives_the_documents_of_the_text_held_whole(project: Project, monkeypatch: pytest.MonkeyPatch, whole: int) -> None:
    monkeypatch.setattr(reading, "WHOLE", whole)
    text = "".join(f"第{number}行，有些文字。\n" + "\n" * (number % 3) for number in range(300))
    project.put("data/raw/notes/a.txt", text.encode("gb18030"))
    use(project, max_document_bytes=2000, max_line_bytes=1000)
    found = documents(project)
    assert len(found) > 4
    assert "".join(part for part, _ in found) == text
    assert project.metrics("ingest")["encodings"] == {"gb18030": 1}


def test_a_wrong_byte_far_into_a_stream_puts_the_file_in_doubt(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "WHOLE", 1000)
    good = "文字\n".encode() * 300_000
    project.put("data/raw/notes/a.txt", good + b"\xff" + good[:50])
    use(project, max_document_bytes=100_000, max_line_bytes=1000, bad_rows_max=1.0)
    found = documents(project)
    assert len(found) >= 10
    assert good.decode().startswith("".join(text for text, _ in found))
    assert project.metrics("ingest")["dropped"] == {"undecodable": 1}
    assert f"byte {len(good)} is not utf-8" in (project.folder / "corpus/ingest/quarantine.jsonl").read_text()


@pytest.mark.parametrize(("policy", "parts"), [("drop", [None]), ("split", [None, None, None, 1, 2])])
def test_rows_with_long_lines(project: Project, policy: str, parts: list[int | None]) -> None:
    use(
        project,
        sources={"notes": source("data/raw/notes", "jsonl", "text")},
        long_lines=policy,
        max_line_bytes=1000,
        max_document_bytes=2500,
    )
    rows = ["A sentence. " * 60, "句。" * 200, "x" * 1900, ("é" * 400 + "\n") * 4]
    project.put("data/raw/notes/a.jsonl", lines_of(*({"text": row} for row in rows)))
    found = documents(project)
    assert [part for _, part in found] == parts
    assert "".join(text for text, _ in found).replace("\n", "") == "".join(rows if policy == "split" else rows[:1]).replace("\n", "")
    assert all(len(line.encode()) <= 1000 for text, _ in found for line in text.split("\n"))


def test_a_page_is_never_cut(project: Project) -> None:
    use(project, sources={"notes": source("data/raw/notes", "html")}, long_lines="split", max_line_bytes=1000, max_document_bytes=5000)
    project.put("data/raw/notes/a.html", "<p>" + "x" * 3000)
    project.put("data/raw/notes/b.html", "<p>" + "x" * 6000)
    assert [len(text) for text, _ in documents(project)] == [3003]
    assert project.metrics("ingest")["dropped"] == {"oversized_page": 1}


@pytest.mark.slow
@pytest.mark.parametrize(("policy", "format"), [("drop", "text"), ("split", "text"), ("drop", "jsonl"), ("split", "csv")])
def test_one_line_of_a_gigabyte_needs_little_memory(project: Project, policy: str, format: str) -> None:
    block = ("A sentence of the line. " * 41_667).encode()[:1_000_000]
    field = None if format == "text" else "text"
    project.put(f"data/raw/notes/a.{'txt' if format == 'text' else format}", b"text\n" if format == "csv" else b"")
    path = next((project.root / "data/raw/notes").iterdir())
    with path.open("ab") as file:
        for _ in range(1000):
            file.write(block)
        file.write(b'\n"b"\n' if format == "csv" else b'\n{"text": "b"}\n')
    if format == "text":
        project.put("data/raw/notes/b.txt", "b")
    use(project, sources={"notes": source("data/raw/notes", format, field)}, long_lines=policy, max_line_bytes=1_000_000, bad_rows_max=0.9)
    (project.folder / "config/ingest.yaml").write_text(yaml.safe_dump(project.config["ingest"]))
    limit = f"ulimit -v {2_000_000}; exec {sys.executable} -c '{MEASURED}'"
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT), "HOME": "/"}
    ended = subprocess.run(["bash", "-c", limit], env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr[-2000:]
    peak = int(ended.stdout) * 1024
    assert peak < 500_000_000
    metrics = project.metrics("ingest")
    dropped = metrics["dropped"].get("oversized_line", 0)
    assert (dropped >= 1) == (policy == "drop" or format == "csv")
    assert metrics["bytes_in"] > 1_000_000_000
