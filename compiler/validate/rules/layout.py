"""The parallel layout must use exactly the devices there are, and be one that is built."""

from collections.abc import Iterator

from compiler.diagnostics import Diagnostic
from compiler.source import SourceTree
from compiler.spec import Spec
from compiler.spec.train import Layout
from compiler.validate.rules.data import repeated
from compiler.validate.rules.registry import Rules

RULES = Rules()

_FACTORS = ("data", "tensor", "pipeline", "context")
_NOT_BUILT = {
    "data": "data parallelism",
    "tensor": "tensor parallelism",
    "pipeline": "pipeline parallelism",
    "context": "context parallelism",
    "micro_batches": "micro-batching of a pipeline",
    "optimizer_sharding": "optimizer sharding",
    "recompute": "recomputation",
}


@RULES.needing("parallel", "device")
def layout_uses_all_devices(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    layout = spec.parallel
    if not isinstance(layout, Layout):
        return
    factors = [getattr(layout, name) for name in _FACTORS]
    product = factors[0] * factors[1] * factors[2] * factors[3]
    if product != spec.device.count:
        shown = factors if factors[3] != 1 else factors[:3]
        terms = " x ".join(map(str, shown))
        names = " x ".join(_FACTORS[: len(shown)])
        yield Diagnostic(
            "MS0361",
            f"{names}: {terms} = {product}, but {spec.device.count} device{'s' * (spec.device.count != 1)}",
            path=("parallel",),
            reason="mindformers would reset the layout to 1 without a word, or every rank would die after launch",
            fix=f"make the product {spec.device.count}, or set device.count to {product}",
        )


@RULES.needing("parallel")
def layout_is_built(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    if not isinstance(spec.parallel, Layout):
        yield Diagnostic(
            "MS0362",
            "the planner that chooses a layout is not built in this version",
            path=("parallel",),
            reason="the layout is part of what a result depends on; it cannot be left open",
            fix="write the layout out: {data: 1, tensor: 1, pipeline: 1, context: 1}",
        )
        return
    single = Layout()
    for name, words in _NOT_BUILT.items():
        value = getattr(spec.parallel, name)
        if value != getattr(single, name):
            yield Diagnostic(
                "MS0362",
                f"{words} is not built in this version",
                path=("parallel", name),
                reason=f"stages run on one device; {value} would be ignored",
                fix=f"write {getattr(single, name)}",
                suggestion=str(getattr(single, name)),
            )


@RULES.needing("parallel", "model")
def pipeline_fits(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    layout = spec.parallel
    if not isinstance(layout, Layout):
        return
    if layout.micro_batches < layout.pipeline:
        yield Diagnostic(
            "MS0363",
            f"{layout.micro_batches} micro batches, but {layout.pipeline} pipeline stages",
            path=("parallel", "micro_batches"),
            reason="some stages would never have work; MindSpore refuses after launch",
            fix=f"choose at least {layout.pipeline}; four times as many keep the idle share below a fifth",
        )
    if spec.model.num_layers % layout.pipeline:
        yield Diagnostic(
            "MS0363",
            f"{spec.model.num_layers} layers do not divide into {layout.pipeline} stages",
            path=("parallel", "pipeline"),
            reason="the slowest stage would set the pace of all",
            fix="choose a divisor of model.num_layers",
        )


@RULES.needing("parallel", "model")
def tensor_parallelism_fits(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    if not isinstance(spec.parallel, Layout):
        return
    tensor = spec.parallel.tensor
    for name in ("num_heads", "num_kv_heads"):
        heads = getattr(spec.model, name)
        if heads % tensor:
            yield Diagnostic(
                "MS0364",
                f"model.{name} = {heads} does not divide over {tensor} devices",
                path=("parallel", "tensor"),
                reason="a head is never divided; the graph would fail to compile on every rank",
                fix=f"choose a divisor of {heads}",
            )


@RULES.needing("device")
def device_list_matches(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    device = spec.device
    if len(device.device_ids) * device.nodes != device.count:
        yield Diagnostic(
            "MS0365",
            f"{len(device.device_ids)} device ids x {device.nodes} nodes = "
            f"{len(device.device_ids) * device.nodes}, but count is {device.count}",
            path=("device", "device_ids"),
            reason="some ranks would have no device, or some devices no rank",
            fix="list the devices of one node",
        )
    yield from repeated(device.device_ids, ("device", "device_ids"))
