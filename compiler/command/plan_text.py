"""A plan as a person reads it."""

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table

from compiler.command.metrics_table import console
from compiler.diagnostics import width
from compiler.planning.architecture import architecture
from compiler.planning.cost import flops_per_token, measured
from compiler.planning.devices import LINK_NAMES
from compiler.planning.ladder import Step, ladder
from compiler.planning.layouts import Candidate, Rejected
from compiler.planning.memory import HEADROOM, Stage
from compiler.planning.outlook import Outlook
from compiler.planning.shape import Shape, counted, described, gigabytes
from compiler.spec import Spec
from compiler.wording import Said, in_language, said

_LAYOUTS = 12
_REJECTED = 16
_STAGES = 8
_COLUMN = 17
_VERDICTS = {
    "taken": said("taken", "采用"),
    "not needed": said("not needed", "无需"),
    "not enough": said("not enough", "不够"),
    "impossible": said("impossible", "不可行"),
    "advice": said("advice", "建议"),
}
_DECIDED = {
    "written": said("as written", "按规格指定"),
    "planner": said("chosen by the planner", "由规划器选定"),
    "closest": said("the closest; nothing fits", "最接近者；没有可容纳的布局"),
}


def model_text(spec: Spec) -> str:
    """The network and the devices, a line each."""
    network, model, device = architecture(spec), spec.model, spec.device
    each, link = f"{device.count} x {device.target}", LINK_NAMES[device.interconnect]
    between = (
        said(f", {link}, {counted(device.nodes, 'node')}", f"，{link.zh.strip()}，{device.nodes} 个节点")
        if device.count > 1
        else said("", "")
    )
    layers, heads = counted(network.num_layers, "layer"), counted(network.num_heads, "head")
    sizes = f"{layers} x {network.hidden_size:,}, {heads} ({network.num_kv_heads} key/value)"
    zh_sizes = f"{network.num_layers} 层 x {network.hidden_size:,}，{network.num_heads} 个头（键值头 {network.num_kv_heads}）"
    total, rows, length = f"{network.parameters:,}", f"{network.vocab_size:,}", f"{model.seq_length:,}"
    types = f"{model.dtype.params} / {model.dtype.compute}"
    about = said(
        f"{spec.name}: {model.family}, {total} parameters; {sizes}, vocabulary {rows}, sequence {length}, weights / compute {types}",
        f"{spec.name}：{model.family}，{total} 个参数；{zh_sizes}，词表 {rows}，序列长度 {length}，权重 / 计算 {types}",
    )
    memory = gigabytes(device.memory)
    where = said(f"devices: {each}, {memory}{between}", f"设备：{each}，{memory}{between.zh}")
    return f"{in_language(about)}\n{in_language(where)}"


def training_text(one: Outlook) -> str:
    """One training: the figures, then the steps of the ladder."""
    title = said(
        f"\n{one.section}: {counted(one.steps, 'step')}, {counted(one.trained, 'trained parameter')}",
        f"\n{one.section}：{one.steps:,} 步，训练 {one.trained:,} 个参数",
    )
    figures = [
        (said("effective batch", "有效批次"), _batch(one)),
        (said("tokens", "词元"), _tokens(one)),
        (said("layout", "布局"), _layout(one)),
        (said("memory", "内存"), _memory(one)),
        (said("compute", "计算量"), _compute(one)),
        (said("sent", "通信量"), _sent(one)),
        (said("bubble", "流水线空泡"), _bubble(one)),
        (said("time", "时间"), _time(one)),
    ]
    lines = [in_language(title), *_aligned((in_language(name), in_language(text)) for name, text in figures)]
    lines.append(f"  {in_language(_heading(one))}")
    steps = [(in_language(_VERDICTS[step.verdict]), in_language(_of(step))) for step in ladder(one.found)]
    return "\n".join([*lines, *(f"  {line}" for line in _aligned(steps))])


def _of(step: Step) -> Said:
    return said(f"{step.name}: {step.reason}", f"{step.name.zh}：{step.reason.zh}")


def _heading(one: Outlook) -> Said:
    """The steps are those of the planner for this training alone, whatever was written."""
    best = one.found.best
    if best is None:
        return said("from light to heavy, nothing fits:", "由轻到重，均无法容纳：")
    if best.shape[:6] == Shape(**one.layout.model_dump())[:6] and best.shape.recompute == one.layout.recompute:
        return said("from light to heavy:", "由轻到重：")
    text = described(best.shape)
    shape = said(f"{{{text}}}", f"{{{text}}}") if text else said("one device", "单设备")
    return said(f"from light to heavy, the planner for this training alone takes {shape}:", f"由轻到重，规划器单就此训练选取 {shape.zh}：")


def _aligned(pairs: Iterable[tuple[str, str]]) -> list[str]:
    return [f"  {name}{' ' * max(1, _COLUMN - width(name))}{text}" for name, text in pairs]


def _batch(one: Outlook) -> Said:
    layout, batch, rows = one.layout, one.batch, counted(one.rows, "row")
    if layout.pipeline > 1:
        terms = f"{batch.micro_batch} x {layout.micro_batches} x {layout.data}"
        return said(f"{rows} = micro batch x micro batches x data = {terms}", f"{one.rows} 行 = 微批 x 流水线微批数 x 数据并行 = {terms}")
    terms = f"{batch.micro_batch} x {batch.accumulation} x {layout.data}"
    return said(f"{rows} = micro batch x accumulation x data = {terms}", f"{one.rows} 行 = 微批 x 累积 x 数据并行 = {terms}")


def _tokens(one: Outlook) -> Said:
    step, total = f"{one.tokens_per_step:,}", f"{one.tokens_per_step * one.steps:,}"
    return said(f"{step} a step, {total} in all", f"每步 {step}，共 {total}")


def _layout(one: Outlook) -> Said:
    text = described(one.layout)
    decided = _DECIDED[one.chosen]
    return said(
        f"{{{text}}}, {decided}" if text else f"one device, {decided}", f"{{{text}}}，{decided.zh}" if text else f"单设备，{decided.zh}"
    )


def _memory(one: Outlook) -> Said:
    numbers = f"{gigabytes(one.ledger.peak)} x {HEADROOM} = {gigabytes(one.ledger.peak * HEADROOM)}"
    verdict = said("fits", "可容纳") if one.fits else said("does not fit", "无法容纳")
    memory = gigabytes(one.memory)
    return said(f"peak {numbers} of {memory}: {verdict}", f"峰值 {numbers}，设备 {memory}：{verdict.zh}")


def _compute(one: Outlook) -> Said:
    known = measured(one.found.works[0])
    again = flops_per_token(known, one.layout.recompute) / flops_per_token(known, "none") - 1
    more, chinese = (f", {again:.0%} more by recomputation", f"，重计算使其增加 {again:.0%}") if again else ("", "")
    step, total = f"{one.cost.flops:.3g}", f"{one.cost.flops * one.steps:.3g}"
    return said(f"{step} FLOP a step, {total} in all{more}", f"每步 {step} FLOP，共 {total}{chinese}")


def _sent(one: Outlook) -> Said:
    parts = {name: count for name, count in one.cost.sent._asdict().items() if count}
    if not parts:
        return said("nothing", "无")
    items = ", ".join(f"{name} {gigabytes(count)}" for name, count in parts.items())
    return said(f"{gigabytes(sum(parts.values()))} a device and step: {items}", f"每设备每步 {gigabytes(sum(parts.values()))}：{items}")


def _bubble(one: Outlook) -> Said:
    stages, number = one.layout.pipeline, one.layout.micro_batches
    if stages == 1:
        return said("0%, no pipeline", "0%，无流水线")
    terms = f"{one.cost.bubble:.1%} = ({stages} - 1) / ({number} + {stages} - 1)"
    return said(terms, terms)


def _time(one: Outlook) -> Said:
    speed = one.found.devices.speed
    rate = speed.half if one.found.works[0].job.compute == 2 else speed.single
    took, total = duration(one.cost.seconds), duration(one.cost.seconds * one.steps)
    pace = f"{one.cost.tokens_per_second:,.0f}"
    share, peak = f"{speed.share:.0%}", f"{rate / 1e12:.3g} TFLOP/s"
    return said(
        f"{took} a step, {pace} tokens/s, {total} in all, if a device keeps up {share} of {peak} ({speed.named})",
        f"每步 {took}，{pace} 词元/秒，共 {total}；假设单设备持续达到 {peak} 的 {share}（{speed.named.zh}）",
    )


def duration(seconds: float) -> str:
    """A time with the unit in which a person reads it."""
    for size, unit in ((86400.0, "d"), (3600.0, "h"), (60.0, "min"), (1.0, "s")):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.3g} s" if seconds >= 0.1 else f"{seconds * 1e3:.3g} ms"


def memory_text(one: Outlook) -> None:
    """The ledger: an item a row, a pipeline stage a column."""
    out, stages = console(), _shown_stages(one.ledger.stages)
    table = _table(out, in_language(said("item", "项目")))
    for stage in stages:
        title = said(f"stage {stage.number}", f"阶段 {stage.number}") if len(stages) > 1 else said("a device", "单个设备")
        table.add_column(in_language(title), justify="right")
    table.add_column(in_language(said("held at", "持有时刻")))
    table.add_column(in_language(said("formula", "公式")))
    for rows in zip(*(stage.rows for stage in stages), strict=True):
        moments = ", ".join(rows[0].moments) if len(rows[0].moments) < 3 else in_language(said("always", "始终"))
        table.add_row(rows[0].item, *(gigabytes(row.bytes) if row.bytes else "-" for row in rows), moments, in_language(rows[0].formula))
    table.add_section()
    for moment in stages[0].moments:
        table.add_row(
            in_language(said(f"sum at {moment}", f"{moment} 时合计")), *(gigabytes(stage.moments[moment]) for stage in stages), "", ""
        )
    table.add_row(in_language(said("peak", "峰值")), *(gigabytes(stage.peak) for stage in stages), "", "")
    table.add_row(in_language(said("with headroom", "含余量")), *(gigabytes(stage.peak * HEADROOM) for stage in stages), "", "x 1.3")
    _show(out, table)


def _shown_stages(stages: Sequence[Stage]) -> Sequence[Stage]:
    """All, or of many the first ones and the last."""
    return stages if len(stages) <= _STAGES else (*stages[: _STAGES - 1], stages[-1])


def _show(out: Console, table: Table) -> None:
    """Without the blanks that fill the last column."""
    with out.capture() as captured:
        out.print(table)
    print("\n".join(line.rstrip() for line in captured.get().splitlines()))


def _table(out: Console, *columns: str) -> Table:
    """With rules on a terminal, plain elsewhere."""
    return Table(*columns) if out.is_terminal else Table(*columns, box=None, pad_edge=False)


def layouts_text(one: Outlook) -> None:
    """The layouts from the lightest, with their place by time; then what was rejected."""
    out, found = console(), one.found
    place = {candidate.shape: number for number, candidate in enumerate(found.by_time, 1)}
    table = _table(out)
    for title in (
        said("layout", "布局"), said("micro batch", "微批"), said("accumulation", "累积"), said("peak", "峰值"),
        said("bubble", "空泡"), said("a step", "每步"), said("by time", "按时间"),
    ):  # fmt: skip
        table.add_column(in_language(title), justify="left" if title == "layout" else "right")
    for candidate in found.candidates[:_LAYOUTS]:
        table.add_row(*_candidate(one, candidate), str(place[candidate.shape]))
    _show(out, table)
    number = len(found.candidates)
    fits = said(f"{counted(number, 'layout')} that {'fits' if number == 1 else 'fit'}", f"{number} 个可容纳的布局")
    print(_rest(number, _LAYOUTS, fits))
    if unbuilt := sum(not found.built(candidate) for candidate in found.candidates):
        target = found.devices.target
        print(
            in_language(
                said(
                    f"{unbuilt} of them, placed last, accumulate, which is not built on one {target}",
                    f"其中 {unbuilt} 个（排在最后）需要累积，而单个 {target} 上未实现累积",
                )
            )
        )
    if found.by_time:
        quickest = described(found.by_time[0].shape)
        print(in_language(said(f"fastest: {quickest or 'one device'}", f"最快：{quickest or '单设备'}")))
    grouped = _grouped(found.rejected)
    for what, reason in grouped[:_REJECTED]:
        print(in_language(said(f"rejected {what}: {reason}", f"排除 {in_language(what, 'zh')}：{in_language(reason, 'zh')}")))
    print(_rest(len(grouped), _REJECTED, said(counted(len(grouped), "rejection"), f"{len(grouped)} 条排除理由")))


def _grouped(rejected: Iterable[Rejected]) -> list[tuple[str, str]]:
    """Factors of one kind that share a reason, in one line: `context 2, 4, 8`."""
    lines: dict[tuple[str, str], list[str]] = {}
    for one in rejected:
        kind, _, factor = one.what.partition(" ") if one.shape is None else ("", "", one.what)
        lines.setdefault((kind, one.reason) if kind else (one.what, one.reason), []).append(factor)
    return [(f"{key[0]} {', '.join(factors)}" if factors != [key[0]] else key[0], key[1]) for key, factors in lines.items()]


def _candidate(one: Outlook, candidate: Candidate) -> list[str]:
    shape, batch = candidate.shape, candidate.batches[0]
    idle = (shape.pipeline - 1) / (shape.micro_batches + shape.pipeline - 1)
    return [
        described(shape) or in_language(said("one device", "单设备")),
        str(batch.micro_batch),
        str(batch.accumulation),
        gigabytes(candidate.peak),
        f"{idle:.0%}",
        duration(candidate.seconds / one.steps),
    ]


def _rest(count: int, shown: int, what: Said) -> str:
    hidden = max(0, count - shown)
    english = f", {hidden} not shown (--json shows all)" if hidden else ""
    chinese = f"，另有 {hidden} 条未显示（--json 显示全部）" if hidden else ""
    return in_language(said(f"{what}{english}", f"{what.zh}{chinese}"))
