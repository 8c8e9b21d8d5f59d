"""A layout that can be launched must also fit into memory, suit the links, and be no heavier than it needs to be."""

from collections.abc import Iterator

from compiler.diagnostics import Diagnostic
from compiler.planning.cost import bubble, cost
from compiler.planning.devices import Devices, devices
from compiler.planning.ladder import ladder
from compiler.planning.layouts import Search, fits
from compiler.planning.legality import launches, slow_link
from compiler.planning.memory import HEADROOM, Ledger
from compiler.planning.shape import Shape, described, gigabytes, weight
from compiler.planning.study import ledgers, studied, works
from compiler.source import SourceTree
from compiler.spec import Spec
from compiler.spec.train import Layout
from compiler.validate.rules.layout import as_written, fitting_layouts
from compiler.validate.rules.registry import Rules
from compiler.wording import Said, in_language, said
from runtime.contracts.counting import counted

RULES = Rules()

_IDLE = 0.2  # share of a pipeline's time
_SHOWN = 4
_SECTIONS = ("parallel", "device", "model", "tokenizer", "pretrain", "finetune")


def _launches(spec: Spec, layout: Layout) -> bool:
    return launches(layout, works(spec)[0], devices(spec.device))


@RULES.needing(*_SECTIONS)
def memory_suffices(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    layout, memory = spec.parallel, spec.device.memory
    if layout == "auto" or not _launches(spec, layout):
        return
    for section, ledger in ledgers(spec):
        if fits(ledger.peak, memory):
            continue
        yield _lacking(spec, section, ledger)


def _lacking(spec: Spec, section: str, ledger: Ledger) -> Diagnostic:
    """An error where the peak alone is too much, a warning where only its headroom is."""
    memory, peak = gigabytes(spec.device.memory), gigabytes(ledger.peak)
    over = ledger.peak > spec.device.memory
    needs = peak if over else f"{peak} x {HEADROOM} = {gigabytes(ledger.peak * HEADROOM)}"
    english, chinese = (
        ("the first step would end out of memory", "第一步就会内存不足")
        if over
        else ("fragmentation and workspaces decide whether it fits", "能否容纳取决于碎片与算子工作区")
    )
    held = _largest_rows(ledger)
    return Diagnostic(
        "MS0366",
        said(f"{section} needs {needs}, a device has {memory}", f"{section} 需要 {needs}，设备只有 {memory}"),
        path=("device", "memory"),
        severity="error" if over else "warning",
        reason=said(f"{english}; {held}", f"{chinese}；{held.zh}"),
        fix=_ways_out(spec),
    )


def _largest_rows(ledger: Ledger) -> Said:
    """What fills the device at the moment of the peak."""
    stage = max(ledger.stages, key=lambda one: one.peak)
    moment = max(stage.moments, key=lambda one: stage.moments[one])
    rows = sorted((row for row in stage.rows if moment in row.moments and row.bytes), key=lambda row: -row.bytes)[:_SHOWN]
    items = ", ".join(f"{row.item} {gigabytes(row.bytes)}" for row in rows)
    return said(f"at its peak ({moment}) it holds {items}", f"峰值（{moment}）时持有 {items}")


def _ways_out(spec: Spec) -> Said:
    fitting = fitting_layouts(spec)
    if fitting:
        return said(
            f"layouts that fit with the same effective batch: {fitting}; see `mindspec plan {spec.name} --layouts`",
            f"有效批次不变时可容纳的布局：{fitting.zh}；见 `mindspec plan {spec.name} --layouts`",
        )
    return _without_layout(spec)


def _without_layout(spec: Spec) -> Said:
    """Ways out where no layout of these devices fits."""
    steps = {step.kind: step for step in ladder(studied(spec)) if step.verdict == "advice"}
    narrow = ("16-bit weights or ", "改用 16 位权重或") if spec.model.dtype.params == "float32" else ("or ", "改用")
    english, chinese = "", ""
    if lora := steps.get("lora"):
        english, chinese = f"; LoRA instead of all weights: {lora.reason}", f"；以 LoRA 代替全量训练：{lora.reason.zh}"
    if single := steps.get("one_pass"):
        english, chinese = f"{english}; {single.reason}", f"{chinese}；{single.reason.zh}"
    return said(
        f"use more devices or devices with more memory, fewer tokens a row (model.seq_length), {narrow[0]}a smaller model{english}",
        f"增加设备或换用内存更大的设备，缩短样本（model.seq_length），{narrow[1]}更小的模型{chinese}",
    )


@RULES.needing(*_SECTIONS)
def some_layout_fits(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    if spec.parallel == "auto":
        found = studied(spec)
        if found.best is None and found.countable:
            yield _too_large(spec, found) if any(one.peak for one in found.rejected) else _no_division(spec, found)


def _devices_of(spec: Spec) -> str:
    return counted(spec.device.count, "device")


def _too_large(spec: Spec, found: Search) -> Diagnostic:
    """Nothing that is legal fits: the closest layout with its numbers."""
    least = min((one for one in found.rejected if one.peak), key=lambda one: one.peak or 0)
    text = described(least.shape or Shape())
    shape = said(f"{{{text}}}", f"{{{text}}}") if text else said("one device", "单设备")
    return Diagnostic(
        "MS0366",
        said(f"no layout of {_devices_of(spec)} fits", f"{spec.device.count} 个设备上没有可容纳的布局"),
        path=("parallel",),
        reason=said(f"the closest, {shape}: {least.reason}", f"最接近的是 {shape.zh}：{in_language(least.reason, 'zh')}"),
        fix=_without_layout(spec),
    )


def _no_division(spec: Spec, found: Search) -> Diagnostic:
    """No way to divide is legal: most often the rows of an update do not divide by the devices."""
    told = found.rejected[:_SHOWN]
    rows = max(work.rows for work in found.works)
    multiple = -(-rows // spec.device.count) * spec.device.count
    return Diagnostic(
        "MS0361",
        said(f"{_devices_of(spec)} cannot be shared out", f"{spec.device.count} 个设备无法均分"),
        path=("parallel",),
        reason=said(
            "; ".join(f"{one.what}: {one.reason}" for one in told),
            "；".join(f"{one.what}：{in_language(one.reason, 'zh')}" for one in told),
        ),
        fix=said(
            f"choose micro_batch x accumulation as a multiple of the devices, such as {multiple}, or another device.count",
            f"使 micro_batch x accumulation 为设备数的倍数，例如 {multiple}，或改变 device.count",
        ),
    )


@RULES.needing("parallel", "device")
def links_carry_tensor_parallelism(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    layout = spec.parallel
    if layout == "auto" or layout.tensor == 1 or spec.device.target == "cpu":
        return
    reason = slow_link(layout.tensor, devices(spec.device))
    if reason:
        yield Diagnostic(
            "MS0367",
            said(
                f"tensor parallelism over {layout.tensor} devices would wait for its links", f"{layout.tensor} 路张量并行会受制于互联带宽"
            ),
            path=("parallel", "tensor"),
            severity="warning",
            reason=reason,
            fix=said("divide by data, optimizer_sharding or pipeline instead", "改用 data、optimizer_sharding 或 pipeline 切分"),
        )


@RULES.needing("parallel")
def pipeline_is_busy(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    layout = spec.parallel
    if layout == "auto" or layout.micro_batches < layout.pipeline:
        return
    idle = bubble(layout.pipeline, layout.micro_batches)
    if idle > _IDLE:
        stages, number = layout.pipeline, layout.micro_batches
        enough = 4 * (stages - 1)
        yield Diagnostic(
            "MS0368",
            said(
                f"{idle:.0%} of the time is idle: ({stages} - 1) / ({number} + {stages} - 1)",
                f"空泡占时间的 {idle:.0%}：({stages} - 1) / ({number} + {stages} - 1)",
            ),
            path=("parallel", "micro_batches"),
            severity="warning",
            reason=said("the stages wait while the pipeline fills and drains", "流水线填充与排空期间各阶段都在等待"),
            fix=said(
                f"use at least {enough} micro batches, with smaller ones for the same effective batch, or fewer stages",
                f"微批数至少取 {enough}（相应减小每个微批以保持有效批次），或减少阶段数",
            ),
        )


@RULES.needing(*_SECTIONS)
def layout_is_no_heavier_than_needed(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    layout = spec.parallel
    if layout == "auto" or weight(layout) == weight(Layout()) or spec.device.target == "cpu" or not _launches(spec, layout):
        return
    found = studied(spec)
    best = found.best
    if (
        best is None
        or not found.built(best)
        or best.shape.weight >= weight(layout)
        or best.seconds > _seconds(spec, layout, devices(spec.device))
    ):
        return
    lighter = as_written(best, spec)
    yield Diagnostic(
        "MS0369",
        said(f"a lighter layout fits with the same effective batch: {lighter}", f"有效批次不变时，更轻的布局即可容纳：{lighter.zh}"),
        path=("parallel",),
        severity="warning",
        reason=said("by the cost model it is at least as fast, and there is less that can go wrong", "按代价模型它不更慢，且更不易出错"),
        fix=said(f"write {lighter}, or parallel: auto", f"写 {lighter.zh}，或 parallel: auto"),
    )


def _seconds(spec: Spec, layout: Layout, on: Devices) -> float:
    """Time of all updates of the trainings as they are written, by the cost model."""
    return sum(work.steps * cost(work, layout, work.job.accumulation * layout.micro_batches, on).seconds for work in works(spec))
