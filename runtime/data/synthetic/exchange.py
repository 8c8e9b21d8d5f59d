"""What is asked and what comes back, as values that a transcript can hold: no key, no time, no header."""

import hashlib
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from typing import Any

import orjson

from runtime.contracts.synthesize import Endpoint

JSON = dict[str, Any]
BILLION = 1_000_000_000
_FRAME = 16  # tokens that a chat template puts around a message, at most


@dataclass(frozen=True)
class Request:
    """One question, wherever it is asked. `draw`: tells apart questions that read the same; `revision`: models of one name."""

    body: Mapping[str, Any]
    draw: int = 0
    revision: str | None = None

    def as_dict(self) -> JSON:
        """What is hashed, and what a transcript holds."""
        told = {"body": dict(self.body), "draw": self.draw}
        return {**told, "revision": self.revision} if self.revision else told

    @cached_property
    def key(self) -> str:
        """SHA-256 of the request as JSON with sorted keys."""
        return key_of(self.as_dict())

    @property
    def input_bound(self) -> int:
        """No tokenizer makes more tokens of a text than it has UTF-8 bytes."""
        return sum(len(message["content"].encode()) + _FRAME for message in self.body["messages"]) + _FRAME


@dataclass(frozen=True)
class Answer:
    """`content` is None where `trouble` says why there is no text. Tokens are None where the endpoint did not count.

    `finish`: why the model stopped, in the endpoint's words; `model`: the name that it gave itself.
    """

    content: str | None = None
    finish: str | None = None
    trouble: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    model: str | None = None

    def as_dict(self) -> JSON:
        """What a transcript holds: the fields that are known."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    @classmethod
    def of(cls, values: JSON) -> "Answer":
        """Read back. Raises TypeError or ValueError for anything that is no answer."""
        answer = cls(**values)
        texts, counts = ("content", "finish", "trouble", "model"), ("input_tokens", "output_tokens")
        wrong = [name for name in texts if not isinstance(getattr(answer, name), str | None)]
        wrong += [name for name in counts if getattr(answer, name) is not None and type(getattr(answer, name)) is not int]
        if wrong or (answer.content is None) == (answer.trouble is None):
            raise ValueError(f"not an answer: {', '.join(wrong) or ', '.join(one.name for one in fields(cls))}")
        return answer


def key_of(request: JSON) -> str:
    """The name of a request: SHA-256 of its JSON with sorted keys."""
    return hashlib.sha256(orjson.dumps(request, option=orjson.OPT_SORT_KEYS)).hexdigest()


def question(endpoint: Endpoint, messages: list[dict[str, str]], seed: int, draw: int, *, sampled: bool = True) -> Request:
    """A request for `messages`; one that is not `sampled` asks for the likeliest answer where the temperature is ours to say."""
    temperature = endpoint.temperature if sampled or endpoint.temperature is None else 0.0
    body = {
        "model": endpoint.model,
        "messages": messages,
        "temperature": temperature,
        "top_p": endpoint.top_p if sampled else None,
        endpoint.limit_field: endpoint.max_tokens,
        "seed": seed if endpoint.seeded else None,
    }
    return Request({name: value for name, value in body.items() if value is not None}, draw, endpoint.revision)


@dataclass(frozen=True)
class Price:
    """Of a million tokens; None where it is not known. Costs are whole billionths, so that their sum has no order."""

    input: float | None
    output: float | None

    def of(self, request: Request, answer: Answer, limit: int) -> int:
        """What an answer cost. What the endpoint did not count is taken at its bound."""
        read = request.input_bound if answer.input_tokens is None else answer.input_tokens
        written = _output_bound(answer, limit) if answer.output_tokens is None else answer.output_tokens
        return self._cost(read, written)

    def most(self, request: Request, limit: int) -> int:
        """What it can cost, whatever comes back."""
        return self._cost(request.input_bound, limit)

    def _cost(self, read: int, written: int) -> int:
        return math.ceil((read * (self.input or 0.0) + written * (self.output or 0.0)) * (BILLION / 1e6))


def _output_bound(answer: Answer, limit: int) -> int:
    return limit if answer.content is None else min(limit, len(answer.content.encode()))
