"""Writing: whole or not at all, one process at a time."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from compiler.emit import write
from compiler.emit.write import remove_stale, write_files

CHECKOUT = Path(__file__).parents[3]
WRITER = """
import sys
from pathlib import Path
from compiler.emit.write import write_files
content = sys.argv[2].encode() * 200_000
while True:
    write_files(Path(sys.argv[1]), {f"folder/{name}": content for name in "abc"})
    if len(sys.argv) > 3:
        break
    content = content[1:] + content[:1]
"""


def start(root: Path, content: str, *once: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", WRITER, str(root), content, *once], env={**os.environ, "PYTHONPATH": str(CHECKOUT)})


def test_no_half_written_file_is_ever_seen(tmp_path: Path) -> None:
    for attempt in range(6):
        with start(tmp_path, "ab") as process:
            while process.poll() is None and not all((tmp_path / "folder" / name).exists() for name in "abc"):
                time.sleep(0.001)
            time.sleep(0.003 * attempt)
            process.send_signal(signal.SIGKILL)
        assert process.returncode == -signal.SIGKILL
        for name in "abc":  # the next one starts without them, but with what this one left beside them
            assert (tmp_path / "folder" / name).read_bytes() in (b"ab" * 200_000, b"ba" * 200_000)
            (tmp_path / "folder" / name).unlink()
    write_files(tmp_path, {f"folder/{name}": b"end" for name in "abc"})
    assert {path.name for path in (tmp_path / "folder").iterdir() if not path.name.startswith(".")} == {"a", "b", "c"}


def test_two_that_write_at_once_leave_the_files_of_one(tmp_path: Path) -> None:
    processes = [start(tmp_path, letter, "once") for letter in "uvwxyz"]
    assert [process.wait() for process in processes] == [0] * 6
    assert len({(tmp_path / "folder" / name).read_bytes() for name in "abc"}) == 1
    assert sorted(path.name for path in (tmp_path / "folder").iterdir()) == ["a", "b", "c"]


def test_a_full_disk_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files(tmp_path, {"x/a": b"old", "x/b": b"old"})

    def full(descriptor: int) -> None:
        if (tmp_path / "x/.b.writing").exists():
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(write.os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_files(tmp_path, {"x/a": b"new", "x/b": b"new"})
    assert {path.name: path.read_bytes() for path in (tmp_path / "x").iterdir()} == {"a": b"old", "b": b"old"}


def test_nothing_is_written_where_nothing_differs(tmp_path: Path) -> None:
    assert write_files(tmp_path, {"a": b"1"}) == ("a",)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    assert write_files(tmp_path, {"a": b"1"}) == ()
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_folders_are_not_stale_files(tmp_path: Path) -> None:
    (tmp_path / "config/kept.yaml").mkdir(parents=True)
    (tmp_path / "config/old.yaml").symlink_to("nowhere")
    assert remove_stale(tmp_path, "config", "*.yaml", {}) == ("config/old.yaml",)
    assert (tmp_path / "config/kept.yaml").is_dir()
