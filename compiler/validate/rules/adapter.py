"""Adapters must sit on layers that exist, be smaller than them, and be added with a scale that was meant."""

from collections.abc import Iterator

from compiler import suggest
from compiler.diagnostics import Diagnostic
from compiler.families import CELLS, layer
from compiler.planning.architecture import architecture
from compiler.source import SourceTree
from compiler.spec import Spec
from compiler.validate.rules.registry import Rules
from compiler.wording import said

RULES = Rules()

_USUAL_SCALE = (0.1, 8.0)  # of alpha / rank in published recipes: 16 / 64 to 32 / 4
_HUGGING_FACE = {cell: name for name, cell in CELLS.items()}


@RULES.needing("finetune")
def method_is_built(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    if spec.finetune.method == "full":
        yield Diagnostic(
            "MS0347",
            said("full fine-tuning is not built in this version", "此版本尚不支持全量微调"),
            path=("finetune", "method"),
            reason=said("the stages after it merge an adapter; there would be none", "后续阶段要合并适配器，而此时没有适配器"),
            fix=said("use lora", "使用 lora"),
            suggestion="lora",
        )
    elif spec.finetune.lora is None:
        yield Diagnostic(
            "MS0349",
            said("method lora needs the section lora", "method 为 lora 时需要 lora 一节"),
            path=("finetune", "lora"),
            reason=said("rank, alpha and targets decide what is trained", "rank、alpha 与 targets 决定训练哪些参数"),
            fix=said(
                "add `lora: {rank: 8, alpha: 16, targets: [q_proj, v_proj]}`",
                "加上 `lora: {rank: 8, alpha: 16, targets: [q_proj, v_proj]}`",
            ),
        )


@RULES.needing("finetune")
def targets_exist(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    known = {*CELLS, *CELLS.values()}
    for index, target in enumerate(spec.finetune.lora.targets if spec.finetune.lora else ()):
        if target not in known:
            meant = suggest.closest(target, known)
            names = ", ".join(CELLS)
            yield Diagnostic(
                "MS0348",
                said(f"no layer is named {target}", f"没有名为 {target} 的层"),
                path=("finetune", "lora", "targets", index),
                reason=said(
                    "a name that matches nothing is passed over, and the layer gets no adapter",
                    "匹配不到任何层的名称会被直接跳过，相应的层得不到适配器",
                ),
                fix=said(f"did you mean {meant}?", f"是否想写 {meant}？") if meant else said(f"known: {names}", f"可用的层：{names}"),
                suggestion=meant or "",
            )


@RULES.needing("finetune")
def targets_differ(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    seen: dict[str, str] = {}
    for index, target in enumerate(spec.finetune.lora.targets if spec.finetune.lora else ()):
        if layer(target) in seen and layer(target) in CELLS.values():
            before = seen[layer(target)]
            yield Diagnostic(
                "MS0330",
                said(f"{target} is the layer {before} written before", f"{target} 与前面写的 {before} 是同一层"),
                path=("finetune", "lora", "targets", index),
                reason=said("it changes nothing but the key of the stage", "除阶段的键之外，不会改变任何东西"),
                fix=said("remove it", "删去它"),
            )
        seen.setdefault(layer(target), target)


@RULES.needing("finetune", "model", "tokenizer")
def rank_is_low(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    lora = spec.finetune.lora
    shapes = architecture(spec).linear
    named = [_HUGGING_FACE.get(target, target) for target in lora.targets] if lora else []
    sides = {name: min(shapes[name]) for name in named if name in shapes}
    narrow = min(sides, key=lambda name: sides[name], default=None)
    if lora is not None and narrow is not None and lora.rank > sides[narrow]:
        inputs, outputs = shapes[narrow]
        yield Diagnostic(
            "MS0351",
            said(
                f"rank {lora.rank} is above what {narrow} can have: {inputs} x {outputs}",
                f"秩 {lora.rank} 超过 {narrow}（{inputs} x {outputs}）的最大秩",
            ),
            path=("finetune", "lora", "rank"),
            reason=said(
                "such an adapter holds more numbers than the layer it adapts, and can say nothing more",
                "这样的适配器比它所适配的层参数还多，却不能表达更多",
            ),
            fix=said("choose a rank such as 8", "取较小的秩，例如 8"),
        )


@RULES.needing("finetune")
def scale_is_usual(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    lora = spec.finetune.lora
    if lora is None:
        return
    scale, (low, high) = lora.alpha / lora.rank, _USUAL_SCALE
    if not low <= scale <= high:
        yield Diagnostic(
            "MS0357",
            said(
                f"alpha / rank = {lora.alpha:g} / {lora.rank} = {scale:.3g}: the adapter is added that many times",
                f"alpha / rank = {lora.alpha:g} / {lora.rank} = {scale:.3g}：适配器会按此倍数叠加",
            ),
            path=("finetune", "lora", "alpha"),
            reason=said(
                "it multiplies every update of the adapter: the loss jumps at a rate that suits others"
                if scale > high
                else "it divides every update of the adapter: the answers stay those of the base",
                "它会放大适配器的每次更新：常用的学习率下损失也会跳升" if scale > high else "它会缩小适配器的每次更新：回答仍与基座相同",
            ),
            fix=said(f"alpha is usually one or two times the rank: {2 * lora.rank}", f"alpha 通常为 rank 的一到两倍：{2 * lora.rank}"),
            suggestion=str(2 * lora.rank),
            severity="warning",
        )
