"""Running DVC: its messages are passed on and counted, its stages keep the terminal for their progress."""

import ctypes
import fcntl
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

LOCK = ".mindspec/lock"
PATIENCE = 10.0  # seconds that an interrupted DVC gets to end by itself
PR_SET_PDEATHSIG = 1  # linux/prctl.h
ADDRESS = r"'(?P<address>[^']+)'"
SAID = {
    "ran": re.compile(rf"^Running stage {ADDRESS}"),
    "restored": re.compile(rf"^Stage {ADDRESS} is cached - skipping run"),
    "unchanged": re.compile(rf"^Stage {ADDRESS} didn't change, skipping"),
}


@dataclass
class Outcome:
    """What DVC said it did, in its own words, by stage address: ran, restored (from the run cache), unchanged.

    An address is `stage`, or `folder/dvc.yaml:stage` where DVC ran in another folder.
    """

    folder: Path
    code: int = 0
    stages: dict[str, str] = field(default_factory=dict[str, str])
    last: str = ""

    @property
    def counts(self) -> Counter[str]:
        """How many stages ran, were restored, were unchanged."""
        return Counter(self.stages.values())

    @property
    def last_stage(self) -> tuple[Path, str]:
        """Folder and name of the stage that DVC spoke of last."""
        file, _, stage = self.last.rpartition(":")
        return (self.folder / file).parent if file else self.folder, stage

    def read(self, line: str) -> None:
        """Take in one line of DVC's output."""
        for verdict, pattern in SAID.items():
            if match := pattern.match(line):
                self.last = match["address"]
                self.stages[self.last] = verdict

    def summary(self) -> str:
        """For example `4 ran, 12 restored, 0 unchanged`."""
        return ", ".join(f"{self.counts[verdict]} {verdict}" for verdict in SAID)


@contextmanager
def alone(root: Path) -> Generator[None]:
    """Hold the project for one run, and wait for the one that has it.

    DVC lets go of its own lock while a stage works, so a second run would compile under the first one and then be refused.
    """
    (root / LOCK).parent.mkdir(exist_ok=True)
    with (root / LOCK).open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            print(
                f"mindspec: waiting for process {lock.read().strip() or 'unknown'}, which runs experiments here",
                file=sys.stderr,
                flush=True,
            )
            fcntl.flock(lock, fcntl.LOCK_EX)
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield


def repro(folder: Path, *, quiet: bool = False) -> Outcome:
    """`dvc repro` in a folder, waiting for the repository lock; the exit code is DVC's."""
    outcome = Outcome(folder)
    command = [sys.executable, "-m", "dvc", "--wait-for-lock", "repro"]
    with subprocess.Popen(
        command,
        cwd=folder,
        stdout=subprocess.PIPE,
        env=environment(),
        text=True,
        encoding="utf-8",
        errors="replace",
        preexec_fn=_end_with_parent,  # noqa: PLW1509 (there are no threads here)
    ) as process:
        try:
            for line in _lines(process):
                outcome.read(line)
                if not quiet and line.strip():
                    print(line, file=sys.stderr, flush=True)
            outcome.code = process.wait()
        except KeyboardInterrupt:
            _let_end(process)
            raise
    return outcome


def _end_with_parent() -> None:
    """DVC ends when this process is killed, and with it the stage."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def _let_end(process: "subprocess.Popen[str]") -> None:
    """An interrupt from the keyboard reaches DVC and its stage too; one that was sent to this process alone does not."""
    try:
        process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.terminate()


def environment() -> dict[str, str]:
    """The environment of DVC and its stages: this Python first on the path, no update checks."""
    here = str(Path(sys.executable).parent)
    return {**os.environ, "PATH": f"{here}{os.pathsep}{os.environ.get('PATH', '')}", "DVC_NO_ANALYTICS": "1", "PYTHONUNBUFFERED": "1"}


def _lines(process: subprocess.Popen[str]) -> Iterator[str]:
    assert process.stdout is not None
    return (line.rstrip("\n") for line in process.stdout)
