"""A project as it was at a Git revision: in a folder of its own, so that the work tree is never touched."""

import io
import subprocess
import tarfile
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from compiler.project import LOCK, PYTHON, Project
from compiler.wording import said

# What a compilation reads. Raw data stays where it is; Git tells which of its files changed.
READ = ("specs", "runtime", "baselines", "params.yaml", LOCK, PYTHON)
LEFT_OUT = ("experiments",)


class NoRevision(Exception):
    """Git knows no such revision, or knows nothing of this folder; the text says which."""


@contextmanager
def at_revision(project: Project, revision: str) -> Generator[Project]:
    """The project at `revision`, for as long as the context lasts. Raises NoRevision."""
    tree = _tree(project.root, revision)
    known = _git(project.root, "ls-tree", "--name-only", "-z", tree).decode().split("\0")
    wanted = [name for name in READ if name in known]
    with tempfile.TemporaryDirectory(prefix="mindspec-") as folder:
        root = Path(folder).resolve()
        if wanted:
            archive = _git(project.root, "archive", "--format=tar", tree, *wanted)
            with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
                tar.extractall(root)  # our own archive: links of the repository stay links, wherever they lead
        for path in project.root.iterdir():
            if path.name not in (*READ, *LEFT_OUT) and not path.name.startswith("."):
                (root / path.name).symlink_to(path)
        yield Project(root)


def edited_since(project: Project, revisions: Sequence[str], paths: Sequence[str]) -> frozenset[str]:
    """Files below `paths` that differ between two revisions, or between one and the work tree; relative to the project root."""
    if not revisions or not paths:
        return frozenset()
    tracked = [*paths, *(f"{path}.dvc" for path in paths)]
    found = _git(project.root, "diff", "--name-only", "--relative", "-z", *revisions, "--", *tracked).decode().split("\0")
    return frozenset(path.removesuffix(".dvc") if path.removesuffix(".dvc") in paths else path for path in found if path)


def _tree(root: Path, revision: str) -> str:
    """The tree of the project's folder, which need not be the top of the repository."""
    try:
        prefix = _git(root, "rev-parse", "--show-prefix").decode().strip()
    except NoRevision:
        if any((folder / ".git").exists() for folder in (root, *root.parents)):
            raise
        raise NoRevision(said("this project is not in a Git repository", "本项目不在 Git 仓库中")) from None
    try:
        commit = _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}").decode().strip()
    except NoRevision:
        raise NoRevision(revision) from None
    return f"{commit}:{prefix}"


def _git(root: Path, *arguments: str) -> bytes:
    try:
        done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, check=False)
    except FileNotFoundError:
        raise NoRevision(said("git is not installed", "没有安装 git")) from None
    if done.returncode:
        raise NoRevision(done.stderr.decode("utf-8", "replace").strip() or " ".join(arguments[-1:]))
    return done.stdout
