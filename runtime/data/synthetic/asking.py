"""Many requests in their order: from the transcript where they were answered before, from the endpoint where not.

The answers come back in the order of the requests, and which requests are asked depends on neither the number under way at
once nor on what was answered in an earlier run.
"""

import random
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from itertools import count
from threading import Event, Lock

from runtime.contracts import synthesize
from runtime.contracts.counting import counted
from runtime.data.synthetic.endpoint import KEPT, Endpoint, Trouble
from runtime.data.synthetic.exchange import Answer, Price, Request
from runtime.data.synthetic.limits import Ledger, Pace, backoff
from runtime.data.synthetic.secret import Secret
from runtime.data.synthetic.transcript import Transcript
from runtime.faults import StageFault
from runtime.placement import Requests
from runtime.terminal import Bar

LONGEST_WAIT = 300.0  # seconds that an endpoint may ask to wait before the stage ends instead


class Ended(Exception):
    """No further request may be sent; the argument says why: budget or replay."""


@dataclass
class Tally:
    """What this run did, which another run need not: never part of a result."""

    sent: int = 0
    cached: int = 0
    repeated: Counter[str] = field(default_factory=Counter)
    lost: int = 0

    def told(self) -> str:
        """The counts as a phrase."""
        reasons = ", ".join(f"{reason}: {number}" for reason, number in sorted(self.repeated.items()))
        sent, kept = counted(self.sent, "request"), counted(self.cached, "answer")
        told = f"{sent} sent, {kept} kept from before, {counted(self.repeated.total(), 'repeat')}"
        return f"{told} ({reasons})" if reasons else told


@dataclass(frozen=True)
class Model:
    """A model and how it is asked."""

    settings: synthesize.Endpoint
    placed: Requests

    @property
    def price(self) -> Price:
        """Of a million tokens."""
        return Price(self.settings.input_price, self.settings.output_price)

    def most(self, request: Request) -> int:
        """What a request can cost."""
        return self.price.most(request, self.settings.max_tokens)

    def cost(self, request: Request, answer: Answer) -> int:
        """What it did cost."""
        return self.price.of(request, answer, self.settings.max_tokens)


@dataclass
class Desk:
    """What the models of one recipe share: answers, money, and whether they may be asked at all."""

    transcript: Transcript
    ledger: Ledger
    live: bool
    tally: Tally = field(default_factory=Tally)
    charged: set[str] = field(default_factory=set)
    money: Lock = field(default_factory=Lock)


class Asker:
    """Asks one model."""

    def __init__(self, model: Model, desk: Desk) -> None:
        self._model, self._desk, self._stop = model, desk, Event()
        self._pace = Pace(model.placed.requests_per_minute, model.placed.tokens_per_minute)
        self._endpoint: Endpoint | None = None

    def close(self) -> None:
        """Close the connections."""
        if self._endpoint:
            self._endpoint.close()

    def ask(self, requests: Sequence[Request], bar: Bar) -> tuple[list[Answer], str | None]:
        """The answers of the first requests, and why they are not those of all: budget, replay, or None where they are.

        Raises StageFault for what no repetition mends. What was answered until then is kept.
        """
        batch = _Batch(self, requests, bar)
        try:
            ended = batch.run()
        finally:
            self._stop.set()
            batch.pool.shutdown()
            self._stop.clear()
        return batch.answers(), ended

    def known(self, request: Request) -> Answer | None:
        """The answer that the transcript has."""
        return self._desk.transcript.answer(request)

    def admit(self, request: Request) -> bool:
        """Reserve the money for a request; one that was paid for costs nothing."""
        with self._desk.money:
            return request.key in self._desk.charged or self._desk.ledger.admit(self._model.most(request))

    def settle(self, request: Request, answer: Answer | None) -> None:
        """Pay for a request that was admitted; nothing for one that failed."""
        with self._desk.money:
            if request.key not in self._desk.charged:
                self._desk.ledger.settle(self._model.most(request), self._model.cost(request, answer) if answer else 0)
            if answer:
                self._desk.charged.add(request.key)

    @property
    def desk(self) -> Desk:
        """What is shared with other models."""
        return self._desk

    @property
    def concurrency(self) -> int:
        """Requests under way at once."""
        return self._model.placed.concurrency

    def open(self) -> None:
        """Get ready to ask: the key is read now, before the first request. Raises StageFault where there is none."""
        if not self._model.placed.address:
            raise StageFault(
                "the model has no base_url", where="placement.yaml", fix="run `mindspec compile`, which writes it from the spec"
            )
        if self._endpoint is None:
            self._endpoint = Endpoint(self._model.placed, Secret.from_environment(self._model.placed.api_key_env))

    def answered(self, request: Request) -> Answer:
        """Ask until there is an answer, and keep it. Raises StageFault where there is none."""
        for attempt in count():
            outcome = self._attempt(request)
            if isinstance(outcome, Trouble) and (attempt < self._model.placed.retries or outcome.answer is None):
                self._repeat(request, outcome, attempt)
                continue
            answer = outcome.answer if isinstance(outcome, Trouble) else outcome
            assert answer is not None
            self._desk.transcript.add(request, answer)
            return answer
        raise AssertionError  # `count` has no end

    def _attempt(self, request: Request) -> Answer | Trouble:
        assert self._endpoint is not None
        self._pace.wait(request.input_bound + self._model.settings.max_tokens, self._stop.wait)
        if self._stop.is_set():
            raise Ended("stopped")
        with self._desk.money:
            self._desk.tally.sent += 1
        return self._endpoint.attempt(request)

    def _repeat(self, request: Request, trouble: Trouble, attempt: int) -> None:
        """Pay for what may have been charged, and wait; raises StageFault where that is no use."""
        if trouble.charged:
            self._lose(request)
        if attempt >= self._model.placed.retries:
            raise _given_up(self._model.placed, trouble, attempt)
        if trouble.after is not None and trouble.after > LONGEST_WAIT:
            raise StageFault(
                f"the endpoint asks to wait {trouble.after:.0f} seconds ({trouble.reason})",
                where=self._model.placed.address,
                fix=f"run the stage again then; {KEPT}",
            )
        with self._desk.money:
            self._desk.tally.repeated[trouble.reason] += 1
        self._stop.wait(max(backoff(attempt, random.random()), trouble.after or 0.0))

    def _lose(self, request: Request) -> None:
        most = self._model.most(request)
        with self._desk.money:
            self._desk.transcript.lose(request, most)
            self._desk.tally.lost += most
            self._desk.ledger.spent += most
            if self._desk.ledger.exceeded:
                raise StageFault(
                    "the budget would be exceeded: requests got lost that may have been charged",
                    where=self._model.placed.address,
                    reason="an answer that does not arrive is counted at the most that it can cost",
                    fix="raise timeout_seconds, or the budget",
                )


class _Batch:
    """One list of requests on its way through a pool of threads."""

    def __init__(self, asker: Asker, requests: Sequence[Request], bar: Bar) -> None:
        self._asker, self._requests, self._bar = asker, requests, bar
        self._done: dict[str, Answer] = {}
        self._under_way: dict[Future[Answer], Request] = {}
        self.pool = ThreadPoolExecutor(asker.concurrency, thread_name_prefix="ask")

    def answers(self) -> list[Answer]:
        """Of the requests from the first on, as far as they were asked."""
        told = list[Answer]()
        for request in self._requests:
            if request.key not in self._done:
                break
            told.append(self._done[request.key])
        return told

    def run(self) -> str | None:
        """Ask; returns why not all were asked."""
        ended = next((reason for request in self._requests if (reason := self._enter(request))), None)
        self._collect(0)
        return ended

    def _enter(self, request: Request) -> str | None:
        """Start one request, or take its answer from before; returns why it cannot be."""
        if any(request.key == other.key for other in self._under_way.values()):
            self._collect(0)  # the same question: one answer for both
        while not self._asker.admit(request):
            if not self._under_way:
                return "budget"
            self._collect(len(self._under_way) - 1)
        known = self._asker.known(request)
        if known is not None:
            self._asker.desk.tally.cached += 1
            self._finish(request, known)
        elif not self._asker.desk.live:
            self._asker.settle(request, None)
            return "replay"
        else:
            self._asker.open()
            self._collect(self._asker.concurrency - 1)
            self._under_way[self.pool.submit(self._asker.answered, request)] = request
        return None

    def _collect(self, left: int) -> None:
        """Take answers in until at most `left` requests are under way."""
        while len(self._under_way) > left:
            finished, _ = wait(self._under_way, return_when=FIRST_COMPLETED)
            for future in finished:
                request = self._under_way.pop(future)
                self._finish(request, future.result())

    def _finish(self, request: Request, answer: Answer) -> None:
        self._asker.settle(request, answer)
        self._done[request.key] = answer
        self._bar.advance()


def _given_up(placed: Requests, trouble: Trouble, attempt: int) -> StageFault:
    return StageFault(
        f"no answer after {attempt + 1} attempts: {trouble.reason}",
        where=f"{placed.address}/chat/completions",
        reason="a row that is left out because a server was busy would make another result",
        fix="see whether the endpoint runs, lower concurrency or the rates, or raise retries or timeout_seconds, and run the stage "
        f"again; {KEPT}",
    )
