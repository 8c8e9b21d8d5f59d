"""Which stages an experiment has."""

from collections.abc import Callable, Mapping

from compiler.lower.parameters.synthetic import used_recipes
from compiler.spec import Spec
from compiler.spec.data.synthetic import recipe_of
from runtime.contracts.base import Contract
from runtime.contracts.registry import BY_NAME, EVERY

# Optional stage -> whether a spec asks for it.
WANTED: Mapping[str, Callable[[Spec], bool]] = {
    "sieve": lambda spec: spec.data.pretrain.clean.perplexity is not None,
    "synthesize": lambda spec: bool(used_recipes(spec)),
}


def present(spec: Spec) -> tuple[Contract, ...]:
    """The stages of an experiment in the order in which they run."""
    return tuple(contract for contract in EVERY if not contract.optional or WANTED[contract.name](spec))


def absent_results(spec: Spec) -> frozenset[str]:
    """What the stages would write that the experiment does not have, their configuration included."""
    missing = [contract for contract in EVERY if contract not in present(spec)]
    return frozenset(path for one in missing for path in (one.output, one.config, one.metrics_file, *one.records, *one.plots))


def unread_results(contract: Contract, spec: Spec) -> frozenset[str]:
    """Results that a stage could read and does not: rows of recipes, where none of its sources is one."""
    sources = {"ingest": spec.data.pretrain.sources, "format": spec.data.instruct.sources}.get(contract.name)
    unread = sources is not None and all(recipe_of(source.path) is None for source in sources.values())
    return frozenset({BY_NAME["synthesize"].output} if unread else ())
