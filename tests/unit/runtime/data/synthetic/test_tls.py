"""A model behind https: whose certificate is trusted, and what is said where it is not."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from authority import Authority
from chat_server import ChatServer, Reply, said
from kitchen import KEY, VARIABLE, Project, recipe, row

from runtime.faults import StageFault


def writer(body: dict[str, Any], _number: int) -> Reply:
    """A good row for each request."""
    return said(json.dumps(row(int(body["seed"]) % 1728)))


@pytest.fixture
def authority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Authority:
    """An authority that nobody knows yet."""
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.setenv(VARIABLE, KEY)
    return Authority(tmp_path)


@pytest.fixture
def known_authority(authority: Authority, monkeypatch: pytest.MonkeyPatch) -> Authority:
    """An authority whose file the environment names."""
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
    return authority


@pytest.fixture
def serve_safely() -> Iterator[Callable[..., ChatServer]]:
    """Starts servers with a certificate that end with the test."""
    with ExitStack() as stack:
        yield lambda context: stack.enter_context(ChatServer(writer, context).running())


def test_an_unknown_authority_is_told_and_accepted_where_its_file_is_given(
    project: Project, authority: Authority, serve_safely: Callable[..., ChatServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve_safely(authority.context())
    assert server.url.startswith("https://")
    with pytest.raises(StageFault, match="certificate verify failed") as fault:
        project.run(recipe(server.url), api_key_env=VARIABLE)
    assert fault.value.where == f"{server.url}/chat/completions" and "SSL_CERT_FILE" in fault.value.fix
    assert not server.seen
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
    assert project.run(recipe(server.url), api_key_env=VARIABLE)["rows"] == 6
    assert {one.headers["Authorization"] for one in server.seen} == {f"Bearer {KEY}"}


@pytest.mark.parametrize(("shown", "told"), [({"address": "127.0.0.2"}, "not valid for"), ({"days": -1}, "expired")])
def test_a_certificate_of_another_address_or_time_is_refused(
    project: Project, known_authority: Authority, serve_safely: Callable[..., ChatServer], shown: dict[str, Any], told: str
) -> None:
    server = serve_safely(known_authority.context(**shown))
    with pytest.raises(StageFault, match=told):
        project.run(recipe(server.url), api_key_env=VARIABLE)
    assert not server.seen


def test_a_file_of_authorities_that_is_not_there_is_told_by_name(
    project: Project, authority: Authority, serve_safely: Callable[..., ChatServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve_safely(authority.context())
    for content, told in ((None, "is no file"), ("not a certificate\n", "holds no certificate")):
        path = authority.folder / "other.pem"
        if content:
            path.write_text(content)
        monkeypatch.setenv("SSL_CERT_FILE", str(path))
        with pytest.raises(StageFault, match=f"SSL_CERT_FILE {told}") as fault:
            project.run(recipe(server.url), api_key_env=VARIABLE)
        assert fault.value.where == str(path)


@pytest.mark.usefixtures("known_authority")
def test_https_to_a_server_without_it_is_told(project: Project, serve: Callable[..., ChatServer]) -> None:
    server = serve(writer)
    with pytest.raises(StageFault, match="TLS failed"):
        project.run(recipe(server.url.replace("http:", "https:")), api_key_env=VARIABLE)
    assert not server.seen
