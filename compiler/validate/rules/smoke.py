"""What a small twin cannot have, and what may not fit into it."""

from collections.abc import Iterator
from pathlib import Path

from compiler.diagnostics import Diagnostic
from compiler.instruct_sample import sample
from compiler.parse.smoke import KEY
from compiler.source import SourceTree, dotted
from compiler.spec import Spec
from compiler.spec.data.synthetic import recipe_of
from compiler.validate.rules.registry import Rules
from compiler.wording import said

RULES = Rules()

_ALWAYS = (("name",), ("parallel",))  # whose own form in the twin is no surprise: NAME--smoke, and auto on one device


@RULES.needing("smoke")
def what_is_given_holds(_spec: Spec, tree: SourceTree) -> Iterator[Diagnostic]:
    for path, place in tree.overruled.items():
        if path not in _ALWAYS:
            name = dotted(path)
            yield Diagnostic(
                "MS0122",
                said(f"a small twin does not take {name} from the command line", f"小型试运行不采用命令行给出的 {name}"),
                place,
                path,
                reason=said(
                    "it runs on one device, in types that the device computes; every other override beside smoke=true holds",
                    "它只在一个设备上运行，并使用该设备支持的类型；smoke=true 之外的其他覆盖项均按所写生效",
                ),
                fix=said("leave it out, or leave smoke=true out", "请去掉它，或去掉 smoke=true"),
                severity="warning",
            )


@RULES.needing("smoke", "data", "model")
def rows_fit_the_twin(spec: Spec, tree: SourceTree) -> Iterator[Diagnostic]:
    if not spec.smoke or tree.place(("model", "seq_length")) != tree.place(KEY):
        return
    for name, source in spec.data.instruct.sources.items():
        lengths = sorted(sample(source, Path(tree.root)).tokens) if source.weight != 0 and recipe_of(source.path) is None else []
        long = [length for length in lengths if length > spec.model.seq_length]
        if 2 * len(long) > len(lengths):
            yield _too_long(name, long, len(lengths), spec.model.seq_length)


def _too_long(name: str, long: list[int], looked: int, room: int) -> Diagnostic:
    wanted = f"model.seq_length={1 << long[-1].bit_length()}"
    return Diagnostic(
        "MS0445",
        said(
            f"{len(long)} of the first {looked} rows of {name} are unlikely to fit: a row of the small twin has {room} tokens",
            f"{name} 的前 {looked} 个样本中有 {len(long)} 个可能放不下：小型试运行每行只有 {room} 个词元",
        ),
        path=("data", "instruct", "sources", name),
        reason=said(
            "a row whose answers, tools and system text do not fit is dropped, and a source without any row left ends the stage format",
            "回答、工具与系统文本放不下的样本会被丢弃；若某个来源一个样本都不剩，format 阶段就会终止",
        ),
        fix=said(f"give {wanted} beside smoke=true", f"请在 smoke=true 之外再给出 {wanted}"),
        suggestion=wanted,
        severity="warning",
    )
