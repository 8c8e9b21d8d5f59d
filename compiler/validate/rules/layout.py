"""The parallel layout must use exactly the devices there are, and divide the network evenly."""

from collections.abc import Iterator

from compiler.diagnostics import Diagnostic
from compiler.planning.architecture import architecture
from compiler.planning.layouts import Candidate
from compiler.planning.legality import no_context, only_data
from compiler.planning.shape import described
from compiler.planning.study import studied
from compiler.source import SourceTree
from compiler.spec import Spec
from compiler.spec.train import Layout
from compiler.validate.rules.data import repeated
from compiler.validate.rules.registry import Rules
from compiler.validate.rules.train import trainings
from compiler.wording import Said, said
from runtime.contracts.counting import counted

RULES = Rules()

_FACTORS = ("data", "tensor", "pipeline", "context")
_SUGGESTED = 3


def product(layout: Layout) -> int:
    """Devices that a layout uses."""
    return layout.data * layout.tensor * layout.pipeline * layout.context


@RULES.needing("parallel", "device")
def layout_uses_all_devices(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    layout, count = spec.parallel, spec.device.count
    if layout == "auto" or product(layout) == count:
        return
    factors = [getattr(layout, name) for name in _FACTORS]
    shown = factors if factors[3] != 1 else factors[:3]
    terms, names = " x ".join(map(str, shown)), " x ".join(_FACTORS[: len(shown)])
    fitting = fitting_layouts(spec)
    alternatives = said(f"; layouts that fit: {fitting}", f"；可容纳的布局：{fitting.zh}") if fitting else said("", "")
    yield Diagnostic(
        "MS0361",
        said(
            f"{names}: {terms} = {product(layout)}, but {counted(count, 'device')}",
            f"{names}：{terms} = {product(layout)}，但只有 {count} 个设备",
        ),
        path=("parallel",),
        reason=said(
            "mindformers would reset the layout to 1 without a word, or every rank would die after launch",
            "mindformers 会悄悄把布局重置为 1，或者所有进程在启动后报错退出",
        ),
        fix=said(
            f"make the product {count}, or set device.count to {product(layout)}{alternatives}",
            f"使乘积等于 {count}，或把 device.count 设为 {product(layout)}{alternatives.zh}",
        ),
    )


def fitting_layouts(spec: Spec) -> Said | None:
    """The lightest layouts that fit the devices of a spec, one for each division, as a spec writes them; None where none does.

    Those that would be refused for their accumulation are left out.
    """
    found = studied(spec)
    divisions = {one.shape[:4]: one for one in reversed(found.candidates) if found.built(one)}
    lightest = sorted(divisions.values(), key=lambda one: (one.shape.weight, one.seconds))[:_SUGGESTED]
    texts = [as_written(one, spec) for one in lightest]
    return said("; or ".join(texts), "；或 ".join(text.zh for text in texts)) if texts else None


def as_written(one: Candidate, spec: Spec) -> Said:
    """A layout as a spec writes it, with the batches that it needs where they are not the written ones."""
    trainings = (spec.pretrain, spec.finetune)
    changed: list[str] = []
    for name in ("micro_batch", "accumulation"):
        values = [getattr(batch, name) for batch in one.batches]
        if values != [getattr(training, name) for training in trainings]:
            changed.append(f"{name} {values[0]}" if len(set(values)) == 1 else f"{name} {values[0]} (pretrain) / {values[1]} (finetune)")
    shape, batches = f"{{{described(one.shape) or 'data: 1'}}}", ", ".join(changed)
    return said(f"{shape} with {batches}", f"{shape}（{batches}）") if changed else said(shape, shape)


@RULES.needing("device")
def several_devices_are_not_started(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    count = spec.device.count
    if count > 1:
        yield Diagnostic(
            "MS0362",
            said(
                f"{count} devices can be planned and compiled for, but this version starts one process a stage",
                f"可以为 {count} 个设备规划和编译，但本版本每个阶段只启动一个进程",
            ),
            path=("device", "count"),
            severity="warning",
            reason=said(
                "`mindspec run` refuses it before any work, and so does a stage that DVC starts",
                "`mindspec run` 会在开始之前拒绝，由 DVC 启动的阶段同样如此",
            ),
            fix=said("to run it here, set device.count to 1", "若要在此运行，请把 device.count 设为 1"),
        )


@RULES.needing("parallel", "model")
def pipeline_fits(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    layout = spec.parallel
    if layout == "auto":
        return
    if layout.micro_batches < layout.pipeline:
        yield Diagnostic(
            "MS0363",
            said(
                f"{counted(layout.micro_batches, 'micro batch', 'micro batches')}, but {layout.pipeline} pipeline stages",
                f"只有 {layout.micro_batches} 个微批，但有 {layout.pipeline} 个流水线阶段",
            ),
            path=("parallel", "micro_batches"),
            reason=said(
                "some stages would never have work; MindSpore refuses after launch", "部分阶段永远没有任务；MindSpore 启动后会拒绝"
            ),
            fix=said(
                f"choose at least {layout.pipeline}; four times as many keep the idle share below a fifth",
                f"至少取 {layout.pipeline}；取其四倍可使空泡占比低于五分之一",
            ),
        )
    if spec.model.num_layers % layout.pipeline:
        yield Diagnostic(
            "MS0363",
            said(
                f"model.num_layers = {spec.model.num_layers} does not divide into {layout.pipeline} stages",
                f"{spec.model.num_layers} 层不能均分为 {layout.pipeline} 个阶段",
            ),
            path=("parallel", "pipeline"),
            reason=said("the slowest stage would set the pace of all", "最慢的阶段会拖慢全部"),
            fix=said("choose a divisor of model.num_layers", "取 model.num_layers 的约数"),
        )


@RULES.needing("parallel")
def micro_batches_and_accumulation_agree(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    layout = spec.parallel
    if layout == "auto":
        return
    if layout.micro_batches > 1 and layout.pipeline == 1:
        yield Diagnostic(
            "MS0363",
            said(f"{layout.micro_batches} micro batches, but no pipeline", f"有 {layout.micro_batches} 个微批，但没有流水线"),
            path=("parallel", "micro_batches"),
            reason=said(
                "mindformers resets micro_batch_num to 1 without a pipeline, and the effective batch with it",
                "没有流水线时 mindformers 会把 micro_batch_num 重置为 1，有效批次随之改变",
            ),
            fix=said(
                f"write 1, and accumulation: {layout.micro_batches} for each training",
                f"写 1，并在各训练中写 accumulation: {layout.micro_batches}",
            ),
            suggestion="1",
        )
    for stage, training in trainings(spec):
        if training.accumulation > 1 and layout.pipeline > 1:
            yield Diagnostic(
                "MS0363",
                said(
                    f"{training.accumulation} forward passes an update, but a pipeline accumulates its micro batches",
                    f"每次更新 {training.accumulation} 次前向，但流水线以其微批完成累积",
                ),
                path=(stage, "accumulation"),
                reason=said(
                    "mindformers resets gradient_accumulation_steps to 1 in a pipeline, and the effective batch with it",
                    "使用流水线时 mindformers 会把 gradient_accumulation_steps 重置为 1，有效批次随之改变",
                ),
                fix=said(
                    f"write 1, and parallel.micro_batches: {layout.micro_batches * training.accumulation}",
                    f"写 1，并写 parallel.micro_batches: {layout.micro_batches * training.accumulation}",
                ),
                suggestion="1",
            )


@RULES.needing("parallel", "model")
def tensor_parallelism_fits(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    if spec.parallel == "auto":
        return
    tensor = spec.parallel.tensor
    for name in ("num_heads", "num_kv_heads", "intermediate_size"):
        size = getattr(spec.model, name)
        if size % tensor:
            yield _uneven(name, size, tensor)


def _uneven(name: str, size: int, tensor: int) -> Diagnostic:
    """A part of a layer that tensor parallelism cannot cut."""
    reason = (
        said(
            "the columns of the feed-forward layer are shared out; the graph would fail to compile on every rank",
            "前馈层按列切分；每个进程的计算图都会编译失败",
        )
        if name == "intermediate_size"
        else said(
            "a head is never divided; the graph would fail to compile on every rank", "注意力头不可再切分；每个进程的计算图都会编译失败"
        )
    )
    return Diagnostic(
        "MS0364",
        said(f"model.{name} = {size} does not divide over {tensor} devices", f"model.{name} = {size} 不能均分到 {tensor} 个设备"),
        path=("parallel", "tensor"),
        reason=reason,
        fix=said(f"choose a divisor of {size}", f"取 {size} 的约数"),
    )


@RULES.needing("parallel", "model", "tokenizer")
def vocabulary_divides(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    if spec.parallel == "auto":
        return
    rows, parts = architecture(spec).vocab_size, spec.parallel.tensor * spec.parallel.context
    if spec.parallel.tensor > 1 and rows % parts:
        yield Diagnostic(
            "MS0364",
            said(f"{rows} rows of embeddings do not divide over {parts} devices", f"{rows} 行词嵌入不能均分到 {parts} 个设备"),
            path=("parallel", "tensor"),
            severity="warning",
            reason=said(
                "mindformers then keeps the whole tables and computes the whole loss on each of them",
                "mindformers 会在每个设备上保留整张词表并计算完整的损失",
            ),
            fix=said(
                f"make model.vocab_size a multiple of {parts}: {-(-rows // parts) * parts}",
                f"把 model.vocab_size 设为 {parts} 的倍数：{-(-rows // parts) * parts}",
            ),
        )


@RULES.needing("parallel", "model")
def rows_divide_over_context(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    if spec.parallel != "auto" and spec.model.seq_length % spec.parallel.context:
        length, context = spec.model.seq_length, spec.parallel.context
        yield Diagnostic(
            "MS0364",
            said(
                f"model.seq_length = {length} does not divide over {context} devices",
                f"model.seq_length = {length} 不能均分到 {context} 个设备",
            ),
            path=("parallel", "context"),
            reason=said(
                "each device takes an equal part of every row; the graph would fail to compile",
                "每个设备处理每条样本的等长一段；计算图会编译失败",
            ),
            fix=said(f"choose a divisor of {length}", f"取 {length} 的约数"),
        )


@RULES.needing("parallel", "device")
def devices_can_do_it(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    layout, target = spec.parallel, spec.device.target
    if layout == "auto":
        return
    for name, single in (("tensor", 1), ("pipeline", 1), ("context", 1), ("optimizer_sharding", 0)):
        refused = only_data(target) or (no_context(target) if name == "context" else "")
        if getattr(layout, name) != single and refused:
            yield Diagnostic(
                "MS0367",
                said(f"a {target} cannot do it", f"{target} 不支持"),
                path=("parallel", name),
                reason=refused,
                fix=said(f"write {single}, or choose another device", f"写 {single}，或换用其他设备"),
                suggestion=str(single),
            )
    if layout.optimizer_sharding and layout.data == 1 and not only_data(target):
        yield Diagnostic(
            "MS0367",
            said("there are no replicas to shard over: data is 1", "没有可供切分的副本：data 为 1"),
            path=("parallel", "optimizer_sharding"),
            reason=said(
                "optimizer states are shared out among the devices that hold the same weights; alone each keeps all of them",
                "优化器状态在持有相同权重的设备之间切分；只有一个副本时仍保留全部",
            ),
            fix=said("write 0, or a larger data", "写 0，或增大 data"),
            suggestion="0",
        )


@RULES.needing("device")
def device_list_matches(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    device = spec.device
    listed = len(device.device_ids)
    if listed * device.nodes != device.count:
        yield Diagnostic(
            "MS0365",
            said(
                f"{counted(listed, 'device id')} x {counted(device.nodes, 'node')} = {listed * device.nodes}, but count is {device.count}",
                f"{listed} 个设备编号 x {device.nodes} 个节点 = {listed * device.nodes}，但 count 为 {device.count}",
            ),
            path=("device", "device_ids"),
            reason=said("some ranks would have no device, or some devices no rank", "有的进程没有设备，或有的设备没有进程"),
            fix=said("list the devices of one node", "列出一个节点上的设备"),
        )
    yield from repeated(device.device_ids, ("device", "device_ids"))
