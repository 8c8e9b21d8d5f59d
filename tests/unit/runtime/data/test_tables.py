"""CSV and Parquet as sources: one column, physical lines, quoting, rows that cannot be read."""

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pyarrow
import pytest
import zstandard
from corpora import Project, source
from pyarrow import parquet

from runtime.faults import StageFault


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    made = Project(tmp_path, {"rows": source("data/raw/rows", "csv", "text")})
    made.config["ingest"]["bad_rows_max"] = 0.5
    monkeypatch.chdir(made.folder)
    return made


def texts(project: Project) -> list[tuple[str, int]]:
    project.run("ingest")
    return [(record.text, record.meta["line"]) for record in project.records("corpus/ingest")]


def quarantined(project: Project) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (project.folder / "corpus/ingest/quarantine.jsonl").read_text("utf-8").splitlines()]


def rows(project: Project, **settings: Any) -> None:
    project.config["ingest"]["sources"] = {"rows": {**source("data/raw/rows", "csv", "text"), **settings}}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_quoted_field_may_hold_delimiters_quotes_and_line_ends(project: Project, end: str, mark: str) -> None:
    lines = ["id,text,note", '1,"a, ""b""', '二",x', "", "2,c\u2028d,", '3,"",y', "4,e,z"]
    project.put("data/raw/rows/a.csv", mark + end.join(lines) + end)
    assert texts(project) == [('a, "b"\n二', 2), ("c\u2028d", 5), ("e", 7)]
    assert project.metrics("ingest")["dropped"] == {"empty": 1}


@pytest.mark.parametrize(
    ("name", "delimiter", "sign"), [("a.tsv", None, "\t"), ("a.csv", ";", ";"), ("a.tsv.gz", None, "\t"), ("a.csv.zst", None, ",")]
)
def test_the_delimiter_comes_from_the_extension_or_the_source(project: Project, name: str, delimiter: str | None, sign: str) -> None:
    data = f"text{sign}id\na b{sign}1\n".encode()
    pack = {".gz": gzip.compress, ".zst": zstandard.compress}.get(Path(name).suffix, bytes)
    project.put(f"data/raw/rows/{name}", pack(data))
    rows(project, delimiter=delimiter)
    assert texts(project) == [("a b", 2)]


@pytest.mark.parametrize("encoding", ["gbk", "utf-16", "utf-8-sig", "big5"])
def test_a_table_in_another_encoding(project: Project, encoding: str) -> None:
    project.put("data/raw/rows/a.csv", 'text,id\n一言,1\n"二,三\n四",2\n'.encode(encoding))
    rows(project, language="zh")
    assert texts(project) == [("一言", 2), ("二,三\n四", 3)]


def test_rows_that_cannot_be_read_are_named_by_line_and_byte(project: Project) -> None:
    content = b'text,id\na,1\nb,2,3\nc\n"d"x,4\ne\xff,5\n' + "文字,6\n".encode() * 4 + b'"g,7\n'
    project.put("data/raw/rows/a.csv", content)
    assert [text for text, _ in texts(project)] == ["a", *["文字"] * 4]
    told = [(bad["reason"], bad["line"], bad["offset"]) for bad in quarantined(project)]
    assert told == [
        ("wrong_columns", 3, content.index(b"b,2")),
        ("wrong_columns", 4, content.index(b"c\n")),
        ("not_csv", 5, content.index(b'"d"')),
        ("undecodable", 6, content.index(b"e\xff")),
        ("not_csv", 11, content.index(b'"g')),
    ]


def test_a_row_with_a_line_that_is_too_long_is_dropped_whole(project: Project) -> None:
    long = "x" * 20_000
    project.put("data/raw/rows/a.csv", f'text,id\n{long},1\n"a\n{long}\nb",2\nc,3\n')
    assert texts(project) == [("c", 6)]
    assert project.metrics("ingest")["dropped"] == {"oversized_line": 2}


def test_a_table_without_the_column_is_refused_with_what_it_has(project: Project) -> None:
    project.put("data/raw/rows/a.csv", "body,id\na,1\n")
    with pytest.raises(StageFault, match="the table has no field 'text'; it has: body, id") as fault:
        project.run("ingest")
    assert fault.value.where == "data/raw/rows/a.csv:1"


@pytest.mark.parametrize(
    ("content", "message", "fix"),
    [
        ("text,id,text\na,1,b\n", "the table has 2 columns 'text'", "name of its own"),
        ("text;id\na;1\n", "has no field 'text'; it has: text;id", "set `delimiter`"),
        ("id, text\n1, a\n", "it has: ' text', id", "`text_field`"),
    ],
)
def test_columns_that_cannot_be_told_apart_are_refused(project: Project, content: str, message: str, fix: str) -> None:
    project.put("data/raw/rows/a.csv", content)
    with pytest.raises(StageFault, match=re.escape(message)) as fault:
        project.run("ingest")
    assert fix in str(fault.value.fix)


def write(project: Project, table: dict[str, Any], name: str = "a.parquet", **options: Any) -> None:
    path = project.root / "data/raw/rows" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(pyarrow.table(table), path, **options)
    rows(project, format="parquet")


@pytest.mark.parametrize("compression", ["none", "snappy", "zstd", "gzip"])
@pytest.mark.parametrize("kind", [pyarrow.string(), pyarrow.large_string(), pyarrow.dictionary(pyarrow.int32(), pyarrow.string())])
def test_parquet_of_several_row_groups(project: Project, kind: pyarrow.DataType, compression: str) -> None:
    values = [f"第{number}行" if number % 3 else None for number in range(1, 3001)]
    write(project, {"id": range(3000), "text": pyarrow.array(values).cast(kind)}, row_group_size=700, compression=compression)
    assert texts(project) == [(value, number) for number, value in enumerate(values, 1) if value]
    assert project.metrics("ingest")["dropped"] == {"empty": 1000}


def test_a_list_of_strings_becomes_lines(project: Project) -> None:
    write(project, {"text": [["a", "b"], [], None, ["c", None]]})
    assert texts(project) == [("a\nb", 1)]
    assert [(bad["reason"], bad["line"]) for bad in quarantined(project)] == [("wrong_type", 4)]


def test_bytes_that_are_not_utf_8_in_parquet(project: Project) -> None:
    broken = pyarrow.array([b"a", b"\xff\xfe", b"c"]).view(pyarrow.string())
    write(project, {"text": broken})
    assert texts(project) == [("a", 1), ("c", 3)]
    assert [(bad["reason"], bad["line"], bad["row"]) for bad in quarantined(project)] == [("undecodable", 2, r"\xff\xfe")]


@pytest.mark.parametrize(
    ("table", "message"), [({"text": [1, 2]}, "the column 'text' holds int64, not text"), ({"body": ["a"]}, "has no field 'text'")]
)
def test_a_column_that_holds_no_text(project: Project, table: dict[str, Any], message: str) -> None:
    write(project, table)
    with pytest.raises(StageFault, match=message):
        project.run("ingest")


@pytest.mark.parametrize("keep", [0, 3, 200, -10])
def test_parquet_that_is_cut_off_is_refused_by_name(project: Project, keep: int) -> None:
    write(project, {"text": [f"row {number}" for number in range(1000)]})
    path = project.root / "data/raw/rows/a.parquet"
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(StageFault, match="not Parquet") as fault:
        project.run("ingest")
    assert fault.value.where.startswith("data/raw/rows/a.parquet")


def test_columns_of_one_name_in_parquet_are_refused(project: Project) -> None:
    rows(project, format="parquet")
    twice = pyarrow.Table.from_arrays([pyarrow.array(["a"]), pyarrow.array(["b"])], names=["text", "text"])
    (project.root / "data/raw/rows").mkdir(parents=True)
    parquet.write_table(twice, project.root / "data/raw/rows/a.parquet")
    with pytest.raises(StageFault, match="the table has 2 columns 'text'"):
        project.run("ingest")


@pytest.mark.parametrize("kind", [pyarrow.binary(), pyarrow.large_binary()])
def test_a_column_of_bytes_is_read_as_utf_8(project: Project, kind: pyarrow.DataType) -> None:
    write(project, {"text": pyarrow.array(["甲".encode(), None, "乙".encode("gbk"), b"b"], kind)})
    assert texts(project) == [("甲", 1), ("b", 4)]
    assert [bad["line"] for bad in quarantined(project)] == [3]
