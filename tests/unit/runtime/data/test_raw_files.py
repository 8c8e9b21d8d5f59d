"""Which files a source has, archives, bad rows in quarantine, and the work cut into tasks."""

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest
import zstandard
from corpora import Project, lines_of, source

from runtime import records
from runtime.contracts.patterns import below_fixed, fixed_folder
from runtime.data import pieces
from runtime.faults import StageFault
from runtime.records import Limit


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    made = Project(tmp_path, {"rows": source("data/raw/rows", "jsonl", "text")})
    monkeypatch.chdir(made.folder)
    return made


def texts(project: Project) -> list[str]:
    project.run("ingest")
    return [record.text for record in project.records("corpus/ingest")]


def use(project: Project, **settings: Any) -> None:
    project.config["ingest"].update(settings)


def from_path(project: Project, path: str, format: str = "text") -> None:
    use(project, sources={"rows": source(path, format, None if format in ("text", "html") else "text")})


def quarantined(project: Project) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (project.folder / "corpus/ingest/quarantine.jsonl").read_text("utf-8").splitlines()]


@pytest.mark.parametrize(
    ("pattern", "folder", "matching", "others"),
    [
        ("data/raw/*.txt", "data/raw", ["a.txt", "甲.txt"], ["b/a.txt", "a.txt.gz", "a.TXT", "atxt"]),
        ("data/raw/**/*.txt", "data/raw", ["a.txt", "b/a.txt", "b/c/甲.txt"], ["b/a.md"]),
        ("data/*/b?/*", "data", ["x/b1/y"], ["x/b/y", "x/b1/c/y", "b1/y"]),
        ("data/**", "data", ["a", "b/c"], []),
        ("data/**/en/**/p*.html", "data", ["en/p.html", "a/en/b/c/p1.html"], ["xen/p.html"]),
        ("data/a+(b)/*.txt", "data/a+(b)", ["c.txt"], ["c,txt"]),
    ],
)
def test_a_star_stays_within_a_folder_and_two_do_not(pattern: str, folder: str, matching: list[str], others: list[str]) -> None:
    assert fixed_folder(pattern) == folder
    assert [name for name in matching + others if below_fixed(pattern).fullmatch(name)] == matching


def test_files_of_a_pattern_are_read_in_order_whatever_their_extension(project: Project) -> None:
    for name in ("b/二.dat", "a.dat", "b/a.dat", "B/a.dat", "b/c/x.dat", "b/x.txt", ".dat", "b/.hidden.dat"):
        project.put(f"data/raw/notes/{name}", name)
    from_path(project, "data/raw/**/*.dat")
    assert texts(project) == ["B/a.dat", "a.dat", "b/a.dat", "b/c/x.dat", "b/二.dat"]
    from_path(project, "data/raw/*/?/a.dat")
    assert texts(project) == ["B/a.dat", "b/a.dat"]
    assert project.records("corpus/ingest")[0].meta["path"] == "notes/B/a.dat"


def test_a_pattern_without_a_file_is_refused(project: Project) -> None:
    project.put("data/raw/notes/a.txt", "a")
    from_path(project, "data/raw/*.txt")
    with pytest.raises(StageFault, match=r"data/raw/\*\.txt matches no file"):
        project.run("ingest")


def two_members(data: bytes) -> bytes:
    half = len(data) // 2
    return gzip.compress(data[:half]) + gzip.compress(data[half:])


def two_frames(data: bytes) -> bytes:
    half = len(data) // 2
    return zstandard.compress(data[:half]) + zstandard.compress(data[half:])


@pytest.mark.parametrize(("suffix", "pack"), [(".gz", two_members), (".zst", two_frames), (".zst", zstandard.compress)])
@pytest.mark.parametrize("format", ["jsonl", "json", "text"])
def test_archives_of_several_members(project: Project, suffix: str, pack: Any, format: str) -> None:
    rows = [{"text": f"第{number}行"} for number in range(500)]
    content = {"jsonl": lines_of(*rows), "json": json.dumps(rows), "text": lines_of(*rows)}[format]
    project.put(f"data/raw/rows/a.{'txt' if format == 'text' else format}{suffix}", pack(content.encode()))
    from_path(project, "data/raw/rows", format)
    assert texts(project) == ([content] if format == "text" else [row["text"] for row in rows])


@pytest.mark.parametrize(("suffix", "pack"), [(".gz", gzip.compress), (".zst", zstandard.compress)])
@pytest.mark.parametrize("cut", [-1, -5, -300, 20])
def test_an_archive_that_was_cut_off_puts_all_of_its_rows_in_doubt(project: Project, suffix: str, pack: Any, cut: int) -> None:
    rows = [os.urandom(30).hex() for _ in range(300)]
    packed = pack(b"".join(b'{"text":"%s"}\n' % row.encode() for row in rows))
    project.put(f"data/raw/rows/a.jsonl{suffix}", packed[:cut])
    with pytest.raises(StageFault, match="damaged") as fault:
        project.run("ingest")
    assert fault.value.where == f"data/raw/rows/a.jsonl{suffix}"
    use(project, bad_rows_max=1.0)
    project.put("data/raw/rows/b.jsonl", lines_of({"text": "b"}))
    kept = texts(project)
    assert kept[-1] == "b" and kept[:-1] == rows[: len(kept) - 1]
    (bad,) = quarantined(project)
    assert (bad["reason"], bad["file"]) == ("damaged_archive", f"data/raw/rows/a.jsonl{suffix}")
    assert bad["offset"] // 72 == len(kept) - 1 and f"behind byte {bad['offset']}" in bad["detail"]
    assert suffix == ".zst" or len(kept) > {-1: 299, -5: 299, -300: 270, 20: 0}[cut]
    assert project.metrics("ingest")["documents_in"] == len(kept) + 1


def test_bad_rows_of_a_file_that_breaks_off_are_not_counted_above_all_of_its_rows(project: Project) -> None:
    rows = b"".join(b'{"text":"%s"}\n{"text":\n' % os.urandom(30).hex().encode() for _ in range(300))
    project.put("data/raw/rows/a.jsonl.gz", gzip.compress(rows)[:-5])
    with pytest.raises(StageFault, match=r"of 601 rows in the source rows, 601 in doubt"):
        project.run("ingest")
    use(project, bad_rows_max=1.0)
    assert len(texts(project)) == 300


def test_bad_rows_are_counted_by_reason_and_written_with_their_place(project: Project) -> None:
    good = [f'{{"text":"好 {number}"}}'.encode() for number in range(1000)]
    bad = [b'{"text": ', b"[1]", b'{"body": 1}', b'{"text": {}}', b'{"text":"\xff"}', b'{"text":"\\ud800"}']
    content = b"\n\r\n".join([*good[:500], *bad, *good[500:]])
    project.put("data/raw/rows/a.jsonl", content)
    assert len(texts(project)) == 1000
    metrics = project.metrics("ingest")
    assert metrics["dropped"] == {"no_text_field": 1, "not_an_object": 1, "not_json": 2, "undecodable": 1, "wrong_type": 1}
    told = quarantined(project)
    reasons = ["not_json", "not_an_object", "no_text_field", "wrong_type", "undecodable", "not_json"]
    assert [(row["reason"], row["line"]) for row in told] == list(zip(reasons, range(1001, 1013, 2), strict=True))
    assert [row["offset"] for row in told] == [content.index(row) for row in bad]
    assert told[4]["row"] == '{"text":"\\xff"}'
    assert "6 (no_text_field: 1" in metrics["warnings"][0]


def test_more_bad_rows_than_allowed_end_the_run_at_the_first_place(project: Project) -> None:
    project.put("data/raw/rows/a.jsonl", lines_of(*({"text": "a"} for _ in range(98))) + "{\n[]\n")
    with pytest.raises(StageFault, match=r"2 \(not_an_object: 1, not_json: 1\) of 100 .* also at data/raw/rows/a.jsonl:100") as fault:
        project.run("ingest")
    assert fault.value.where == "data/raw/rows/a.jsonl:99"
    use(project, bad_rows_max=0.02)
    assert len(texts(project)) == 98


@pytest.mark.parametrize("workers", [1, 2])
def test_a_bad_row_is_refused_at_once_where_the_spec_says_so(project: Project, monkeypatch: pytest.MonkeyPatch, workers: int) -> None:
    monkeypatch.setattr(pieces, "GROUP", 9000)
    project.put("data/raw/rows/a.jsonl", lines_of(*({"text": "a"} for _ in range(1000))) + "[]\n")
    use(project, bad_rows="refuse")
    (project.folder / "placement.yaml").write_text(f"workers: {workers}\n")
    with pytest.raises(StageFault, match="the row is a list") as fault:
        project.run("ingest")
    assert fault.value.where == "data/raw/rows/a.jsonl:1001"


def test_one_undecodable_file_among_many_is_quarantined(project: Project) -> None:
    for number in range(200):
        project.put(f"data/raw/notes/{number:03}.txt", f"文件 {number}")
    project.put("data/raw/notes/图.txt", b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 8)
    from_path(project, "data/raw/notes")
    assert len(texts(project)) == 200
    [bad] = quarantined(project)
    assert (bad["file"], bad["reason"], bad["bytes"]) == ("data/raw/notes/图.txt", "undecodable", 2056)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030", "big5", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_rows_and_places_are_the_same_in_every_encoding(project: Project, encoding: str) -> None:
    rows = [json.dumps({"text": f"這是第 {number} 行的文字說明"}, ensure_ascii=False) for number in range(300)]
    content = "\n".join([*rows[:200], "{坏".replace("坏", "壞"), *rows[200:]])
    project.put("data/raw/rows/a.jsonl", content.encode(encoding))
    use(project, sources={"rows": source("data/raw/rows", "jsonl", "text", "zh")})
    assert len(texts(project)) == 300
    [bad] = quarantined(project)
    wide = {"utf-16": "utf-16-le", "utf-32": "utf-32-le"}.get(encoding, encoding)
    before = "".join(f"{row}\n" for row in rows[:200]).encode(wide)
    assert (bad["line"], bad["offset"]) == (201, len(before) + {"utf-16": 2, "utf-32": 4}.get(encoding, 0))


def test_files_of_many_encodings_in_one_folder(project: Project) -> None:
    simplified, traditional = "这是简体中文写成的说明文字，用来检查编码。" * 3, "這是繁體中文寫成的說明文字，用來檢查編碼。" * 3
    written = {"a": (simplified, "gbk"), "b": (traditional, "big5"), "c": (simplified, "utf-16"), "d": (traditional, "utf-8-sig")}
    written |= {"e": (simplified, "utf-16-le"), "f": (traditional, "utf-16-be")}
    for name, (text, encoding) in written.items():
        project.put(f"data/raw/notes/{name}.txt", text.encode(encoding))
    from_path(project, "data/raw/notes")
    assert texts(project) == [simplified, traditional] * 3
    assert project.metrics("ingest")["encodings"] == {"big5hkscs": 1, "gb18030": 1, "utf-16-be": 1, "utf-16-le": 2, "utf-8": 1}


def test_a_name_with_a_line_end_does_not_break_a_message(project: Project) -> None:
    project.put("data/raw/rows/甲\n乙.jsonl", "{\n")
    with pytest.raises(StageFault) as fault:
        project.run("ingest")
    assert fault.value.where == "data/raw/rows/甲\\n乙.jsonl:1"


def test_what_is_no_regular_file_is_refused_before_anyone_waits_for_it(project: Project) -> None:
    project.put("data/raw/rows/a.jsonl", lines_of({"text": "a"}))
    os.mkfifo(project.root / "data/raw/rows/b.jsonl")
    with pytest.raises(StageFault, match="not a regular file"):
        project.run("ingest")


@pytest.mark.parametrize(("format", "name"), [("text", "a.txt"), ("html", "a.html"), ("jsonl", "a.jsonl.gz"), ("parquet", "a.parquet")])
def test_a_pointer_of_git_lfs_is_not_taken_for_the_data(project: Project, format: str, name: str) -> None:
    project.put("data/raw/notes/b.txt", "version https://git-lfs.github.com/ is where it is told.")
    project.put(f"data/raw/notes/{name}", f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 123456\n")
    from_path(project, "data/raw/notes", format)
    with pytest.raises(StageFault, match="pointer of Git LFS") as fault:
        project.run("ingest")
    assert fault.value.where == f"data/raw/notes/{name}" and "git lfs pull" in fault.value.fix
    (project.root / "data/raw/notes" / name).unlink()
    from_path(project, "data/raw/notes")
    assert len(texts(project)) == 1


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tasks of some hundred bytes and parts of three rows."""
    monkeypatch.setattr(pieces, "GROUP", 700)
    monkeypatch.setattr(pieces, "SAMPLE", 600)
    monkeypatch.setattr(records, "PART", Limit(3, 1 << 20))


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\n\n"])
def test_a_long_file_is_read_in_ranges_with_the_lines_of_the_file(project: Project, end: str, mark: str) -> None:
    rows = [json.dumps({"text": f"{number} " + "长" * (number * 37 % 90)}, ensure_ascii=False) for number in range(200)]
    rows[77] = "[]"
    project.put("data/raw/rows/a.jsonl", mark + end.join(rows) + "\n")
    project.put("data/raw/rows/b.jsonl", lines_of({"text": "last"}))
    assert [text.split()[0] for text in texts(project)] == [str(number) for number in range(200) if number != 77] + ["last"]
    step = len(end.replace("\r", ""))
    assert [record.meta["line"] for record in project.records("corpus/ingest")][:-1] == [
        number * step + 1 for number in range(200) if number != 77
    ]
    [bad] = quarantined(project)
    assert (bad["line"], bad["offset"]) == (77 * step + 1, (project.root / "data/raw/rows/a.jsonl").read_bytes().index(b"[]"))
    assert len(records.parts(project.folder / "corpus/ingest")) > 60


@pytest.mark.usefixtures("small")
def test_ranges_meet_at_any_line_end(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.put("data/raw/rows/a.jsonl", lines_of(*({"text": str(number)} for number in range(4))) + "\n\n")
    size = (project.root / "data/raw/rows/a.jsonl").stat().st_size
    for group in range(1, size, 3):
        monkeypatch.setattr(pieces, "GROUP", group)
        assert texts(project) == [str(number) for number in range(4)]
        assert [record.meta["line"] for record in project.records("corpus/ingest")] == list(range(1, 5))


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("encoding", ["gb18030", "utf-16", "utf-16-le", "utf-16-be"])
def test_a_long_file_of_another_encoding(project: Project, encoding: str) -> None:
    project.put(
        "data/raw/rows/a.jsonl", lines_of(*({"text": f"这是第{number}行中文，很长的一行" * 9} for number in range(100))).encode(encoding)
    )
    use(project, sources={"rows": source("data/raw/rows", "jsonl", "text", "zh")})
    assert texts(project) == [f"这是第{number}行中文，很长的一行" * 9 for number in range(100)]
    assert project.records("corpus/ingest")[-1].meta["line"] == 100
    assert project.metrics("ingest")["encodings"] == {"utf-16-le" if encoding == "utf-16" else encoding: 1}


def test_a_late_wrong_byte_does_not_change_the_encoding_of_a_long_file(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "SAMPLE", 1000)
    rows = lines_of(*({"text": f"第{number}行"} for number in range(1000))).encode()
    project.put("data/raw/rows/a.jsonl", rows + b'{"text":"\xe9t\xe9"}\n')
    assert len(texts(project)) == 1000
    [bad] = quarantined(project)
    assert (bad["reason"], bad["line"], bad["offset"]) == ("undecodable", 1001, len(rows))
    assert f"byte {len(rows) + 9} is not utf-8" in bad["detail"]


@pytest.mark.usefixtures("small")
def test_the_raw_hash_is_that_of_the_files_however_they_are_read(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.put("data/raw/rows/a.jsonl", lines_of(*({"text": f"第{number}行"} for number in range(100))))
    project.put("data/raw/rows/b.jsonl.gz", gzip.compress(lines_of({"text": "b"}).encode()))
    found = []
    for group in (100, 10_000_000):
        monkeypatch.setattr(pieces, "GROUP", group)
        project.run("ingest")
        found.append(json.loads((project.folder / "corpus/ingest/manifest.json").read_text())["facts"]["raw"])
    assert found[0] == found[1]
    assert found[0]["rows"]["files"] == 2
