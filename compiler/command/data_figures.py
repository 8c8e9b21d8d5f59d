"""Figures of single stages beside the counts of documents: what was removed, masked, hit, mixed, divided, asked; and warnings."""

from collections.abc import Iterator, Mapping
from typing import Any, cast

from rich import box
from rich.table import Table
from rich.text import Text

from compiler.command.data_rows import visible
from compiler.wording import in_language, said

Tree = Mapping[str, Any]
_ENDS = tuple(f"{kind}_{end}" for kind in ("documents", "characters", "bytes") for end in ("in", "out"))
_ELSEWHERE = (*_ENDS, "dropped", "sources", "languages", "mix", "warnings")
# Names of figures; one that is not here is shown as it is.
FIGURES = {
    "sources": said("by source", "按来源"),
    "validation_by_source": said("held-out text by source", "留出文本，按来源"),
    "train_by_source": said("training text by source", "训练文本，按来源"),
    "splits": said("splits", "划分"),
    "read": said("read", "读入"),
    "duplicates": said("duplicates", "重复"),
    "dropped": said("dropped", "丢弃"),
    "truncated": said("shortened", "截短"),
    "train_before_weights": said("training rows before weights", "加权前的训练行"),
    "weights_left_out": said("left out by weights", "因权重未用"),
    "weights_repeats": said("repeats by weights", "因权重重复"),
    "train": said("train", "训练"),
    "validation": said("validation", "验证"),
    "rows": said("rows", "行"),
    "documents": said("documents", "文档"),
    "tokens": said("tokens", "词元"),
    "trained_tokens": said("tokens in the loss", "计入损失的词元"),
    "dropped_tokens": said("dropped tokens", "丢弃的词元"),
    "bytes": said("bytes", "字节"),
    "bytes_per_token": said("bytes per token", "每词元字节数"),
    "byte_fallback_rate": said("tokens that are bytes", "单字节词元占比"),
    "unknown_rate": said("unknown tokens", "未知词元占比"),
    "recipes": said("by recipe", "按配方"),
    "wanted": said("rows asked for", "要求的行数"),
    "ended": said("ended by", "结束原因"),
    "requests": said("requests", "请求"),
    "steps": said("steps", "各步剩余"),
    "cost": said("cost", "费用"),
    "score_mean": said("mean score", "平均得分"),
    "warnings": said("warnings", "警告"),
    "encodings": said("encodings of files", "文件编码"),
    "byte_order_marks": said("byte order marks", "字节顺序标记"),
    "mojibake_repaired": said("mojibake repaired", "修复的乱码"),
    "characters_removed": said("characters removed", "删除的字符"),
    "lines_removed": said("lines removed", "删除的行"),
    "pii_masked": said("personal data masked", "遮盖的个人信息"),
    "perplexity": said("perplexity", "困惑度"),
    "clusters": said("groups of duplicates", "重复分组"),
    "clusters_by_source": said("groups by source", "各来源的分组"),
    "cluster_sizes": said("groups by size", "分组规模"),
    "duplicates_of": said("duplicates of", "与之重复的来源"),
    "contamination": said("text of evaluation sets", "评测集文字"),
    "topics": said("texts of a topic", "各主题文本"),
    "classes": said("classifier", "分类器"),
    "by": said("never divided", "不可拆分的单位"),
    "groups": said("groups", "分组数"),
    "overlap": said("overlap of the splits", "划分之间的重叠"),
    "long": said("long texts", "长文本"),
    "unit": said("unit", "单位"),
    "budget_bytes": said("budget, bytes", "总量（字节）"),
    "budget_tokens": said("budget, tokens", "总量（词元）"),
    "missing_bytes": said("missing bytes", "缺少的字节"),
    "missing_tokens": said("missing tokens", "缺少的词元"),
    "tokens_estimated": said("tokens, estimated", "词元（估计）"),
    "synthetic_share": said("share of synthetic text", "合成文本占比"),
    "real_share": said("share of real text", "真实文本占比"),
    "real_share_least": said("least share of real text", "真实文本最低占比"),
}


def figure(key: str) -> str:
    """The name of a figure."""
    return in_language(FIGURES.get(key, key.replace("_", " ")))


def details(metrics: Tree) -> Iterator[Table]:
    """What a stage counted besides documents, characters and bytes; nothing where that is all."""
    rows = [row for key, value in metrics.items() if key not in _ELSEWHERE for row in _lines(key, value)]
    if rows:
        table = Table("", "", box=box.SIMPLE, show_header=False)
        for row in rows:
            table.add_row(*row)
        yield table


def _lines(key: str, value: Any) -> Iterator[tuple[str, str]]:
    """One line for a figure, or one for each group of figures in it."""
    parts: Tree = cast(Tree, value) if isinstance(value, Mapping) else {}
    nested = {name: cast(Tree, part) for name, part in parts.items() if isinstance(part, Mapping)}
    plain = {name: part for name, part in parts.items() if name not in nested}
    if plain or not nested:
        yield figure(key), inline(plain if parts else value)
    for name, part in nested.items():
        yield f"{figure(key)}: {figure(name)}", inline(part)


def inline(value: Any) -> str:
    """A figure, or names with their figures in their order."""
    if isinstance(value, Mapping):
        parts = [f"{_named(name)} {_enclosed(part)}" for name, part in cast(Tree, value).items()]
        return in_language(said(", ", "，")).join(parts) or "-"
    if isinstance(value, list):
        return ", ".join(inline(one) for one in cast("list[object]", value)) or "-"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "-" if value is None else str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"


def _named(name: str) -> str:
    """A figure by its name; sources, reasons and rules as the spec and the other commands write them."""
    return in_language(FIGURES[name]) if name in FIGURES else name


def _enclosed(value: Any) -> str:
    return f"({inline(cast(Tree, value))})" if isinstance(value, Mapping) else inline(value)


def mixed(sources: Mapping[str, Tree]) -> Iterator[Table]:
    """What each source was to give to the mix and what it gives, by the units of the budget; nothing for another stage."""
    if not sources:
        return
    table = Table(in_language(said("source", "来源")), box=box.SIMPLE_HEAD, title=in_language(said("shares of the mix", "混合比例")))
    for head in (
        said("asked", "要求"),
        said("obtained", "得到"),
        said("without a mix", "不混合时"),
        said("times used", "使用次数"),
        said("tokens", "词元"),
    ):
        table.add_column(in_language(head), justify="right")
    for name, row in sources.items():
        shares = (f"{row.get(key) or 0.0:.2%}" for key in ("target_share", "share", "natural_share"))
        table.add_row(name, *shares, f"{row.get('repeats') or 0.0:.4g}", f"{row.get('tokens_estimated') or 0:,}")
    yield table


def turned(title: str, columns: Mapping[str, Tree]) -> Table:
    """One column a recipe: it has more figures than a line has room for."""
    table = Table("", *columns, box=box.SIMPLE_HEAD, title=title)
    for key in dict.fromkeys(key for column in columns.values() for key in column):
        table.add_row(figure(key), *(inline(column.get(key)) for column in columns.values()))
    return table


def warnings(metrics: Tree) -> Iterator[Text]:
    """What the stage warned of."""
    told = metrics.get("warnings")
    for sentence in cast("list[object]", told) if isinstance(told, list) else ():
        yield Text(visible(f"{in_language(said('warning: ', '警告：'))}{sentence}"))
