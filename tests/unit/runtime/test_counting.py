"""One thing is told in the singular, wherever a message counts."""

from pathlib import Path

import pytest

from compiler.diagnostics import Diagnostic, render
from runtime.contracts.counting import counted
from runtime.data import mindrecord
from runtime.data.holding_out import _too_few  # pyright: ignore[reportPrivateUsage]
from runtime.faults import StageFault


def test_only_one_is_singular() -> None:
    assert [counted(number, "row") for number in (0, 1, 2)] == ["0 rows", "1 row", "2 rows"]
    assert counted(1, "micro batch", "micro batches") == "1 micro batch"
    assert counted(2, "micro batch", "micro batches") == "2 micro batches"
    assert counted(12345, "row", form=",") == "12,345 rows"


@pytest.mark.parametrize(
    ("count", "by", "told"),
    [(1, "document", "has 1 distinct document,"), (0, "document", "has 0 distinct documents,"), (1, "file", "has 1 file without")],
)
def test_a_split_of_too_little(count: int, by: str, told: str) -> None:
    assert told in str(_too_few(count, by))


def test_no_row_for_two_shards(tmp_path: Path) -> None:
    with pytest.raises(StageFault, match="train has 0 rows for 2 shards"):
        mindrecord.write(tmp_path, "train", iter(()), columns=("input_ids",), shards=2)


def test_one_error() -> None:
    one = Diagnostic("MS0001", "x")
    assert render([one], language="en").endswith("\n1 error") and render([one, one], language="en").endswith("\n2 errors")
