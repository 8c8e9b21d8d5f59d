"""Raw files -> records: formats, order, places of faults, counted drops."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
import zstandard
from corpora import Project, lines_of, source

from runtime.data.ingest import record_id
from runtime.faults import StageFault


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    made = Project(tmp_path, {"rows": source("data/raw/rows", "jsonl", "text")})
    monkeypatch.chdir(made.folder)
    return made


def texts(project: Project) -> list[str]:
    project.run("ingest")
    return [record.text for record in project.records("corpus/ingest")]


def use(project: Project, **sources: dict[str, Any]) -> None:
    project.config["ingest"]["sources"] = sources


def test_line_separators_of_unicode_do_not_end_a_row(project: Project) -> None:
    project.put("data/raw/rows/a.jsonl", lines_of({"text": "a\u2028b\x85c\u2029d"}))
    assert texts(project) == ["a\u2028b\x85c\u2029d"]


@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_marks_and_line_ends_change_no_record(project: Project, newline: bytes, mark: bytes) -> None:
    rows = ['{"text":"甲","m":{"x":1}}'.encode(), '{"text":"乙","m":{"y":2}}'.encode()]
    project.put("data/raw/rows/a.jsonl", mark + rows[0] + newline + mark + rows[1] + newline)
    assert texts(project) == ["甲", "乙"]
    assert project.metrics("ingest")["byte_order_marks"] == (2 if mark else 0)
    assert [record.id for record in project.records("corpus/ingest")] == [record_id("rows", "甲"), record_id("rows", "乙")]


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        ('\n{"text":"ok"}\n\n{"text": \n', 4, "not JSON"),
        ('{"text":"ok"}\n["a"]\n', 2, "the row is a list, not a JSON object"),
        ('{"text":"ok"}\n{"body":"a", "id": 1}\n', 2, "no field 'text'; it has: body, id"),
        ('{"text":"ok"}\n\n{"text": 5}\n', 3, "is a number, not a string"),
        ('{"text":"\\ud800"}\n', 1, "not JSON"),
    ],
)
def test_a_wrong_row_is_named_by_its_physical_line(project: Project, content: str, line: int, message: str, compressed: bool) -> None:
    name = "data/raw/rows/rows.jsonl" + (".gz" if compressed else "")
    project.put(name, gzip.compress(content.encode()) if compressed else content)
    with pytest.raises(StageFault) as fault:
        project.run("ingest")
    assert fault.value.where == f"{name}:{line}"
    assert message in fault.value.message
    assert fault.value.fix
    assert not (project.folder / "corpus/ingest").exists()


def test_fields_that_are_not_asked_for_may_hold_anything(project: Project) -> None:
    project.put("data/raw/rows/a.jsonl", lines_of({"id": 1, "text": "a"}, {"id": "x2", "text": "b"}, {"id": None, "text": ["c", "d"]}))
    assert texts(project) == ["a", "b", "c\nd"]


@pytest.mark.parametrize("field", ["NaN", "-Infinity", "9" * 5000, "1e400", '[NaN, {"x": Infinity}]'])
@pytest.mark.parametrize("format", ["jsonl", "json"])
def test_a_number_that_json_does_not_know_costs_no_row_but_where_the_text_should_be(project: Project, format: str, field: str) -> None:
    use(project, rows=source("data/raw/rows", format, "text"))
    rows = [f'{{"text": "甲", "score": {field}}}', '{"text": "乙"}']
    project.put(f"data/raw/rows/a.{format}", "\n".join(rows) if format == "jsonl" else f"[{', '.join(rows)}]")
    assert texts(project) == ["甲", "乙"]
    project.put(f"data/raw/rows/a.{format}", f'{{"text": {field}}}')
    with pytest.raises(StageFault, match=r"the field 'text' is a (number|list), not a string"):
        project.run("ingest")


@pytest.mark.parametrize(
    "content", ['{"text": "\\ud800"}', '{"text": "a", "id": "\\udc00"}', '{"text": "a", "score": nan}', '{"text": "a"']
)
def test_what_no_library_writes_is_refused(project: Project, content: str) -> None:
    project.put("data/raw/rows/a.jsonl", content)
    with pytest.raises(StageFault, match="not JSON"):
        project.run("ingest")


def test_a_row_longer_than_the_limit_and_an_empty_one_are_dropped_and_counted(project: Project) -> None:
    project.put("data/raw/rows/a.jsonl", lines_of({"text": "a"}, {"text": "x" * 20_000}, {"text": " "}, {"text": None}, {"text": "b"}))
    assert texts(project) == ["a", "b"]
    metrics = project.metrics("ingest")
    assert (metrics["documents_in"], metrics["documents_out"]) == (5, 2)
    assert metrics["dropped"] == metrics["sources"]["rows"]["dropped"] == {"empty": 2, "oversized_line": 1}
    examples = (project.folder / "corpus/ingest/dropped.jsonl").read_text().splitlines()
    assert [json.loads(example)["reason"] for example in examples] == ["empty", "empty", "oversized_line"]


def test_a_mark_that_was_read_as_letters_is_removed_with_the_repair(project: Project) -> None:
    project.put("data/raw/rows/a.jsonl", lines_of({"text": "\ufeffélève déjà".encode().decode("latin-1")}))
    assert texts(project) == ["élève déjà"]
    assert (project.metrics("ingest")["byte_order_marks"], project.metrics("ingest")["mojibake_repaired"]) == (1, 1)


def test_rows_of_another_encoding(project: Project) -> None:
    project.put("data/raw/rows/a.jsonl", lines_of({"text": "这是一个说明"}, {"text": "检查编码识别"}).encode("gbk"))
    assert texts(project) == ["这是一个说明", "检查编码识别"]
    assert project.metrics("ingest")["encodings"] == {"gb18030": 1}


def test_line_separators_do_not_end_a_row_in_other_encodings_either(project: Project) -> None:
    project.put("data/raw/rows/a.jsonl", lines_of({"text": "a\u2028b\x85c"}, {"text": "d"}).encode("utf-16"))
    assert texts(project) == ["a\u2028b\x85c", "d"]


def test_a_damaged_archive_is_named(project: Project) -> None:
    project.put("data/raw/rows/a.jsonl.gz", gzip.compress(b'{"text":"a"}\n' * 1000)[:-20])
    with pytest.raises(StageFault, match="damaged gzip") as fault:
        project.run("ingest")
    assert fault.value.where == "data/raw/rows/a.jsonl.gz"


@pytest.mark.parametrize(
    ("name", "content", "fix"),
    [
        ("a.jsonl", gzip.compress(b'{"text":"a"}\n' * 100), "give its name the ending .gz"),
        ("a.jsonl", zstandard.compress(b'{"text":"a"}\n' * 100), "give its name the ending .zst"),
        ("a.jsonl", b"PK\x03\x04\x14\0\0\0\x08\0" * 9, "unpack it"),
        ("a.jsonl.gz", b'{"text":"a"}\n', "it is no gzip"),
        ("a.jsonl.zst", gzip.compress(b'{"text":"a"}\n'), "it is no zstd"),
        ("a.jsonl", b'[\n{"text":"a"},\n{"text":"b"}\n]\n', "with the format json"),
        ("a.jsonl", b'{\n  "text": "a"\n}\n', "with the format json"),
    ],
)
def test_what_a_name_says_otherwise_than_the_content_is_told(project: Project, name: str, content: bytes, fix: str) -> None:
    project.put(f"data/raw/rows/{name}", content)
    with pytest.raises(StageFault) as fault:
        project.run("ingest")
    assert fix in str(fault.value.fix)


def test_a_json_file_is_a_list_of_rows_or_one(project: Project) -> None:
    use(project, rows=source("data/raw/rows", "json", "text"))
    project.put("data/raw/rows/a.json", '[{"text": "a"}, {"text": "b"}]')
    project.put("data/raw/rows/b.json", '{"text": "c"}')
    assert texts(project) == ["a", "b", "c"]
    project.put("data/raw/rows/b.json", '[{"text": "c"}, 7]')
    with pytest.raises(StageFault, match="the row is a number") as fault:
        project.run("ingest")
    assert fault.value.where == "data/raw/rows/b.json: row 2"


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le"])
def test_a_json_file_over_many_lines_is_json_and_one_that_is_none_may_be_json_lines(project: Project, encoding: str, mark: str) -> None:
    use(project, rows=source("data/raw/rows", "json", "text"))
    rows = [{"text": f"第{number}行\nrow {number}", "n": {"a": [number]}} for number in range(4)]
    project.put("data/raw/rows/a.json", (mark + json.dumps(rows, indent=2)).encode(encoding))
    project.put("data/raw/rows/b.json", (mark + json.dumps(rows[0] | {"text": "b"}, indent=4)).encode(encoding))
    project.put("data/raw/rows/c.json", (mark + "\n" + lines_of(*rows)).replace("row", "line").encode(encoding))
    said = [row["text"] for row in rows]
    assert texts(project) == [*said, "b", *(text.replace("row", "line") for text in said)]
    assert project.metrics("ingest")["documents_in"] == 9


def test_rows_of_json_lines_in_a_json_file_are_told_by_their_lines(project: Project) -> None:
    use(project, rows=source("data/raw/rows", "json", "text"))
    for content, where in (('{"text": "a"}\n{"text" 1}\n', "a.json:2"), ('{"text"\n\n{"text": "b"}\n', "a.json:1")):
        project.put("data/raw/rows/a.json", content)
        with pytest.raises(StageFault, match="not JSON") as fault:
            project.run("ingest")
        assert fault.value.where == f"data/raw/rows/{where}"
    project.put("data/raw/rows/a.json", '{\n "text": "a",\n "b": \n}\n')
    with pytest.raises(StageFault, match=r"(?s)not JSON: .*one object a line") as fault:
        project.run("ingest")
    assert fault.value.where == "data/raw/rows/a.json:4"


def test_files_are_read_in_the_order_of_their_paths_and_others_are_left_out(project: Project, capfd: pytest.CaptureFixture[str]) -> None:
    use(project, notes=source("data/raw/notes", "text"))
    for name in ("乙.txt", "b/a.txt", "a.TXT", "LICENSE", ".hidden.txt", ".git/x.txt", "page.html", "甲/一.txt"):
        project.put(f"data/raw/notes/{name}", name)
    assert texts(project) == ["a.TXT", "b/a.txt", "乙.txt", "甲/一.txt"]
    assert project.records("corpus/ingest")[3].meta == {"path": "甲/一.txt", "format": "text", "domain": "general"}
    assert project.metrics("ingest")["skipped_files"] == {"notes": {".html": 1, "none": 1}}
    assert "source notes: 2 files not read, of another extension (.html: 1, none: 1)" in capfd.readouterr().err


def test_links_are_followed_but_not_in_a_circle(project: Project) -> None:
    use(project, notes=source("data/raw/notes", "text"))
    project.put("data/raw/notes/a.txt", "a")
    project.put("data/elsewhere/b.txt", "b")
    (project.root / "data/raw/notes/again").symlink_to(project.root / "data/raw")
    (project.root / "data/raw/notes/more").symlink_to(project.root / "data/elsewhere")
    assert texts(project) == ["a", "b"]


def test_a_link_to_nothing_is_named(project: Project) -> None:
    use(project, notes=source("data/raw/notes", "text"))
    project.put("data/raw/notes/a.txt", "a")
    (project.root / "data/raw/notes/gone.txt").symlink_to("nowhere.txt")
    with pytest.raises(StageFault, match="No such file") as fault:
        project.run("ingest")
    assert fault.value.where == "data/raw/notes/gone.txt"


def test_a_source_may_be_one_file_of_any_name(project: Project) -> None:
    use(project, notes=source("data/raw/NOTES", "markdown"))
    project.put("data/raw/NOTES", "# one")
    assert texts(project) == ["# one"]


@pytest.mark.parametrize(
    ("files", "message"), [((), "does not exist"), (("a.html",), "no file that ends in .jsonl"), (("a.jsonl",), "has no text")]
)
def test_a_source_without_text_is_refused_by_name(project: Project, files: tuple[str, ...], message: str) -> None:
    for name in files:
        project.put(f"data/raw/rows/{name}", "\n\n")
    with pytest.raises(StageFault, match=message) as fault:
        project.run("ingest")
    assert "the source rows" in fault.value.message
    assert fault.value.where == "data/raw/rows"


def test_faults_of_all_sources_are_told_in_one_run(project: Project) -> None:
    use(
        project,
        rows=source("data/raw/rows", "jsonl", "body"),
        more=source("data/raw/more", "jsonl", "text"),
        good=source("data/raw/a.txt", "text"),
    )
    project.put("data/raw/a.txt", "good")
    with pytest.raises(StageFault, match=r"(?s)2 faults.*data/raw/rows: the source rows is empty.*data/raw/more: the source more is empty"):
        project.run("ingest")
    project.put("data/raw/rows/a.jsonl", lines_of({"text": "a"}))
    project.put("data/raw/more/a.jsonl", lines_of({"text": " "}))
    with pytest.raises(StageFault, match=r"(?s)2 faults.*no field 'body'.*the source more has no text"):
        project.run("ingest")


def test_a_folder_of_texts_speaks_of_files_and_leaves_a_list_of_the_bad_ones(project: Project) -> None:
    use(project, notes=source("data/raw/notes", "text"))
    for number in range(9):
        project.put(f"data/raw/notes/{number}.txt", b"\x00\x01\x02" * 99 if number > 1 else b"good")
    with pytest.raises(StageFault, match=r"of 9 files in the source notes, 7 in doubt; also at .* and 2 further files") as fault:
        project.run("ingest")
    assert "more than 1.00% of the files" in fault.value.reason
    assert "to go on without what cannot be read, set data.pretrain.ingest.bad_rows_max to 0.778 or more" in fault.value.fix
    assert fault.value.fix.endswith("experiments/demo/logs/ingest.quarantine.jsonl")
    left = (project.folder / "logs/ingest.quarantine.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(row)["file"] for row in left] == [f"data/raw/notes/{number}.txt" for number in range(2, 9)]
    project.config["ingest"]["bad_rows_max"] = 0.778
    assert texts(project) == ["good", "good"]


@pytest.mark.parametrize(("document", "limit"), [(100, "max_document_bytes"), (1_000_000, "max_line_bytes, or set long_lines to split")])
def test_a_source_that_its_limits_leave_nothing_of_is_told_the_limit(project: Project, document: int, limit: str) -> None:
    use(project, pages=source("data/raw/pages", "html"))
    project.config["ingest"] |= {"max_line_bytes": 100, "max_document_bytes": document}
    project.put("data/raw/pages/a.html", "<p>" + "长" * 5000)
    with pytest.raises(StageFault, match="has no text") as fault:
        project.run("ingest")
    assert fault.value.fix == f"raise data.pretrain.ingest.{limit}, or take data.pretrain.sources.pages out of the spec"


def test_a_giant_line_drops_the_file(project: Project) -> None:
    use(project, pages=source("data/raw/pages", "html"))
    project.put("data/raw/pages/a.html", "<p>" + "长" * 5000)
    project.put("data/raw/pages/b.html", "<p>short</p>")
    assert texts(project) == ["<p>short</p>"]
    assert project.metrics("ingest")["dropped"] == {"oversized_line": 1}


def test_ids_depend_on_source_and_text_alone(project: Project) -> None:
    use(project, a=source("data/raw/a", "text"), b=source("data/raw/b", "text"))
    for name in ("data/raw/a/1.txt", "data/raw/a/2.txt", "data/raw/b/1.txt"):
        project.put(name, "same")
    project.run("ingest")
    first, second, third = (record.id for record in project.records("corpus/ingest"))
    assert first == second != third
