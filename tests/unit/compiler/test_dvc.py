"""What DVC says it did is counted from its own words."""

import select
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from compiler.command.run import explain_failure
from compiler.dvc import Outcome

ROOT = Path(__file__).parents[3]

OUTPUT = """\
Stage 'ingest' didn't change, skipping
Stage 'clean' is cached - skipping run, checking out outputs
Running stage 'finetune':
> python -m runtime finetune
Updating lock file 'dvc.lock'
"""


def test_stages_are_counted_by_what_happened_to_them() -> None:
    outcome = Outcome(Path("experiments/demo"))
    for line in OUTPUT.splitlines():
        outcome.read(line)
    assert outcome.stages == {"ingest": "unchanged", "clean": "restored", "finetune": "ran"}
    assert outcome.summary() == "1 ran, 1 restored, 1 unchanged"
    assert outcome.last_stage == (Path("experiments/demo"), "finetune")


def test_a_stage_of_another_folder_is_told_apart() -> None:
    outcome = Outcome(Path("/project"))
    outcome.read("Running stage 'experiments/demo/dvc.yaml:pretrain':")
    assert outcome.last_stage == (Path("/project/experiments/demo"), "pretrain")


@pytest.mark.parametrize(
    ("dvc", "fault", "end"),
    [
        (("ran", 255), '{"kind": "refused"}', (1, "")),
        (("ran", 255), '{"kind": "failed"}', (3, "")),
        (("ran", 255), '{"kind": "interrupted"}', (3, "")),
        (("ran", 255), "", (1, "")),
        (("ran", 255), None, (3, "clean ended without a word (killed?)")),
        (("restored", 255), '{"kind": "refused"}', (3, "dvc ended with code 255")),
        (("unchanged", 255), '{"kind": "refused"}', (3, "dvc ended with code 255")),
        (("ran", -9), '{"kind": "refused"}', (3, "dvc ended with code -9")),
    ],
)
def test_a_failed_run_is_told_by_how_its_last_stage_ended(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], dvc: tuple[str, int], fault: str | None, end: tuple[int, str]
) -> None:
    """A stage that was restored or unchanged may have a fault left from an earlier day; an empty one is of a full disk."""
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs/clean.log").write_text("")
    if fault is not None:
        (tmp_path / "logs/clean.fault.json").write_text(fault)
    assert explain_failure(Outcome(tmp_path, dvc[1], {"clean": dvc[0]}, "clean")) == end[0]
    assert end[1] in capsys.readouterr().err


HOLDER = """
import sys
from pathlib import Path
from compiler.dvc import alone
with alone(Path(sys.argv[1])):
    print("mine", flush=True)
    sys.stdin.readline()
"""


def test_a_second_run_waits_for_the_first(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLDER, str(tmp_path)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "cwd": ROOT}
    with subprocess.Popen(command, **pipes) as first, subprocess.Popen(command, **pipes) as second:
        one, other = (first, second) if _is_first(first, second) else (second, first)
        assert other.stderr is not None
        assert f"waiting for process {one.pid}" in other.stderr.readline()
        one.communicate("done\n")
        assert other.communicate("done\n")[0] == "mine\n"


def test_the_lock_of_a_killed_run_is_no_obstacle(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLDER, str(tmp_path)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "cwd": ROOT}
    with subprocess.Popen(command, **pipes) as killed:
        assert killed.stdout is not None and killed.stdout.readline() == "mine\n"
        killed.kill()
    assert (tmp_path / ".mindspec/lock").read_text("utf-8") == str(killed.pid)
    done = subprocess.run(command, input="done\n", capture_output=True, text=True, cwd=ROOT, check=True, timeout=60)
    assert (done.stdout, done.stderr) == ("mine\n", "")


def _is_first(first: Any, second: Any) -> bool:
    ready, _, _ = select.select([first.stdout, second.stdout], [], [], 60)
    return ready[0] is first.stdout
