"""MindRecord files: all rows come back, files may move together, and their bytes do not know where they were written."""

import sqlite3
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest

from runtime.data import mindrecord, mindrecord_pages
from runtime.data.mindrecord_library import Writer
from runtime.faults import StageFault


def rows(count: int, length: int = 9) -> Iterator[dict[str, np.ndarray]]:
    generator = np.random.default_rng(1)
    for _ in range(count):
        yield {"input_ids": generator.integers(0, 4000, length)}


def blocks(some: Iterable[Mapping[str, np.ndarray]]) -> Iterator[dict[str, np.ndarray]]:
    """Each row as a block."""
    for row in some:
        yield {column: values[np.newaxis] for column, values in row.items()}


def write(folder: Path, count: int = 50, shards: int = 1) -> mindrecord.Written:
    folder.mkdir(parents=True)
    return mindrecord.write(folder, "train", blocks(rows(count)), columns=("input_ids",), shards=shards)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_int64_rows_are_cast_and_all_come_back_in_order(tmp_path: Path) -> None:
    written = write(tmp_path / "a", count=2500)
    found = list(mindrecord.read(tmp_path / "a", "train.mindrecord"))
    assert written == mindrecord.Written(("train.mindrecord",), 2500)
    assert all(row["input_ids"].dtype == np.int32 for row in found)
    assert [row["input_ids"].tolist() for row in found] == [row["input_ids"].tolist() for row in rows(2500)]


@pytest.mark.parametrize(("shards", "last"), [(2, "train/train.mindrecord1"), (12, "train/train.mindrecord11")])
def test_shards_hold_the_same_rows_and_have_the_names_that_are_reported(tmp_path: Path, shards: int, last: str) -> None:
    written = write(tmp_path / "a", shards=shards)
    assert written.files[-1] == last and len(written.files) == shards
    assert sorted(contents(tmp_path / "a")) == sorted([*written.files, *(f"{file}.db" for file in written.files)])
    found = [[row["input_ids"].tolist() for row in mindrecord.read(tmp_path / "a", file)] for file in written.files]
    given = [row["input_ids"].tolist() for row in rows(50)]
    assert found == [given[shard::shards] for shard in range(shards)]


def test_mindspore_reads_a_folder_of_shards_as_one_data_set(tmp_path: Path) -> None:
    from mindspore.dataset import MindDataset

    written = write(tmp_path / "a", shards=3)
    files = [str(tmp_path / "a" / file) for file in written.files]
    stored: Any = MindDataset(files, shuffle=False).create_dict_iterator(num_epochs=1, output_numpy=True)
    found = [row["input_ids"].tolist() for row in stored]
    assert sorted(found) == sorted(row["input_ids"].tolist() for row in rows(50))


@pytest.mark.parametrize(("shards", "count"), [(1, 50), (3, 50), (2, 23), (4, 23)])
def test_bytes_do_not_depend_on_the_place_and_a_folder_can_be_moved(tmp_path: Path, shards: int, count: int) -> None:
    write(tmp_path / "a", count, shards)
    before = contents(tmp_path / "a")
    for place in map(str, range(5)):
        write(tmp_path / f"a much longer place {place}/b", count, shards)
        assert contents(tmp_path / f"a much longer place {place}/b") == before
    (tmp_path / "a").rename(tmp_path / "moved")
    assert contents(tmp_path / "moved") == before
    files = mindrecord.file_names("train", shards)
    assert sum(1 for file in files for _ in mindrecord.read(tmp_path / "moved", file)) == count
    names = sqlite3.connect(tmp_path / "moved" / f"{files[0]}.db").execute("select name from shard_name").fetchall()
    assert names == [(Path(files[0]).name,)]


def test_files_are_small_and_readable_by_all(tmp_path: Path) -> None:
    write(tmp_path / "a")
    data = tmp_path / "a/train.mindrecord"
    assert data.stat().st_size < 2_000_000
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "a").iterdir()} == {0o644}


@pytest.mark.parametrize(
    "wrong",
    [
        np.asarray(wrong)
        for wrong in ([2**33], [-(2**31) - 1], [1.0], [float("nan")], [[1]], 1, [True], ["1"], None, np.asarray([1, None], object))
    ],
)
def test_a_row_that_the_writer_would_drop_silently_is_refused_by_number(tmp_path: Path, wrong: np.ndarray) -> None:
    some = [{"input_ids": np.asarray([1])}, {"input_ids": wrong}]
    with pytest.raises(StageFault, match="train row 1: input_ids is not a list of 32-bit integers"):
        mindrecord.write(tmp_path, "train", blocks(some), columns=("input_ids",))


def test_a_row_without_a_column_is_refused_by_number(tmp_path: Path) -> None:
    whole = {"input_ids": np.asarray([1]), "labels": np.asarray([1])}
    some = [whole, whole, {"input_ids": np.asarray([1])}]
    with pytest.raises(StageFault, match="labels is missing") as fault:
        mindrecord.write(tmp_path, "train", blocks(some), columns=("input_ids", "labels"))
    assert fault.value.where == "train row 2"


def test_of_three_rows_of_which_one_is_int64_all_come_back(tmp_path: Path) -> None:
    some = [{"input_ids": np.asarray([1, 2, place], kind)} for place, kind in enumerate((np.int32, np.int64, np.int32))]
    assert mindrecord.write(tmp_path, "train", blocks(some), columns=("input_ids",)).rows == 3
    assert [row["input_ids"].tolist() for row in mindrecord.read(tmp_path, "train.mindrecord")] == [[1, 2, 0], [1, 2, 1], [1, 2, 2]]


@pytest.mark.parametrize("shards", [1, 3])
@pytest.mark.parametrize("sizes", [[50], [1, 0, 48, 1], [17, 33]])
def test_rows_that_come_many_at_a_time_are_the_same_files(tmp_path: Path, sizes: list[int], shards: int) -> None:
    write(tmp_path / "a", shards=shards)
    whole = np.stack([row["input_ids"] for row in rows(50)])
    parts = ({"input_ids": part} for part in np.split(whole, np.cumsum(sizes)[:-1]))
    (tmp_path / "b").mkdir()
    mindrecord.write(tmp_path / "b", "train", parts, columns=("input_ids",), shards=shards)
    assert contents(tmp_path / "b") == contents(tmp_path / "a")


def test_columns_of_different_numbers_of_rows_are_refused(tmp_path: Path) -> None:
    block = {"input_ids": np.zeros((3, 2), np.int32), "labels": np.zeros((2, 2), np.int32)}
    with pytest.raises(StageFault, match="different numbers of rows: input_ids 3, labels 2"):
        mindrecord.write(tmp_path, "train", [block], columns=("input_ids", "labels"))


def test_fewer_rows_than_shards_are_refused(tmp_path: Path) -> None:
    with pytest.raises(StageFault, match="train has 3 rows for 4 shards"):
        write(tmp_path / "a", count=3, shards=4)


def test_a_large_file_gets_room_for_its_table_of_pages(tmp_path: Path) -> None:
    assert mindrecord.header_size(0) == mindrecord.HEADER
    assert mindrecord.header_size(10**9) >= 2 * 10**9 // mindrecord.PAGE * 1000
    assert mindrecord.header_size(10**15) == mindrecord.MAX_HEADER


def test_rows_that_do_not_come_back_are_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writes = Writer.write
    monkeypatch.setattr(Writer, "write", lambda writer, rows: writes(writer, {"input_ids": rows["input_ids"][1:]}))
    with pytest.raises(StageFault, match="49 of 50 rows came back"):
        write(tmp_path / "a")
    monkeypatch.setattr(Writer, "write", lambda writer, rows: writes(writer, {"input_ids": rows["input_ids"][::-1]}))
    with pytest.raises(StageFault, match="other values come back in 50 rows"):
        write(tmp_path / "b")


def test_rows_that_come_back_cut_elsewhere_are_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writes, seen = Writer.write, list[int]()

    def shifted(writer: Writer, given: Mapping[str, np.ndarray]) -> None:
        whole = given["input_ids"].reshape(1, -1)
        seen.append(whole.size)
        for part in (whole[:, :8], whole[:, 8:]):
            writes(writer, {"input_ids": part})

    monkeypatch.setattr(Writer, "write", shifted)
    with pytest.raises(StageFault, match="other values come back in 2 rows"):
        write(tmp_path / "a", count=2)
    assert seen == [18]


LIMITS = [edge for width in (7, 8, 15, 16, 31) for edge in (-(2**width), -(2**width) - 1, 2**width, 2**width - 1)]


@pytest.mark.parametrize("length", [1, 3, 4, 21])
@pytest.mark.parametrize("columns", [("input_ids",), ("input_ids", "labels")])
def test_pages_hold_what_the_library_reads(tmp_path: Path, length: int, columns: tuple[str, ...]) -> None:
    numbers = np.resize(np.asarray([0, -100, *(edge for edge in LIMITS if -(2**31) <= edge < 2**31)], np.int64), (600, length))
    some = [{column: np.roll(row, place) for place, column in enumerate(columns)} for row in numbers]
    mindrecord.write(tmp_path, "train", blocks(some), columns=columns)
    found = list(mindrecord_pages.blocks(tmp_path / "train.mindrecord", columns))
    for place, column in enumerate(columns):
        read = [row[column] for row in mindrecord.read(tmp_path, "train.mindrecord")]
        given = np.roll(numbers, place, axis=1).tolist()
        assert np.concatenate([block[column] for block in found]).tolist() == np.stack(read).tolist() == given


def test_a_file_that_is_laid_out_otherwise_is_read_by_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def otherwise(path: Path, columns: Sequence[str]) -> NoReturn:
        raise mindrecord_pages.Unexpected

    monkeypatch.setattr(mindrecord_pages, "blocks", otherwise)
    assert write(tmp_path / "a").rows == 50
    writes = Writer.write
    monkeypatch.setattr(Writer, "write", lambda writer, rows: writes(writer, {"input_ids": rows["input_ids"][1:]}))
    with pytest.raises(StageFault, match="49 of 50 rows came back"):
        write(tmp_path / "b")


@pytest.mark.parametrize("columns", [("input_ids",), ("input_ids", "labels")])
def test_the_bytes_are_those_of_the_public_writer(tmp_path: Path, columns: tuple[str, ...]) -> None:
    from mindspore.mindrecord import FileWriter

    some = [{column: np.asarray(row["input_ids"], np.int32) for column in columns} for row in rows(50)]
    mindrecord.write(tmp_path, "train", blocks(some), columns=columns)
    (tmp_path / "public").mkdir()
    writer = FileWriter(str(tmp_path / "public/train.mindrecord"))
    writer.set_page_size(mindrecord.PAGE)
    writer.set_header_size(mindrecord.HEADER)
    writer.add_schema({column: {"type": "int32", "shape": [-1]} for column in columns}, "rows")
    writer.write_raw_data(some)
    writer.commit()
    assert contents(tmp_path / "public") == {name: held for name, held in contents(tmp_path).items() if "/" not in name}


def test_writing_and_reading_load_nothing_else_of_mindspore_which_can_still_be_imported(tmp_path: Path) -> None:
    said = subprocess.run(
        [sys.executable, "-c", ALONE, str(tmp_path)], check=True, capture_output=True, text=True, cwd=Path(__file__).parents[4]
    ).stdout
    assert said.split() == ["False", "3", "3"]


ALONE = """
import sys
from pathlib import Path
import numpy as np
from runtime.data import mindrecord
folder = Path(sys.argv[1])
mindrecord.write(folder, "train", [{"input_ids": np.arange(12).reshape(3, 4)}], columns=("input_ids",))
print("mindspore" in sys.modules, sum(1 for _ in mindrecord.read(folder, "train.mindrecord")))
from mindspore.mindrecord import FileReader
print(sum(1 for _ in FileReader(str(folder / "train.mindrecord")).get_next()))
"""


def test_rows_of_many_lengths_come_back_too(tmp_path: Path) -> None:
    some = [{"input_ids": np.arange(length)} for length in (3, 1, 7)]
    mindrecord.write(tmp_path, "train", blocks(some), columns=("input_ids",))
    assert [row["input_ids"].tolist() for row in mindrecord.read(tmp_path, "train.mindrecord")] == [list(range(n)) for n in (3, 1, 7)]


@pytest.mark.parametrize("columns", [("input_ids",), ("input_ids", "labels")])
def test_rows_of_the_longest_contexts_are_written_and_small_ones_keep_their_pages(tmp_path: Path, columns: tuple[str, ...]) -> None:
    long = [{column: np.arange(131_073) + 2**30 + place for column in columns} for place in range(3)]
    mindrecord.write(tmp_path, "train", blocks(long), columns=columns)
    assert [row[columns[-1]].tolist() for row in mindrecord.read(tmp_path, "train.mindrecord")] == [
        row[columns[-1]].tolist() for row in long
    ]
    assert mindrecord.page_size(0) == mindrecord.page_size(2 * 8193) == mindrecord.PAGE
    assert mindrecord.page_size(2 * 1_048_577) >= 2 * 1_048_577 * 4.25
