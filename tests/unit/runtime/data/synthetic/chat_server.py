"""A server on this machine that speaks the chat-completions API, and can misbehave in every way that real ones do."""

import json
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

JSON = dict[str, Any]


@dataclass(frozen=True)
class Reply:
    """Bytes on the wire. `missing`: how many more bytes the header promises than come."""

    status: int
    data: bytes
    headers: dict[str, str] = field(default_factory=dict)
    missing: int = 0
    chunked: bool = False


def said(content: str | None, *, finish: str = "stop", usage: JSON | None = None, **more: Any) -> Reply:
    """A completion; tokens are counted as words."""
    counted = {"prompt_tokens": 100, "completion_tokens": len((content or "").split())} if usage is None else usage
    choice = {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": finish}
    return Reply(200, json.dumps({"model": "served-1", "choices": [choice], "usage": counted, **more}).encode())


def refused(status: int, message: str = "no", code: str = "", **headers: str) -> Reply:
    """An error in the shape of the API."""
    return Reply(status, json.dumps({"error": {"message": message, "code": code}}).encode(), {**headers})


@dataclass
class Seen:
    """One request as it came in."""

    path: str
    headers: dict[str, str]
    body: JSON


Behaviour = Callable[[JSON, int], Reply]


class ChatServer:
    """`behaviour(body, number)` decides on the answer; `seen` are all requests in the order in which they came."""

    def __init__(self, behaviour: Behaviour, context: ssl.SSLContext | None = None) -> None:
        self.behaviour, self.seen, self._lock = behaviour, list[Seen](), threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._scheme = "https" if context else "http"
        if context:
            self._server.handle_error = lambda request, client_address: None  # a client that turns away is no news
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    @property
    def url(self) -> str:
        """What goes into base_url."""
        return f"{self._scheme}://127.0.0.1:{self._server.server_address[1]}/v1"

    def note(self, seen: Seen) -> int:
        """Keep a request; returns its number, from 0."""
        with self._lock:
            self.seen.append(seen)
            return len(self.seen) - 1

    @property
    def asked(self) -> list[str]:
        """The bodies as text, to compare."""
        return [json.dumps(one.body, sort_keys=True) for one in self.seen]

    @contextmanager
    def running(self) -> "Iterator[ChatServer]":
        """Serve until the end of the block."""
        self._thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._thread.join()
            self._server.server_close()


def _handler(server: ChatServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # one packet an answer: in two, the second waits for the first to be acknowledged

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            number = server.note(Seen(self.path, dict(self.headers), body))
            reply = server.behaviour(body, number)
            try:
                self._send(reply)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

        def _send(self, reply: Reply) -> None:
            self.send_response(reply.status)
            for name, value in {"Content-Type": "application/json", **reply.headers}.items():
                self.send_header(name.replace("_", "-"), value)
            if reply.chunked:
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                for start in range(0, len(reply.data), 7):
                    part = reply.data[start : start + 7]
                    self.wfile.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")
                self.wfile.write(b"0\r\n\r\n")
                return
            self.send_header("Content-Length", str(len(reply.data) + reply.missing))
            self.end_headers()
            self.wfile.write(reply.data)
            if reply.missing:
                self.close_connection = True

        def log_message(self, format: str, *args: Any) -> None:
            pass

    return Handler
