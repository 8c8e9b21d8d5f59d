"""One attempt to ask a model over the chat-completions API, and what can come of it.

urllib3 is used without its retries, redirects and proxies: whether a request is sent again depends on what was answered and
on the budget, a redirect would carry the key to another host, and proxies of the environment are not taken. Certificates are
verified against the system's authorities, or SSL_CERT_FILE.
"""

import json
import os
import re
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from typing import Any

import orjson
import urllib3
from urllib3.exceptions import ConnectTimeoutError, HTTPError, NewConnectionError, ReadTimeoutError, SSLError
from urllib3.util import Timeout

from runtime.data.synthetic.exchange import Answer, Request
from runtime.data.synthetic.secret import Secret
from runtime.faults import StageFault
from runtime.placement import Requests

LARGEST = 32_000_000  # bytes of an answer
SHOWN = 200  # characters of what an endpoint says of a fault
AGAIN = frozenset({408, 409, 425, 429, *range(500, 600)})
OF_THE_QUESTION = frozenset({"content_filter", "content_policy_violation", "context_length_exceeded"})  # error codes of a 400
KEPT = "answers that were given are kept, and are not asked for again"
OUT_OF_CREDIT = "insufficient_quota"  # a 429 that waiting does not mend
HINTS = {
    401: "check the key in the variable that api_key_env names",
    402: "pay, or lower count",
    403: "check what the key may do",
    404: "check base_url and model",
}
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Trouble:
    """An attempt that may be repeated. `after`: seconds that the endpoint asks to wait; `charged`: it may cost something.

    `answer`: what is taken for the answer when it does not get better; None where the stage must stop.
    """

    reason: str
    after: float | None = None
    charged: bool = False
    answer: Answer | None = None


class Endpoint:
    """Asks one address. Thread-safe."""

    def __init__(self, placed: Requests, secret: Secret) -> None:
        self._secret, self._seconds, self._url = secret, placed.timeout_seconds, f"{placed.address}/chat/completions"
        _check_authorities()
        self._pool = urllib3.PoolManager(num_pools=1, maxsize=placed.concurrency, block=True, retries=False)

    def close(self) -> None:
        """Close the connections."""
        self._pool.clear()

    def attempt(self, request: Request) -> Answer | Trouble:
        """Send a request once. Raises StageFault, which never shows the key, for what no repetition mends."""
        try:
            status, headers, data = self._sent(request)
        except SSLError as error:
            fix = "give the authority's file in SSL_CERT_FILE, or mend base_url"
            raise StageFault(f"TLS failed: {self._shown(str(error))}", where=self._url, fix=fix) from None
        except (ConnectTimeoutError, NewConnectionError):
            return Trouble("no_connection")
        except (ReadTimeoutError, TimeoutError):
            return Trouble("timeout", charged=True)
        except HTTPError as error:
            return Trouble(type(error).__name__, charged=True)
        if status == 200:
            return self._answer(data)
        return self._refusal(status, headers, data)

    def _sent(self, request: Request) -> tuple[int, Mapping[str, str], bytes]:
        until = time.monotonic() + self._seconds
        response = self._pool.request(
            "POST",
            self._url,
            body=orjson.dumps(request.body),
            headers={"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "mindspec", **self._secret.header},
            redirect=False,
            preload_content=False,
            timeout=Timeout(total=self._seconds),
        )
        data = bytearray()
        try:
            while part := response.read1(1 << 16):
                data += part
                if time.monotonic() > until or len(data) > LARGEST:
                    raise TimeoutError  # an answer that drips, or never ends
        except BaseException:
            response.close()
            raise
        response.release_conn()
        return response.status, response.headers, bytes(data)

    def _answer(self, data: bytes) -> Answer | Trouble:
        try:
            content = json.loads(data)
        except (ValueError, RecursionError):
            return _useless("broken_json")
        if not isinstance(content, dict):
            return _useless("broken_json")
        told = answer_of(content)
        return self._clean(told) if isinstance(told, Answer) else told

    def _clean(self, answer: Answer) -> Answer:
        """Text that can be written, and without the key."""
        texts = {name: getattr(answer, name) for name in ("content", "finish", "model") if getattr(answer, name) is not None}
        return replace(answer, **{name: self._secret.hide(_SURROGATE.sub("\ufffd", text)) for name, text in texts.items()})

    def _refusal(self, status: int, headers: Mapping[str, str], data: bytes) -> Answer | Trouble:
        code, message = told_error(data)
        if status in AGAIN and code != OUT_OF_CREDIT:
            return Trouble(f"status_{status}", after=seconds_to_wait(headers.get("Retry-After")))
        if status == 400 and code in OF_THE_QUESTION:
            return Answer(trouble=code, input_tokens=0, output_tokens=0)
        raise StageFault(
            f"the endpoint refused with status {status}{': ' if message else ''}{self._shown(message)}",
            where=self._url,
            reason="redirects are not followed, since they would hand on the key" if 300 <= status < 400 else "",
            fix=f"{HINTS.get(status, 'check the settings of the generator')}; {KEPT}",
        )

    def _shown(self, text: str) -> str:
        return "".join(char if char.isprintable() else " " for char in self._secret.hide(text))[:SHOWN]


def _check_authorities() -> None:
    """Raise StageFault where SSL_CERT_FILE names what gives no authority: it would be passed over, and no server trusted."""
    path = os.environ.get("SSL_CERT_FILE")
    if not path:
        return
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(path)
    except OSError as error:  # ssl.SSLError is one too
        what = "holds no certificate" if isinstance(error, ssl.SSLError) else f"is no file that can be read ({error.strerror})"
        raise StageFault(f"SSL_CERT_FILE {what}", where=path, fix="name a file with the certificates of authorities (PEM)") from None


def answer_of(content: dict[str, Any]) -> Answer | Trouble:
    """What a completion says: its first choice, and the tokens that were counted."""
    choices, usage = content.get("choices"), content.get("usage")
    read, written = (_count(usage, name) for name in ("prompt_tokens", "completion_tokens"))
    choice = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(choice, dict) or not isinstance(choice.get("message"), dict):
        return _useless("no_choice", read, written)
    finish, text, model = (_text(value) for value in (choice.get("finish_reason"), choice["message"].get("content"), content.get("model")))
    if finish in ("length", "content_filter"):
        return Answer(None, finish, "cut_off" if finish == "length" else finish, read, written, model)
    if text is None:
        return _useless("no_text", read, written)
    return Answer(text, finish, None, read, written, model)


def _count(usage: Any, name: str) -> int | None:
    value = usage.get(name) if isinstance(usage, dict) else None
    return value if type(value) is int and value >= 0 else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _useless(reason: str, read: int | None = None, written: int | None = None) -> Trouble:
    return Trouble(reason, charged=True, answer=Answer(None, None, reason, read, written))


def told_error(data: bytes) -> tuple[str, str]:
    """Code and message of an error in one of the shapes that endpoints use; what is no JSON is the message itself."""
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        return "", data[: 4 * SHOWN].decode("utf-8", "replace").strip()
    error = content.get("error", content) if isinstance(content, dict) else content
    if isinstance(error, dict):
        return str(error.get("code") or error.get("type") or ""), str(error.get("message") or error.get("detail") or "")
    return "", str(error)


def seconds_to_wait(header: str | None) -> float | None:
    """Retry-After (RFC 9110): seconds, or a date; None for neither."""
    if header is None:
        return None
    if re.fullmatch(r"\s*[0-9]+(\.[0-9]+)?\s*", header):
        return float(header)
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - time.time())
    except (ValueError, TypeError):
        return None
