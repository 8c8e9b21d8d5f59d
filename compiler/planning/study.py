"""What a spec asks of the planner, and the spec with the planner's answer in it."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

from compiler.planning.architecture import architecture
from compiler.planning.cost import Work
from compiler.planning.devices import devices
from compiler.planning.layouts import Batch, Candidate, Search, search
from compiler.planning.memory import Ledger, job, ledger
from compiler.planning.profiles import PROFILES
from compiler.spec import Spec
from compiler.spec.train import Layout, Training

Section = Literal["pretrain", "finetune"]
SECTIONS: tuple[Section, Section] = ("pretrain", "finetune")

_search = lru_cache(maxsize=256)(search)


def effective_batch(training: Training, layout: Layout | Literal["auto"]) -> int:
    """Rows of one update over all devices: micro batch x accumulation x data.

    In a pipeline the micro batches that go through it are the accumulation (mindformers has no other there). Under `auto` the
    planner chooses the three, and micro_batch x accumulation as written is the effective batch that it keeps.
    """
    rows = training.micro_batch * training.accumulation
    return rows if layout == "auto" else rows * layout.micro_batches * layout.data


def works(spec: Spec, *sections: Section) -> tuple[Work, ...]:
    """The trainings of a spec; all of them, or those of the sections that are named."""
    network, profile = architecture(spec), PROFILES[spec.device.target]
    return tuple(
        Work(
            stage=section,
            network=network,
            job=job(spec, section, profile),
            rows=effective_batch(getattr(spec, section), spec.parallel),
            steps=getattr(spec, section).steps,
        )
        for section in sections or SECTIONS
    )


def studied(spec: Spec, *sections: Section) -> Search:
    """All layouts for the trainings of a spec, which share one; for each alone where one section is named."""
    return _search(works(spec, *sections), devices(spec.device))


def concrete(spec: Spec) -> Spec:
    """A spec whose `parallel: auto` is replaced by the lightest layout that fits, with the batches that go with it.

    Raises ValueError where nothing fits; validation refuses such a spec.
    """
    if spec.parallel != "auto":
        return spec
    best = studied(spec).best
    if best is None:
        raise ValueError("no layout fits")
    return with_layout(spec, best)


def with_layout(spec: Spec, chosen: Candidate, *sections: Section) -> Spec:
    """A spec with a layout that was found for it, or for those of its sections that are named."""
    taken = {name: _batched(getattr(spec, name), batch) for name, batch in zip(sections or SECTIONS, chosen.batches, strict=True)}
    return spec.model_copy(update={"parallel": chosen.layout, **taken})


def _batched(training: Training, batch: Batch) -> Training:
    return training.model_copy(update=batch._asdict())


def ledgers(spec: Spec) -> Iterator[tuple[Section, Ledger]]:
    """The memory of each training on the layout of a concrete spec."""
    network, profile = architecture(spec), PROFILES[spec.device.target]
    assert spec.parallel != "auto", "the layout of a concrete spec is written out"
    for section in SECTIONS:
        yield section, ledger(network, spec.parallel, job(spec, section, profile))
