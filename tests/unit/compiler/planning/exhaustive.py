"""The planner's question answered without its ideas: every combination, each with the whole ledger, nothing kept."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from compiler.planning.cost import Work
from compiler.planning.devices import Devices
from compiler.planning.memory import ledger
from compiler.planning.shape import Shape


def legal(shape: Shape, work: Work, devices: Devices) -> bool:
    """The rules, one a line."""
    net, length = work.network, work.job.seq_length
    data, tensor, pipeline, context = shape[:4]
    return all(
        (
            data * tensor * pipeline * context == devices.count,
            work.rows % data == 0,
            all(size % tensor == 0 for size in (net.num_heads, net.num_kv_heads, net.hidden_size, net.intermediate_size, net.vocab_size)),
            net.num_layers % pipeline == 0,
            length % context == 0,
            tensor == 1 or (length % (tensor * context) == 0 and net.vocab_size % (tensor * context) == 0),
            tensor == 1 or devices.interconnect in ("nvlink", "hccs"),
            tensor == 1 or (devices.count // devices.nodes) % tensor == 0,
            context == 1 or devices.target == "ascend",
            devices.target != "cpu" or (tensor, pipeline, context, shape.optimizer_sharding, shape.recompute) == (1, 1, 1, 0, "none"),
            shape.optimizer_sharding == 0 or data > 1,
        )
    )


def splits(shape: Shape, work: Work) -> Iterator[tuple[int, int, int]]:
    """(micro batches of the pipeline, micro batch, accumulation) that make the rows of a replica."""
    rows = work.rows // shape.data
    for micro_batch in range(1, min(rows, work.job.micro_batch) + 1):
        passes = rows // micro_batch
        if rows % micro_batch == 0 and shape.pipeline == 1:
            yield 1, micro_batch, passes
        elif rows % micro_batch == 0 and passes >= shape.pipeline:
            yield passes, micro_batch, 1


def fitting(work: Work, devices: Devices) -> set[Shape]:
    """All layouts that fit with some split, with `micro_batches` left at 1."""
    degrees = [number for number in range(1, devices.count + 1) if devices.count % number == 0]
    shapes = (
        Shape(*factors, 1, sharding, recompute)
        for *factors, sharding, recompute in product(  # type: ignore[arg-type]
            degrees, degrees, degrees, degrees, range(4), ("none", "selective", "full")
        )
    )
    return {
        shape
        for shape in shapes
        if legal(shape, work, devices) and any(_fits(shape, split, work, devices) for split in splits(shape, work))
    }


def _fits(shape: Shape, split: tuple[int, int, int], work: Work, devices: Devices) -> bool:
    number, micro_batch, accumulation = split
    if shape.optimizer_sharding == 2 and shape.pipeline == 1 and accumulation == 1:
        return False
    job = replace(work.job, micro_batch=micro_batch, accumulation=accumulation)
    return ledger(work.network, shape._replace(micro_batches=number), job).fits(devices.memory)
