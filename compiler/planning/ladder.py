"""From light to heavy, step by step: what the planner took, what it did not need, and what would not have been enough."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from compiler.planning.cost import flops_per_token, measured
from compiler.planning.devices import Devices
from compiler.planning.layouts import Batch, Search, Training, fits, refusal
from compiler.planning.legality import Refusals, divisions, only_data, recomputed, refusals, shardings
from compiler.planning.memory import Adapters
from compiler.planning.one_pass import narrowest
from compiler.planning.shape import RECOMPUTE, Shape, counted, described, gigabytes
from compiler.wording import Said, said

TRIAL = Adapters(rank=8, targets=("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"))
QUANTISED = 0.5  # bytes of a weight in 4 bit


@dataclass(frozen=True)
class Step:
    """One step of the ladder; `kind` names it to programs, `name` to people.

    verdict: taken, not needed, not enough, impossible or advice; peak: the least bytes of a device with it.
    """

    kind: str
    name: Said
    verdict: str
    reason: Said
    peak: int | None = None


@dataclass(frozen=True)
class Rung:
    """A kind of parallelism. `within`: whether a division uses nothing heavier; `used`: whether a layout uses it."""

    kind: str
    name: Said
    within: Callable[[Shape], bool]
    used: Callable[[Shape], bool]


RUNGS = (
    Rung("sharding", said("optimizer sharding", "优化器切分"), lambda s: s.tensor == s.pipeline == s.context == 1, lambda s: s[5] > 0),
    Rung("tensor", said("tensor parallelism", "张量并行"), lambda s: s.pipeline == s.context == 1, lambda s: s.tensor > 1),
    Rung("pipeline", said("pipeline parallelism", "流水线并行"), lambda s: s.context == 1, lambda s: s.pipeline > 1),
    Rung("context", said("context parallelism", "上下文并行"), lambda _: True, lambda s: s.context > 1),
)


def ladder(found: Search) -> tuple[Step, ...]:
    """The steps for the lightest layout of a search, or for none where nothing fits."""
    trainings = [Training(work) for work in found.works]
    refused = refusals(found.works, found.devices)
    data = [_one_device(found, trainings), _recompute(found, trainings), _data(found, refused)]
    heavier = [_heavier(rung, found, trainings, refused) for rung in RUNGS] if found.devices.count > 1 else []
    return (*(step for step in data if step), *_advice(found, trainings, refused), *heavier, *_one_pass(found))


def _least(trainings: list[Training], shape: Shape) -> int:
    """Peak of the fullest training with the smallest micro batch: one row, or the most micro batches of a pipeline."""
    peaks: list[int] = []
    for training in trainings:
        rows = max(1, training.work.rows // shape.data)
        piped = shape._replace(micro_batches=rows if shape.pipeline > 1 else 1)
        peaks.append(training.peak(piped, Batch(1, 1 if shape.pipeline > 1 else rows)))
    return max(peaks)


def _numbers(peak: int, devices: Devices) -> str:
    sign = "<=" if fits(peak, devices.memory) else ">"
    return f"{gigabytes(peak)} x 1.3 = {gigabytes(peak * 1.3)} {sign} {gigabytes(devices.memory)}"


def _one_device(found: Search, trainings: list[Training]) -> Step:
    name, devices = said("one device + accumulation", "单设备 + 梯度累积"), found.devices
    peak = _least(trainings, Shape())
    numbers = _numbers(peak, devices)
    if not fits(peak, devices.memory):
        return Step("one", name, "not enough", said(f"at a micro batch of one row {numbers}", f"微批为 1 行时 {numbers}"), peak)
    if devices.count > 1:
        idle = devices.count - 1
        return Step(
            "one",
            name,
            "not needed",
            said(f"{numbers}; {counted(idle, 'device')} would be idle", f"{numbers}；其余 {idle} 个设备将闲置"),
            peak,
        )
    if found.best and found.best.shape != Shape():
        return _whole_batch(name, found, trainings)
    taken = found.best.peak if found.best else peak
    return Step("one", name, "taken", said(_numbers(taken, devices), _numbers(taken, devices)), taken)


def _whole_batch(name: Said, found: Search, trainings: list[Training]) -> Step:
    """Where this version does not accumulate: the update in one forward pass."""
    peak, rows = max((one.peak(Shape(), Batch(one.work.rows, 1)), one.work.rows) for one in trainings)
    numbers, target = _numbers(peak, found.devices), found.devices.target
    text = said(
        f"{counted(rows, 'row')} in one pass: {numbers}; accumulation is not built on one {target}",
        f"一次前向 {rows} 行：{numbers}；单个 {target} 上未实现累积",
    )
    return Step("one", name, "not enough", text, peak)


def _one_pass(found: Search) -> Iterator[Step]:
    """What fits without accumulation, where this version has none and the layout would need it."""
    if found.best is None or found.built(found.best):
        return
    target, least = found.devices.target, narrowest(found.works, found.devices)
    if least is None:
        return
    (work, most), unbuilt = least, said(f"accumulation is not built on one {found.devices.target}", f"单个 {target} 上未实现累积")
    english, chinese = (f" with recompute: {most.recompute}", f"（recompute: {most.recompute}）") if most.recompute != "none" else ("", "")
    whole, rows = most.rows == work.rows, counted(most.rows, "row")
    text = said(
        f"{unbuilt}; {'all' if whole else 'at most'} {rows} of an update {'fits' if most.rows == 1 else 'fit'}{english}",
        f"{unbuilt.zh}；一次前向{'可' if whole else '最多'}容纳 {most.rows} 行{chinese}",
    )
    yield Step("one_pass", said("one forward pass", "单次前向"), "advice", text)


def _recompute(found: Search, trainings: list[Training]) -> Step:
    name, best, devices = said("recomputation", "重计算"), found.best, found.devices
    plain, peak = _least(trainings, Shape()), min(_least(trainings, Shape(recompute=one)) for one in RECOMPUTE)
    if len(recomputed(devices)) == 1:
        text = said(
            "MindSpore's CPU runtime makes the second copies before it frees the first, so the peak rises",
            "MindSpore 的 CPU 运行时在释放第一份之前就计算第二份，峰值反而升高",
        )
        return Step("recompute", name, "impossible", text)
    if best and best.shape.recompute != "none":
        kind = best.shape.recompute
        more = max(round(100 * (flops_per_token(one, kind) / flops_per_token(one, "none") - 1)) for one in map(measured, found.works))
        return Step("recompute", name, "taken", said(f"{kind}: {more} % more compute", f"{kind}：计算量增加 {more} %"), peak)
    if best:
        return Step("recompute", name, "not needed", said("activations fit as they are", "激活值无需重计算即可容纳"), peak)
    change = said(
        f"one device: from {gigabytes(plain)} to {_numbers(peak, devices)}", f"单设备：由 {gigabytes(plain)} 降至 {_numbers(peak, devices)}"
    )
    return Step("recompute", name, "not enough", change, peak)


def _data(found: Search, refused: Refusals) -> Step | None:
    name, count, best = said("data parallelism", "数据并行"), found.devices.count, found.best
    if count == 1:
        return None
    if best and best.shape.data > 1:
        factor = best.shape.data
        return Step("data", name, "taken", said(f"over {factor} of {count} devices", f"{count} 个设备中 {factor} 路"))
    if count in refused["data"]:
        return Step("data", name, "impossible", _said(refused["data"][count]))
    text = said("every replica holds all weights: memory of a device stays the same", "每个副本都持有全部权重，单个设备的内存不变")
    return Step("data", name, "not enough", text)


def _said(text: str) -> Said:
    return text if isinstance(text, Said) else said(text, text)


def _advice(found: Search, trainings: list[Training], refused: Refusals) -> Iterator[Step]:
    """What another method would need where this one does not fit one device; never taken, since it trains something else."""
    if fits(_least(trainings, Shape()), found.devices.memory):
        return
    full = [training for training in trainings if training.work.job.adapters is None]
    if full:
        yield _lora(found, full, refused)
    network, params = found.works[0].network, found.works[0].job.params
    saved = network.num_layers * network.layer_parameters * (params - QUANTISED)
    text = said(
        f"a base in 4 bit under adapters saves {gigabytes(saved)} of weights a device; this version does not train on one",
        f"4 bit 量化基座 + 适配器可节省 {gigabytes(saved)} 权重内存；本版本尚不支持",
    )
    yield Step("quantised", said("quantised base", "量化基座"), "advice", text)


def _lora(found: Search, full: list[Training], refused: Refusals) -> Step:
    """Adapters on one device, or where that is not enough on the lightest layout that fits, or else on the one of least memory."""
    trainings = [Training(replace(one.work, job=replace(one.work.job, adapters=TRIAL))) for one in full]
    one = Shape(recompute=recomputed(found.devices)[-1])
    shapes = [shape for shape in _shapes(found.devices, refused) if not refusal(shape, trainings)]
    peaks = [(_least(trainings, shape), shape) for shape in (one, *sorted(shapes, key=lambda shape: shape.weight))]
    peak, shape = next((pair for pair in peaks if fits(pair[0], found.devices.memory)), min(peaks))
    text = described(shape)
    where = said(f"{{{text}}}", f"{{{text}}}") if text else said("one device", "单设备")
    numbers = _numbers(peak, found.devices)
    told = said(f"rank 8 on every linear layer, {where}: {numbers}", f"所有线性层 rank 8，{where.zh}：{numbers}")
    return Step("lora", said("LoRA", "LoRA"), "advice" if fits(peak, found.devices.memory) else "not enough", told, peak)


def _heavier(rung: Rung, found: Search, trainings: list[Training], refused: Refusals) -> Step:
    devices, best = found.devices, found.best
    if best and rung.used(best.shape):
        return Step(rung.kind, rung.name, "taken", _said(_how(rung, best.shape)), best.peak)
    shapes = [shape for shape in _shapes(devices, refused) if rung.within(shape) and rung.used(shape)]
    legal = [shape for shape in shapes if not refusal(shape, trainings)]
    if not legal:
        reason = refusal(shapes[0], trainings) if shapes else _refusal(rung, devices, refused)
        return Step(rung.kind, rung.name, "impossible", _said(reason))
    peak = min(_least(trainings, shape) for shape in legal)
    if best and rung.within(best.shape):
        return Step(rung.kind, rung.name, "not needed", _faster(rung, found, peak), peak)
    return Step(
        rung.kind, rung.name, "not enough", said(f"at least {_numbers(peak, devices)}", f"至少需要 {_numbers(peak, devices)}"), peak
    )


def _shapes(devices: Devices, refused: Refusals) -> Iterator[Shape]:
    """Every division at its least memory: the highest sharding that it has, with each kind of recomputation."""
    for division in divisions(devices.count, refused):
        for recompute in recomputed(devices):
            yield division._replace(optimizer_sharding=shardings(division, devices)[-1], recompute=recompute)


def _how(rung: Rung, shape: Shape) -> str:
    if rung.kind == "sharding":
        held = {
            1: ("optimizer states", "优化器状态"),
            2: ("optimizer states and gradients", "优化器状态与梯度"),
            3: ("optimizer states, gradients and weights", "优化器状态、梯度与权重"),
        }
        english, chinese = held[shape.optimizer_sharding]
        return said(
            f"level {shape.optimizer_sharding}: {english} over {shape.data} replicas",
            f"级别 {shape.optimizer_sharding}：{chinese}切分到 {shape.data} 个副本",
        )
    factor = getattr(shape, rung.kind)
    return said(f"{factor} devices", f"{factor} 个设备")


def _refusal(rung: Rung, devices: Devices, refused: Refusals) -> str:
    """Why no factor of a kind is legal: the reason of the smallest one."""
    if rung.kind == "sharding":
        alone = refused["data"].get(devices.count, said("there are no replicas to shard over", "没有可供切分的数据副本"))
        return only_data(devices.target) or alone
    reasons = refused[rung.kind]
    return reasons[min(reasons)] if reasons else said("no division of the devices leaves room for it", "设备数无法再切分")


def _faster(rung: Rung, found: Search, peak: int) -> Said:
    """A lighter layout fits; whether the cost model would rather have this one, or it would not even fit."""
    best = found.best
    timed = [one for one in found.candidates if rung.within(one.shape) and rung.used(one.shape)]
    quickest = min(timed, key=lambda one: one.seconds, default=None)
    if quickest is None:
        numbers = _numbers(peak, found.devices)
        return said(f"a lighter layout fits, and this one does not: {numbers}", f"更轻的布局已能容纳，而此步不能：{numbers}")
    if best and quickest.seconds < best.seconds:
        share = round(100 * (1 - quickest.seconds / best.seconds))
        return said(
            f"a lighter layout fits; by the cost model this one would save {share} % of the time",
            f"更轻的布局已能容纳；按代价模型，此步可节省 {share} % 时间",
        )
    return said("a lighter layout fits and is at least as fast", "更轻的布局已能容纳，且不更慢")
