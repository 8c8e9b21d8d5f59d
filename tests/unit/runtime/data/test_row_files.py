"""Files of rows, whole or in pieces, plain or compressed: the same rows at the same places, and what is broken is told."""

import gzip
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard

from runtime.data import json_streams, row_files
from runtime.data.row_files import RawRow, ranges_of, rows_of

ROWS = [{"number": number, "text": "a\n\u72d0" * (number * 7 % 40)} for number in range(60)]


def read(path: Path) -> list[RawRow]:
    return [raw for piece in ranges_of("rows", path) for raw in rows_of(piece)]


def lines(rows: list[Any]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def array(rows: list[Any]) -> bytes:
    return b"\xef\xbb\xbf" + json.dumps(rows, indent=1, ensure_ascii=False).encode()


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks and pieces that end inside of rows and characters."""
    monkeypatch.setattr(json_streams, "BLOCK", 37)
    monkeypatch.setattr(row_files, "PIECE", 500)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("spelling", [lines, array, lambda rows: lines(rows).replace(b"\n", b"\r\n\n")])
@pytest.mark.parametrize(
    ("ending", "compress"), [("", bytes), (".gz", gzip.compress), (".zst", lambda data: zstandard.ZstdCompressor().compress(data) * 1)]
)
def test_rows_are_the_same_in_every_spelling(
    tmp_path: Path, spelling: Callable[[list[Any]], bytes], ending: str, compress: Callable[[bytes], bytes]
) -> None:
    path = tmp_path / f"rows.json{ending}"
    path.write_bytes(compress(spelling(ROWS)))
    found = read(path)
    assert [raw.row for raw in found] == ROWS and not any(raw.fault for raw in found)
    text = spelling(ROWS).decode("utf-8-sig").split("\n")
    for raw, row in zip(found, ROWS, strict=True):
        begun = text[int(raw.where.split(":")[1]) - 1]
        assert begun.lstrip().startswith("{") and (spelling is array or json.loads(begun) == row)


@pytest.mark.usefixtures("small")
def test_pieces_cover_a_file_once(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(lines(ROWS).removesuffix(b"\n"))
    pieces = list(ranges_of("rows", path))
    assert len(pieces) > 5
    assert [piece.start for piece in pieces[1:]] == [piece.end for piece in pieces[:-1]] and pieces[-1].end == path.stat().st_size


@pytest.mark.parametrize("content", [b"", b"\n\n", b"[]", b" [ ] \n", b"\xef\xbb\xbf"])
def test_a_file_without_rows_has_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "rows.json").write_bytes(content)
    assert read(tmp_path / "rows.json") == []


@pytest.mark.parametrize(
    ("name", "content", "places", "message"),
    [
        ("a.jsonl", b'{"a": 1}\n{"a"\n{"a": 3}\n', [1, 2, 3], "not a JSON object"),
        ("a.jsonl", b'{"a": 1}\n{"a": "\xff"}\n{"a": 3}\n', [1, 2, 3], "not UTF-8: byte 7 of the row (invalid start byte)"),
        ("a.jsonl", b'{"a": 1}\n3\n{"a": 3}\n', [1, 2, 3], "a int, not a JSON object"),
        ("a.json", b'[{"a": 1},\n "x",\n {"a": 3}]', [1, 2, 3], "a str, not a JSON object"),
        ("a.json", b'[{"a": 1},\n {"a": "\xff"},\n {"a": 3}]', [1, 2, 3], "not UTF-8: byte 7 of the row (invalid start byte)"),
        ("a.json", b'[{"a": 1},\n {"a": "\\ud800"},\n {"a": 3}]', [1, 2, 3], "not a JSON object"),
        ("a.json", b'[{"a": 1},\n {"a" 2},\n {"a": 3}]', [1, 2], "the rest of the file cannot be read"),
        ("a.json", b'[{"a": 1},\n {"a": ', [1, 2], "the rest of the file cannot be read"),
        ("a.json", b'[{"a": 1},\n' + b"[" * 100_000, [1, 2], "the rest of the file cannot be read"),
        ("a.json", b'[{"a": 1},\n', [1, 2], "the array has no end"),
        ("a.json", b'[{"a": 1}\n]\n[{"a": 2}]', [1, 3], "something follows the array"),
        ("a.json", b'{\n "a": 1\n}\n{\n "a" 2\n}', [1, 4], "the rest of the file cannot be read"),
        ("a.json", b'{\n "a": 1,\n}', [1], "the rest of the file cannot be read"),
        ("a.json", b'{"a": 1\n{"a": 2}\n', [1, 2], "not a JSON object"),
        ("a.json", b'{"a": 1}\nthis\n{"a": 3}', [1, 2, 3], "not a JSON object"),
        ("a.jsonl.gz", b"no gzip at all", [1], "damaged"),
        ("a.jsonl.zst", b"no zstandard at all", [1], "damaged"),
    ],
)
def test_what_is_broken_is_told_at_its_line_and_the_rest_is_read(
    tmp_path: Path, name: str, content: bytes, places: list[int], message: str
) -> None:
    (tmp_path / name).write_bytes(content)
    found = read(tmp_path / name)
    faults = [raw.fault for raw in found if raw.fault]
    assert {int(raw.where.split(":")[1]) for raw in found} >= {*places[:1]} and message in faults[0].message
    if not name.endswith((".gz", ".zst")):
        assert [int(raw.where.split(":")[1]) for raw in found] == places and len(faults) == 1
        assert faults[0].where in (raw.where for raw in found if not raw.row)


@pytest.mark.parametrize(("ending", "compress"), [(".gz", gzip.compress), (".zst", zstandard.compress)])
@pytest.mark.parametrize("spelling", [lines, array])
@pytest.mark.parametrize("count", [30, 1500])
def test_rows_before_the_cut_of_an_archive_are_read_and_the_cut_is_told_with_its_byte(
    tmp_path: Path, ending: str, compress: Callable[[bytes], bytes], spelling: Callable[[list[Any]], bytes], count: int
) -> None:
    draw = random.Random(3)
    rows = [{"number": number, "text": draw.randbytes(200).hex()} for number in range(count)]
    content = spelling(rows)
    packed = compress(content)
    (tmp_path / f"rows.json{ending}").write_bytes(packed[: len(packed) * 2 // 3])
    *sound, last = read(tmp_path / f"rows.json{ending}")
    assert [raw.row for raw in sound] == rows[: len(sound)] and last.fault is not None
    byte = int(last.fault.message.split("behind byte ")[1].split(" ")[0])
    assert ending == ".zst" or 0.6 * len(content) < byte < 0.7 * len(content)
    assert len(sound) in (content[:byte].count(b'"number"'), content[:byte].count(b'"number"') - 1)
    if spelling is lines:
        assert last.where == f"rows:{len(sound) + 1}"


@pytest.mark.parametrize("indent", [2, None])
@pytest.mark.parametrize("blank", ["", "\ufeff", "\n \r\n"])
@pytest.mark.parametrize("packed", [False, True])
def test_a_json_file_may_be_one_object_over_many_lines_or_several(tmp_path: Path, indent: int | None, blank: str, packed: bool) -> None:
    for rows in (ROWS[:1], ROWS[3:6]):
        content = (blank + "\n".join(json.dumps(row, indent=indent) for row in rows) + "\n").encode()
        path = tmp_path / ("rows.json.gz" if packed else "rows.json")
        path.write_bytes(gzip.compress(content) if packed else content)
        found = read(path)
        assert [raw.row for raw in found] == rows and not any(raw.fault for raw in found)
        begun = blank.count("\n") + 1
        assert found[-1].where == f"rows:{begun + (len(rows) - 1) * (4 if indent else 1)}"


def test_a_file_that_is_gone_or_is_none_is_a_row_with_a_fault(tmp_path: Path) -> None:
    (tmp_path / "folder.jsonl").mkdir()
    (tmp_path / "link.jsonl").symlink_to("nowhere")
    for name, message in (("folder.jsonl", "is a folder, not a file"), ("link.jsonl", "No such file"), ("gone.jsonl.gz", "No such file")):
        (only,) = read(tmp_path / name)
        assert only.fault is not None and message in only.fault.message and only.where == "rows:1"


def test_numbers_that_json_does_not_know_cost_no_row(tmp_path: Path) -> None:
    """Libraries of tables write NaN where nothing was; others write whole numbers of any length."""
    fields = ["NaN", "Infinity", "-Infinity", "9" * 400, "1e400", "-123456789012345678901234567890", "5", '[1, {"b": NaN}]']
    for name, text in (("a.jsonl", "\n".join), ("a.json", lambda rows: f"[{', '.join(rows)}]")):
        (tmp_path / name).write_text(text([f'{{"a": {field}, "text": "{number}"}}' for number, field in enumerate(fields)]))
        found = read(tmp_path / name)
        assert [raw.row.get("text") for raw in found] == [str(number) for number in range(len(fields))]
        assert [raw.row["a"] for raw in found][4:7] == [float("inf"), -123456789012345678901234567890.0, 5]


def test_a_row_that_is_too_long_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_streams, "LONGEST", 1000)
    monkeypatch.setattr(json_streams, "BLOCK", 300)
    for name, spelling in (("a.jsonl", lines), ("a.json", array)):
        (tmp_path / name).write_bytes(spelling([{"a": 1}, {"a": "x" * 3000}, {"a": 3}]))
        found = read(tmp_path / name)
        assert found[0].row == {"a": 1} and found[1].fault is not None
        assert "of 301" in found[1].fault.message if name == "a.jsonl" else "cannot be read" in found[1].fault.message
    assert read(tmp_path / "a.jsonl")[2].row == {"a": 3}


def test_bytes_of_any_kind_end_in_rows_or_faults(tmp_path: Path) -> None:
    draw = random.Random(7)
    for number in range(150):
        content = bytearray(draw.choice([lines, array])(ROWS[:5]))
        for _ in range(draw.randrange(1, 6)):
            content[draw.randrange(len(content))] = draw.randrange(256)
        path = tmp_path / f"{number}.json"
        path.write_bytes(content[: draw.randrange(len(content))])
        assert all(bool(raw.fault) != bool(raw.row) or raw.row == {} for raw in read(path))


@pytest.mark.usefixtures("small")
def test_blank_lines_before_an_array_do_not_make_it_lines(tmp_path: Path) -> None:
    (tmp_path / "rows.json").write_bytes(b" \r\n" * 70 + array(ROWS).removeprefix(row_files.MARK))
    found = read(tmp_path / "rows.json")
    assert [raw.row for raw in found] == ROWS and found[0].where == "rows:72"


def test_endings_are_known_in_capitals(tmp_path: Path) -> None:
    for name in ("A.JSONL", "b.Json", "C.JSONL.GZ", "d.txt"):
        (tmp_path / "rows" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "rows" / name).write_bytes(gzip.compress(lines(ROWS)) if name.endswith("GZ") else lines(ROWS))
    files = row_files.files_of(tmp_path, "rows")
    assert [shown for shown, _ in files] == ["rows/A.JSONL", "rows/C.JSONL.GZ", "rows/b.Json"]
    assert all([raw.row for raw in read(path)] == ROWS for _, path in files)
