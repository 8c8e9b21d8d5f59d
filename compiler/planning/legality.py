"""Which divisions of devices a network, a batch and the devices themselves allow, and why not the others."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from math import isqrt

from compiler.planning.cost import Work
from compiler.planning.devices import LINK_NAMES, Devices
from compiler.planning.memory_job import Recompute
from compiler.planning.shape import RECOMPUTE, Shape, counted
from compiler.spec.train import Layout
from compiler.wording import said


def launches(layout: Shape | Layout, work: Work, devices: Devices) -> bool:
    """Whether a written layout is one that starts at all, so that its memory and its time mean something."""
    net, tensor = work.network, layout.tensor
    uneven = net.num_heads % tensor or net.num_kv_heads % tensor or net.intermediate_size % tensor
    even = not uneven and not net.num_layers % layout.pipeline and not work.job.seq_length % layout.context
    return even and layout.data * tensor * layout.pipeline * layout.context == devices.count and layout.micro_batches >= layout.pipeline


Refusals = Mapping[str, Mapping[int, str]]


@cache
def divisors(number: int) -> tuple[int, ...]:
    """All divisors, ascending."""
    low = [one for one in range(1, isqrt(number) + 1) if number % one == 0]
    return (*low, *(number // one for one in reversed(low) if one * one != number))


def divisions(count: int, refused: Refusals) -> Iterator[Shape]:
    """Every way to write the number of devices as data x tensor x pipeline x context without a refused factor."""
    for tensor in divisors(count):
        if tensor in refused["tensor"]:
            continue
        for pipeline in divisors(count // tensor):
            if pipeline in refused["pipeline"]:
                continue
            for context in divisors(count // tensor // pipeline):
                data = count // tensor // pipeline // context
                if context not in refused["context"] and data not in refused["data"]:
                    yield Shape(data, tensor, pipeline, context)


def refusals(works: Sequence[Work], devices: Devices) -> Refusals:
    """Kind of parallelism -> factor of the device count -> why it cannot be; what is missing here is legal."""
    checks = {"data": _no_data, "tensor": _no_tensor, "pipeline": _no_pipeline, "context": _no_context}
    factors = divisors(devices.count)
    return {
        kind: {factor: reason for factor in factors if factor > 1 and (reason := check(factor, works, devices))}
        for kind, check in checks.items()
    }


def _no_data(factor: int, works: Sequence[Work], devices: Devices) -> str:
    uneven = [work for work in works if work.rows % factor]
    if not uneven:
        return ""
    rows, stage = uneven[0].rows, uneven[0].stage
    return said(
        f"an effective batch of {counted(rows, 'row')} ({stage}) does not divide by {factor}",
        f"有效批次 {rows} 行（{stage}）不能被 {factor} 整除",
    )


def only_data(target: str) -> str:
    """Why a target divides work over the data alone; empty where it does more."""
    if target != "cpu":
        return ""
    return said("on CPU MindSpore trains in data-parallel mode alone", "在 CPU 上 MindSpore 只支持数据并行模式")


def slow_link(factor: int, devices: Devices) -> str:
    """Why tensor parallelism over so many devices would be slow here; empty where it would not."""
    link = LINK_NAMES[devices.interconnect]
    if not devices.fast:
        return said(
            f"its all-reduces in every layer need NVLink or HCCS, and there is {link} between the devices",
            f"每层都要做 all-reduce，需要 NVLink 或 HCCS，而设备之间是{link.zh}",
        )
    if factor > devices.per_node or devices.per_node % factor:
        return said(
            f"its all-reduces would leave the node, which has {devices.per_node} devices",
            f"all-reduce 将跨越节点，而一个节点只有 {devices.per_node} 个设备",
        )
    return ""


def _no_tensor(factor: int, works: Sequence[Work], devices: Devices) -> str:
    net = works[0].network
    sizes_ = {"num_heads": net.num_heads, "num_kv_heads": net.num_kv_heads, "intermediate_size": net.intermediate_size}
    sizes_ |= {"hidden_size": net.hidden_size, "vocab_size": net.vocab_size}
    uneven = [f"{name} {size}" for name, size in sizes_.items() if size % factor]
    if uneven:
        return said(f"{', '.join(uneven)} {_do(uneven)} not divide by {factor}", f"{'、'.join(uneven)} 不能被 {factor} 整除")
    return only_data(devices.target) or slow_link(factor, devices)


def _do(uneven: Sequence[str]) -> str:
    return "does" if len(uneven) == 1 else "do"


def uneven_parts(division: Shape, work: Work) -> str:
    """What tensor and context parallelism together cannot divide; empty where they divide all.

    mindformers divides norms and residuals along the sequence, and tables of embeddings by rows, over both at once.
    """
    parts = division.tensor * division.context
    sizes = {"seq_length": work.job.seq_length, "vocab_size": work.network.vocab_size}
    uneven = [f"{name} {size}" for name, size in sizes.items() if size % parts] if division.tensor > 1 else []
    if not uneven:
        return ""
    return said(
        f"{', '.join(uneven)} {_do(uneven)} not divide by tensor x context = {parts}",
        f"{'、'.join(uneven)} 不能被 tensor x context = {parts} 整除",
    )


def _no_pipeline(factor: int, works: Sequence[Work], devices: Devices) -> str:
    layers = works[0].network.num_layers
    if layers % factor:
        verb = "does" if layers == 1 else "do"
        return said(f"{counted(layers, 'layer')} {verb} not divide into {factor} stages", f"{layers} 层不能均分为 {factor} 个流水线阶段")
    return only_data(devices.target)


def no_context(target: str) -> str:
    """Why a target has no context parallelism; empty where it has."""
    if target == "ascend":
        return ""
    return said(
        f"mindformers' ring attention needs FlashAttention kernels, which a {target} does not have",
        f"mindformers 的环形注意力依赖 FlashAttention 算子，{target} 没有",
    )


def _no_context(factor: int, works: Sequence[Work], devices: Devices) -> str:
    length = works[0].job.seq_length
    if length % factor:
        return said(f"seq_length {length} does not divide by {factor}", f"序列长度 {length} 不能被 {factor} 整除")
    return no_context(devices.target)


def recomputed(devices: Devices) -> tuple[Recompute, ...]:
    """Kinds of recomputation that save memory on a device. MindSpore's CPU runtime makes the second copies of activations
    before it frees the first ones, so there the peak only rises."""
    return RECOMPUTE if devices.target != "cpu" else RECOMPUTE[:1]


def shardings(shape: Shape, devices: Devices) -> range:
    """Levels of optimizer sharding that a division can have: replicas to shard over, and a mode that does it."""
    return range(4 if shape.data > 1 and devices.target != "cpu" else 1)
