"""What a plan foretells of each training: its layout and batch, its memory, its cost."""

from dataclasses import dataclass
from typing import Any

from compiler.planning.cost import Cost, cost, trained_parameters
from compiler.planning.devices import devices
from compiler.planning.layouts import Batch, Candidate, Search, fits
from compiler.planning.memory import Ledger, job, ledger
from compiler.planning.profiles import PROFILES
from compiler.planning.shape import Shape
from compiler.planning.study import SECTIONS, Section, effective_batch, studied, with_layout, works
from compiler.spec import Spec
from compiler.spec.train import Layout


@dataclass(frozen=True)
class Outlook:
    """One training. `chosen`: who decided on the layout: written, planner, or closest where nothing fits.

    rows: the effective batch; found: all layouts for this training alone, with the same effective batch.
    """

    section: Section
    steps: int
    trained: int
    layout: Layout
    batch: Batch
    rows: int
    tokens_per_step: int
    chosen: str
    ledger: Ledger
    cost: Cost
    memory: int
    found: Search

    @property
    def fits(self) -> bool:
        """Whether the peak and its headroom are within a device."""
        return fits(self.ledger.peak, self.memory)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for `--json`: bytes, FLOP, seconds."""
        total = self.cost.flops * self.steps
        return {
            "steps": self.steps,
            "trained_parameters": self.trained,
            "effective_batch": self.rows,
            "micro_batch": self.batch.micro_batch,
            "accumulation": self.batch.accumulation,
            "layout": self.layout.model_dump(),
            "layout_from": self.chosen,
            "tokens_per_step": self.tokens_per_step,
            "tokens": self.tokens_per_step * self.steps,
            "flops_per_step": self.cost.flops,
            "flops": total,
            "sent_bytes_per_step": self.cost.sent._asdict(),
            "bubble": self.cost.bubble,
            "seconds_per_step": self.cost.seconds,
            "tokens_per_second": self.cost.tokens_per_second,
            "peak_bytes": self.ledger.peak,
            "peak_bytes_with_headroom": self.ledger.peak_with_headroom,
            "device_bytes": self.memory,
            "fits": self.fits,
        }


def outlooks(spec: Spec) -> tuple[Outlook, ...]:
    """Both trainings of a spec. Where no layout fits both under `auto`, each gets its own, or the closest to one."""
    if spec.parallel != "auto":
        return tuple(_outlook(spec, section, "written", studied(spec, section)) for section in SECTIONS)
    joint = studied(spec).best
    if joint is not None:
        whole = with_layout(spec, joint)
        return tuple(_outlook(whole, section, "planner", studied(spec, section)) for section in SECTIONS)
    return tuple(_alone(spec, section) for section in SECTIONS)


def _alone(spec: Spec, section: Section) -> Outlook:
    found = studied(spec, section)
    chosen = found.best or _closest(found)
    return _outlook(with_layout(spec, chosen, section), section, "planner" if found.best else "closest", found)


def _closest(found: Search) -> Candidate:
    """The layout of the least peak where none fits, with one row at a time; one device where no division is legal."""
    tried = [one for one in found.rejected if one.shape is not None and one.peak is not None]
    shape = min(tried, key=lambda one: one.peak or 0).shape if tried else None
    shape = shape or Shape(data=found.devices.count)
    rows = max(1, found.works[0].rows // shape.data)
    piped = shape.pipeline > 1
    batch = Batch(1, 1) if piped else Batch(1, rows)
    return Candidate(shape._replace(micro_batches=rows if piped else 1), (batch,), 0, 0.0)


def _outlook(spec: Spec, section: Section, chosen: str, found: Search) -> Outlook:
    """The numbers of one training of a spec whose layout is concrete."""
    training = getattr(spec, section)
    assert isinstance(spec.parallel, Layout), "the layout is concrete here"
    work = works(spec, section)[0]
    passes = training.accumulation * spec.parallel.micro_batches
    return Outlook(
        section=section,
        steps=training.steps,
        trained=trained_parameters(work.network, work.job),
        layout=spec.parallel,
        batch=Batch(training.micro_batch, training.accumulation),
        rows=effective_batch(training, spec.parallel),
        tokens_per_step=work.tokens_per_step,
        chosen=chosen,
        ledger=ledger(work.network, spec.parallel, job(spec, section, PROFILES[spec.device.target])),
        cost=cost(work, spec.parallel, passes, devices(spec.device)),
        memory=spec.device.memory,
        found=found,
    )
