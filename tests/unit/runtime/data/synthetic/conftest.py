"""A project, and servers that behave as a test says."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from chat_server import Behaviour, ChatServer
from kitchen import Project

from runtime.data.synthetic import asking


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project with seeds; its experiment is the working directory."""
    made = Project(tmp_path / "project")
    monkeypatch.chdir(made.folder)
    return made


@pytest.fixture
def serve() -> Iterator[Callable[[Behaviour], ChatServer]]:
    """Starts servers that end with the test."""
    with ExitStack() as stack:
        yield lambda behaviour: stack.enter_context(ChatServer(behaviour).running())


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Repetitions follow at once; what an endpoint asks to wait is waited."""
    monkeypatch.setattr(asking, "backoff", lambda attempt, unit: 0.0)
