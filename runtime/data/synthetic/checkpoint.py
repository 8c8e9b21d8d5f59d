"""A checkpoint of this project as the model that is asked: on the CPU of this machine, without a network.

The folder holds `model.json` and `model.safetensors` (as `base` or `merged` of an experiment do), the folder `tokenizer` and
`template.yaml`. Answers go to the transcript like those of an endpoint. Batches have one shape whatever they hold, and noise
follows from the ids that stand before a token, so that an answer depends neither on its neighbours nor on earlier runs; two
requests with the same messages have the same answer. There is no cache of keys and values: this is for small models.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import xxhash
from numpy.typing import NDArray

from runtime.contracts import synthesize
from runtime.data import chat, encoding
from runtime.data.chat import Message
from runtime.data.synthetic.asking import Desk
from runtime.data.synthetic.exchange import Answer, Request
from runtime.evaluation import generation
from runtime.evaluation.generation import NextLogits, Window
from runtime.faults import StageFault
from runtime.model import context, description
from runtime.terminal import Bar

TOO_LONG = "context_length_exceeded"
ROWS = 16  # prompts in one batch
BATCH = 64  # answers that a killed run may have to make again


def identified(settings: synthesize.Endpoint, root: Path) -> synthesize.Endpoint:
    """The settings with the hash of the weights as the model's name, so that other weights are asked anew. Raises InputFault."""
    if settings.checkpoint is None:
        return settings
    return replace(settings, model=description.read(root / settings.checkpoint).weights_sha256)


@dataclass(frozen=True)
class Sampling:
    """Turns logits into ones whose largest is a draw from softmax(logits / temperature), by the Gumbel-max trick.

    `temperature` 0 leaves them alone; `top_p`: the likeliest tokens that together reach it, None for all.
    """

    temperature: float
    top_p: float | None
    seed: int

    def over(self, next_logits: NextLogits) -> NextLogits:
        """The same model with noise."""
        if self.temperature == 0:
            return next_logits

        def drawn(ids: NDArray[np.int32], lengths: NDArray[np.int32]) -> NDArray[np.floating]:
            logits = np.asarray(next_logits(ids, lengths), np.float64) / self.temperature
            return np.stack([self._drawn(row, ids[place, : lengths[place]]) for place, row in enumerate(logits)])

        return drawn

    def _drawn(self, logits: NDArray[np.float64], before: NDArray[np.int32]) -> NDArray[np.float64]:
        key = xxhash.xxh64_intdigest(np.ascontiguousarray(before, "<i4").tobytes(), seed=self.seed % 2**64)
        raw = np.random.Philox(key=key).random_raw(len(logits))  # the stream of a bit generator does not change between releases
        uniform = ((raw >> np.uint64(11)).astype(np.float64) + 0.5) / 2**53
        return np.where(self._likely(logits), logits - np.log(-np.log(uniform)), -np.inf)

    def _likely(self, logits: NDArray[np.float64]) -> NDArray[np.bool_]:
        if self.top_p is None:
            return np.ones(len(logits), np.bool_)
        order = np.argsort(-logits, kind="stable")
        shares = np.exp(logits[order] - logits[order[0]])
        before = np.cumsum(shares / shares.sum()) - shares / shares.sum()
        kept = np.zeros(len(logits), np.bool_)
        kept[order[before < self.top_p]] = True
        return kept


class Checkpoint:
    """A model of this machine; the network is built when the first question comes."""

    def __init__(self, folder: Path, work: Path, threads: int, seed: int) -> None:
        self._folder, self._work, self._threads, self._seed = folder, work, threads, seed
        for name in ("tokenizer/special_tokens.json", "template.yaml"):
            if not (folder / name).is_file():
                fix = "copy `tokenizer` and `config/template.yaml` of the experiment that the weights come from into the folder"
                raise StageFault(f"{name} is missing", where=str(folder), fix=fix)
        self._vocabulary = encoding.load(folder / "tokenizer")
        self._template = chat.load_template(folder / "template.yaml")
        chat.check_pieces(self._template, self._vocabulary)
        self._described = description.read(folder)
        if self._described.config["vocab_size"] < self._vocabulary.size:
            fix = "copy the tokenizer of the experiment that the weights come from"
            raise StageFault("the tokenizer has more pieces than the model has rows", where=str(folder), fix=fix)

    def answers(self, requests: Sequence[Request], finished: Callable[[], None]) -> list[Answer]:
        """An answer to each request; one whose prompt leaves no room for it has none. All of them have the same settings."""
        window = Window(ROWS, int(self._described.config["seq_length"]), self._vocabulary.pad)
        prompts = [self._prompt(request) for request in requests]
        fitting = [prompt for prompt in prompts if len(prompt) < window.width]
        made = iter(self._made(fitting, requests[0], window, finished) if fitting else ())
        return [self._answer(prompt, next(made)) if len(prompt) < window.width else _none(prompt) for prompt in prompts]

    def _made(
        self, prompts: Sequence[Sequence[int]], asked: Request, window: Window, finished: Callable[[], None]
    ) -> list[generation.Answer]:
        sampling = Sampling(float(asked.body.get("temperature", 1.0)), asked.body.get("top_p"), self._seed)
        ends = frozenset({*chat.stop_ids(self._template, self._vocabulary), self._vocabulary.pad})
        limit = int(asked.body.get("max_tokens") or asked.body["max_completion_tokens"])
        return generation.greedy(sampling.over(self._scorer.next_logits), prompts, ends, limit, window, finished=finished)

    @cached_property
    def _scorer(self) -> Any:
        context.prepare(self._work, self._threads)
        context.check_device("CPU")
        from runtime.evaluation.scorer import Scorer

        return Scorer(self._folder, str(self._described.config["compute_dtype"]))

    def _prompt(self, request: Request) -> list[int]:
        messages = [Message(message["role"], message["content"]) for message in request.body["messages"]]
        return chat.ids_of(chat.render(self._template, self._vocabulary, messages, generation_prompt=True, where=str(self._folder)))

    def _answer(self, prompt: Sequence[int], made: generation.Answer) -> Answer:
        read, written = len(prompt), len(made.ids)
        if not made.ended:
            return Answer(None, "length", "cut_off", read, written)
        return Answer(self._vocabulary.decode(made.ids), "stop", None, read, written)


def _none(prompt: Sequence[int]) -> Answer:
    return Answer(None, None, TOO_LONG, len(prompt), 0)


class LocalAsker:
    """Asks a checkpoint what the transcript does not know."""

    def __init__(self, checkpoint: Checkpoint, desk: Desk) -> None:
        self._checkpoint, self._desk = checkpoint, desk

    def close(self) -> None:
        """There is nothing to close."""

    def ask(self, requests: Sequence[Request], bar: Bar) -> tuple[list[Answer], str | None]:
        """The answers of the first requests, and why they are not those of all: replay, or None where they are."""
        answers = list[Answer]()
        for start in range(0, len(requests), BATCH):
            part = requests[start : start + BATCH]
            unknown = list({request.key: request for request in part if self._desk.transcript.answer(request) is None}.values())
            if unknown and self._desk.live:
                self._make(unknown, bar)
            found = [self._desk.transcript.answer(request) for request in part]
            known = found[: found.index(None)] if None in found else found
            answers += [answer for answer in known if answer is not None]
            self._desk.tally.cached += len(known) - (len(unknown) if self._desk.live else 0)
            if len(known) < len(part):
                return answers, "replay"
        return answers, None

    def _make(self, requests: Sequence[Request], bar: Bar) -> None:
        for request, answer in zip(requests, self._checkpoint.answers(requests, bar.advance), strict=True):
            self._desk.transcript.add(request, answer)
            self._desk.tally.sent += 1
