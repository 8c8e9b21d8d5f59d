"""A mix has one budget, and amounts of single sources fit into it."""

from collections.abc import Iterator

from compiler.diagnostics import Diagnostic
from compiler.source import Path, SourceTree
from compiler.spec import Spec
from compiler.spec.data.mixing import Amount, Mix
from compiler.suggest import closest, did_you_mean, offered
from compiler.validate.rules.registry import Rules
from compiler.wording import Said, listed, said

RULES = Rules()

MIX: Path = ("data", "pretrain", "mix")
_UNKNOWN_SIZE = said("the size of the mix would be unknown", "混合后的语料大小将无法确定")


@RULES.needing("data")
def one_budget(spec: Spec, tree: SourceTree) -> Iterator[Diagnostic]:
    mix = spec.data.pretrain.mix
    if mix.budget_bytes is not None and mix.budget_tokens is not None:
        yield _both_budgets(tree)
    elif mix.budget_bytes is None and mix.budget_tokens is None:
        yield Diagnostic(
            "MS0431",
            said("the mix has no budget", "混合没有给出总量"),
            path=MIX,
            reason=_UNKNOWN_SIZE,
            fix=said("write budget_bytes, such as 8MB, or budget_tokens", "请写 budget_bytes（如 8MB）或 budget_tokens"),
        )


def _both_budgets(tree: SourceTree) -> Diagnostic:
    """The fault stands at the one that a person added, and names the place of the other, which may be inherited."""
    own, other = sorted([(*MIX, "budget_tokens"), (*MIX, "budget_bytes")], key=lambda path: _depth(tree, path))
    name, inherited = str(other[-1]), tree.place(own).file != tree.place(other).file
    return Diagnostic(
        "MS0431",
        said("budget_bytes and budget_tokens are both given", "同时给出了 budget_bytes 和 budget_tokens"),
        path=own,
        reason=_UNKNOWN_SIZE,
        fix=said(
            f"write {name}: null beside it, which takes the inherited one out" if inherited else "remove one of the two",
            f"请在旁边写 {name}: null 以取消继承的那个值" if inherited else "请删除其中一个",
        ),
        related=((said(f"{name} is given here", f"{name} 写在这里"), tree.place(other)),),
    )


def _depth(tree: SourceTree, path: Path) -> int:
    """0 for the command line, 1 for an experiment, 2 for a file on which experiments build."""
    file = tree.place(path).file
    return 1 + (not file.startswith("specs/experiment/")) if file.startswith("specs/") else 0


@RULES.needing("data")
def amounts_are_of_sources(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    sources = spec.data.pretrain.sources
    for name in spec.data.pretrain.mix.sources:
        if name not in sources:
            meant = closest(name, sources)
            yield Diagnostic(
                "MS0432",
                said(f"{name} is no source of data.pretrain.sources", f"data.pretrain.sources 中没有来源 {name}"),
                path=(*MIX, "sources", name),
                reason=said("the amount would be given by nothing", "没有来源能提供这个用量"),
                fix=did_you_mean(meant)
                if meant
                else said(f"the sources are {offered(name, sources)}", f"现有来源：{offered(name, sources).zh}"),
                suggestion=meant or "",
            )


@RULES.needing("data")
def amounts_hold_together(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    corpus = spec.data.pretrain
    for name, amount in corpus.mix.sources.items():
        weight = corpus.sources[name].weight if name in corpus.sources else 1.0
        fault = _contradiction(amount, corpus.mix, weight)
        if fault:
            message, reason, fix = fault
            yield Diagnostic("MS0433", message, path=(*MIX, "sources", name), reason=reason, fix=fix)


def _contradiction(amount: Amount, mix: Mix, weight: float) -> tuple[Said, Said, Said] | None:
    given = [field for field in ("epochs", "bytes", "tokens") if getattr(amount, field) is not None]
    if len(given) != 1:
        return (
            said("no amount is given", "没有给出用量")
            if not given
            else said(f"{listed(given)} are given at once", f"同时给出了 {listed(given).zh}"),
            said("they say different things of one source, or nothing", "它们对同一来源的说法不同，或什么也没说"),
            said(
                "give exactly one of epochs, bytes and tokens; null takes an inherited one out, as in bytes: null",
                "请在 epochs、bytes、tokens 中只给一个；用 null 取消继承的值，例如 bytes: null",
            ),
        )
    if weight == 0:
        return (
            said("the source has weight 0 and an amount", "该来源的权重为 0，却给出了用量"),
            said("weight 0 leaves a source out", "权重 0 表示不使用该来源"),
            said("remove one of the two", "请删除其中一个"),
        )
    if amount.epochs is not None and amount.epochs > mix.epochs_max:
        return (
            said(
                f"{amount.epochs:g} epochs are asked for, but epochs_max is {mix.epochs_max}",
                f"要求用 {amount.epochs:g} 遍，而 epochs_max 为 {mix.epochs_max}",
            ),
            said(
                "text that is repeated is learned by heart, so repeating is confirmed by epochs_max",
                "重复的文本会被背诵，因此重复须用 epochs_max 确认",
            ),
            said("raise data.pretrain.mix.epochs_max, or lower epochs", "请提高 data.pretrain.mix.epochs_max，或减小 epochs"),
        )
    return None


@RULES.needing("data")
def amounts_fit_the_budget(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    mix = spec.data.pretrain.mix
    for unit, budget in (("bytes", mix.budget_bytes), ("tokens", mix.budget_tokens)):
        total = sum(getattr(amount, unit) or 0 for amount in mix.sources.values())
        if budget is not None and total > budget:
            yield Diagnostic(
                "MS0433",
                said(
                    f"the amounts come to {total} {unit}, the budget is {budget}",
                    f"各来源用量共 {total} {_UNITS[unit]}，而总量只有 {budget}",
                ),
                path=(*MIX, "sources"),
                reason=said(
                    "nothing would be left for the others, and not even the amounts would fit", "其他来源将一无所有，这些用量本身也放不下"
                ),
                fix=said(
                    f"raise data.pretrain.mix.budget_{unit}, or lower the amounts",
                    f"请提高 data.pretrain.mix.budget_{unit}，或减小这些用量",
                ),
            )


_UNITS = {"bytes": "字节", "tokens": "词元"}
