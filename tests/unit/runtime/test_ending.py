"""How a stage ends: its exit code, what it says, and what it leaves for the program that started it."""

import errno
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from runtime.contracts.base import Contract
from runtime.ending import ended
from runtime.faults import StageFault

CONTRACT = Contract(name="double", program="double_program", parameters=None, output="results/double")


@pytest.fixture(autouse=True)
def experiment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "experiments" / "demo"
    (folder / "config").mkdir(parents=True)
    (folder / "config/environment.yaml").write_text(f'python: "{sys.version_info.major}.{sys.version_info.minor}"\n')
    (folder / "config/double.yaml").write_text("a: 1\n")
    monkeypatch.chdir(folder)
    return folder


def caused(error: Exception, cause: BaseException) -> Exception:
    error.__cause__ = cause
    return error


def end_with(monkeypatch: pytest.MonkeyPatch, error: BaseException | None) -> int:
    def run(stage: Any) -> None:
        with stage.bar(2, "rows") as bar:
            bar.advance()
            if error:
                raise error

    monkeypatch.setitem(sys.modules, "double_program", SimpleNamespace(run=run))
    return ended(CONTRACT)


def kind() -> str:
    return json.loads(Path("logs/double.fault.json").read_text())["kind"]


@pytest.mark.parametrize(
    ("error", "code", "left"),
    [
        (StageFault("no text", where="a.txt:1"), 1, "refused"),
        (OSError(errno.ENOSPC, "No space left on device", "x"), 1, "refused"),
        (OSError(errno.EFBIG, "File too large"), 1, "refused"),
        (OSError("359532 requested and 300000 written"), 1, "refused"),
        (FileExistsError(errno.EEXIST, "File exists", "x"), 1, "refused"),
        (RuntimeError("[ERROR] No free disk to be used while writing mindrecord files, available free disk size: 0"), 1, "refused"),
        (RuntimeError("Error while serializing: I/O error: No space left on device (os error 28)"), 1, "refused"),
        (MemoryError(), 1, "refused"),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), 1, "refused"),
        (RuntimeError("can't start new thread"), 1, "refused"),
        (caused(ImportError("numpy is broken"), ImportError("x.so: failed to map segment from shared object")), 1, "refused"),
        (caused(KeyError("x"), MemoryError("std::bad_alloc")), 1, "refused"),
        (OSError(errno.ENOENT, "No such file or directory", "x"), 3, "failed"),
        (ZeroDivisionError("division by zero"), 3, "failed"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (caused(ImportError("initialization failed"), KeyboardInterrupt()), 130, "interrupted"),
    ],
)
def test_every_end_has_its_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: BaseException, code: int, left: str
) -> None:
    assert end_with(monkeypatch, error) == code
    said = capsys.readouterr().err
    assert ("Traceback" in said, kind()) == (code == 3, left)
    assert not Path("results").exists()


def test_a_later_success_leaves_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    assert end_with(monkeypatch, StageFault("no text")) == 1
    assert end_with(monkeypatch, None) == 0
    assert not Path("logs/double.fault.json").exists()


def test_a_bar_does_not_say_done_where_the_work_stopped(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    end_with(monkeypatch, StageFault("no text"))
    assert "double: stopped after 1 of 2 rows" in capfd.readouterr().err
    end_with(monkeypatch, None)
    assert "double: 1 of 2 rows done" in capfd.readouterr().err


@pytest.mark.parametrize("name", ["logs", ".scratch"])
def test_a_file_where_a_folder_should_be_is_refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str) -> None:
    Path(name).write_text("")
    assert end_with(monkeypatch, None) == 1
    said = capsys.readouterr().err
    assert name in said
    assert "Traceback" not in said


PARENT = """
import subprocess, sys, time
child = "from runtime.__main__ import _end_with_dvc; import time; _end_with_dvc(); print('ready', flush=True); time.sleep(60)"
process = subprocess.Popen([sys.executable, "-c", child], stdout=subprocess.PIPE)
process.stdout.readline()
print(process.pid, flush=True)
time.sleep(60)
"""


def test_a_stage_ends_when_the_dvc_that_started_it_is_killed() -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, env=environment) as parent:
        assert parent.stdout is not None
        stage = int(parent.stdout.readline())
        parent.send_signal(signal.SIGKILL)
    for _ in range(100):
        status = Path(f"/proc/{stage}/status")
        if not status.exists() or "State:\tZ" in status.read_text():
            return
        time.sleep(0.1)
    os.kill(stage, signal.SIGKILL)
    pytest.fail("the stage went on")
