"""Which stages an experiment has."""

from collections.abc import Callable, Mapping

from compiler.spec import Spec
from runtime.contracts.base import Contract
from runtime.contracts.registry import EVERY

# Optional stage -> whether a spec asks for it.
WANTED: Mapping[str, Callable[[Spec], bool]] = {}


def present(spec: Spec) -> tuple[Contract, ...]:
    """The stages of an experiment in the order in which they run."""
    return tuple(contract for contract in EVERY if not contract.optional or WANTED[contract.name](spec))


def absent_results(spec: Spec) -> frozenset[str]:
    """What the stages would write that the experiment does not have, their configuration included."""
    missing = [contract for contract in EVERY if contract not in present(spec)]
    return frozenset(path for one in missing for path in (one.output, one.config, one.metrics_file, *one.records, *one.plots))
