"""Whole experiments on real DVC and real mindformers, each in a copy of this checkout with a cache of its own."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

CHECKOUT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Copy:
    """A copy of the project as Git would clone it, with changes that are not committed yet."""

    root: Path

    @property
    def environment(self) -> dict[str, str]:
        """Only what a fresh shell would have, with this environment activated and the copy's own packages first."""
        path = f"{Path(sys.executable).parent}{os.pathsep}/usr/bin{os.pathsep}/bin"
        return {"PATH": path, "HOME": str(self.root.parent), "PYTHONPATH": str(self.root), "LANG": "C.UTF-8"}

    def run(self, *command: str, folder: str = ".", check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run a command in the copy; on a bad exit code the test fails with its output."""
        done = subprocess.run(command, cwd=self.root / folder, env=self.environment, capture_output=True, text=True, check=False)
        if check and done.returncode:
            pytest.fail(f"{' '.join(command)} ended with {done.returncode}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}")
        return done

    def mindspec(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run the command line of the copy."""
        return self.run(sys.executable, "-m", "compiler", *arguments, check=check)

    def dvc(self, *arguments: str, folder: str = ".", check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run DVC in the copy."""
        return self.run(sys.executable, "-m", "dvc", *arguments, folder=folder, check=check)

    def lock(self, name: str) -> dict[str, dict[str, str]]:
        """Stage -> path -> md5 of every result, from an experiment's `dvc.lock`."""
        content = yaml.safe_load((self.root / "experiments" / name / "dvc.lock").read_text("utf-8"))
        return {stage: {out["path"]: out["md5"] for out in entry["outs"]} for stage, entry in content["stages"].items()}


def make_copy(root: Path) -> Copy:
    """Copy what Git tracks or would track, and make it a repository with one commit."""
    listed = subprocess.run(["git", "ls-files", "-zco", "--exclude-standard"], cwd=CHECKOUT, capture_output=True, check=True).stdout
    for name in filter(None, listed.decode().split("\0")):
        if (CHECKOUT / name).is_file():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(CHECKOUT / name, root / name)
    copy = Copy(root)
    copy.run("git", "init", "-q", "-b", "main")
    copy.run("git", "add", "-A")
    commit(copy, "start")
    return copy


def commit(copy: Copy, message: str) -> None:
    """Commit everything in the copy."""
    copy.run("git", "add", "-A")
    copy.run("git", "-c", "user.name=test", "-c", "user.email=test@example.org", "commit", "-q", "--allow-empty", "-m", message)


@pytest.fixture(scope="session")
def smoke(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    """A copy in which the smoke experiment has been run and committed."""
    copy = make_copy(tmp_path_factory.mktemp("one") / "project")
    copy.mindspec("run", "smoke")
    commit(copy, "smoke")
    return copy
