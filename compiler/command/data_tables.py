"""What data stages counted, as tables: the funnel over all stages, and one stage in detail."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from rich import box
from rich.table import Table
from rich.text import Text

from compiler.command.data_figures import details, figure, mixed, turned, warnings
from compiler.wording import Said, in_language, listed, said

Tree = Mapping[str, Any]
REASONS = 3
ALL = said("all", "合计")
PACKED = "pack-pretrain"
_COUNTS = (("documents", said("documents", "文档")), ("characters", said("characters", "字符")), ("bytes", said("MB", "MB")))
_BY_SOURCE = ("validation_by_source", "train_by_source")


def sources(metrics: Tree) -> list[str]:
    """The sources that a stage tells of."""
    return list(dict.fromkeys(name for key in ("sources", "recipes", *_BY_SOURCE) for name in _mapping(metrics.get(key))))


def whole(stages: Mapping[str, Tree], only: str | None) -> Iterator[Table | Text]:
    """Sources against the stages of the corpus: documents and MB that leave each, tokens at the end; then the rows of instructions."""
    flows = {name: metrics for name, metrics in stages.items() if is_flow(metrics)}
    if flows:
        packed = _mapping(stages.get(PACKED, {}).get("train_by_source"))
        yield _corpus(flows, packed, only)
        yield from _shares(_mapping(stages.get("mix", {}).get("mix")), str(stages.get("mix", {}).get("unit", "bytes")), packed, only)
    for name, metrics in stages.items():
        if name not in flows and not (name == PACKED and flows):
            yield from stage(name, metrics, only)


def is_flow(metrics: Tree) -> bool:
    """Whether a stage counts documents on their way in and out, by source."""
    return "documents_in" in metrics and isinstance(metrics.get("sources"), Mapping)


def _corpus(flows: Mapping[str, Tree], tokens: Tree, only: str | None) -> Table:
    table = Table(
        in_language(said("source", "来源")),
        box=box.SIMPLE_HEAD,
        title=in_language(said("documents, and MB of text, behind each stage", "各阶段之后的文档数与文本 MB")),
    )
    for head in (said("raw", "原始"), *flows, *([said("tokens", "词元")] if tokens else [])):
        table.add_column(in_language(head), justify="right")
    names = [name for name in sources(next(iter(flows.values()))) if only in (None, name)]
    for name in names:
        count = [f"{_mapping(tokens.get(name)).get('tokens', 0):,}"] if tokens else []
        table.add_row(name, *(_cell(one) for one in _ends([_of(metrics, name) for metrics in flows.values()])), *count)
    if only is None:
        count = [f"{sum(one.get('tokens', 0) for one in tokens.values()):,}"] if tokens else []
        table.add_section()
        table.add_row(in_language(ALL), *(_cell(one) for one in _ends(list(flows.values()))), *count)
    return table


def _shares(mix: Tree, unit: str, packed: Tree, only: str | None) -> Iterator[Table]:
    """What each source was to give beside what it gives: by the estimates of the mix, and by the tokens that are trained on."""
    names = [name for name in mix if only in (None, name)]
    if not packed or not names:
        return
    title = said(f"shares: asked and in the mix by {unit}, in training by tokens", f"比例：要求与混合按{_UNIT[unit]}，训练按词元")
    table = Table(in_language(said("source", "来源")), box=box.SIMPLE_HEAD, title=in_language(title))
    for head in (said("asked", "要求"), said("in the mix", "混合后"), said("trained tokens", "训练词元"), said("difference", "相差")):
        table.add_column(in_language(head), justify="right")
    for name in names:
        asked, mixed = (_mapping(mix[name]).get(key, 0.0) for key in ("target_share", "share"))
        trained = _mapping(packed.get(name)).get("share_of_tokens", 0.0)
        table.add_row(name, *(f"{share:.2%}" for share in (asked, mixed, trained)), f"{100 * (trained - asked):+.2f}")
    yield table


_UNIT = {"bytes": "字节", "tokens": "词元（估计）"}


def _ends(flows: Sequence[Tree]) -> list[tuple[Any, Any]]:
    """(documents, bytes) before the first stage and behind every one."""
    first = flows[0]
    return [(first.get("documents_in"), first.get("bytes_in")), *((one.get("documents_out"), one.get("bytes_out")) for one in flows)]


def _cell(amount: tuple[Any, Any]) -> str:
    documents, size = amount
    return "-" if documents is None else f"{documents:,}\n{megabytes(size)}"


def stage(name: str, metrics: Tree, only: str | None) -> Iterator[Table | Text]:
    """One stage in detail, and what it warned of."""
    yield from _flows(name, metrics, only) if is_flow(metrics) else _figures(name, metrics, only)
    yield from warnings(metrics)


def _flows(name: str, metrics: Tree, only: str | None) -> Iterator[Table]:
    yield _flow(name, metrics, only)
    if languages := _mapping(metrics.get("languages")):
        yield _languages(languages)
    yield from mixed(_rows(metrics, "mix", only))
    if only is None:
        yield from details(metrics)


def _figures(name: str, metrics: Tree, only: str | None) -> Iterator[Table]:
    tables = [(key, _rows(metrics, key, only)) for key in ("sources", *_BY_SOURCE, "splits")]
    for key, rows in tables:
        if rows:
            yield _plain(f"{name}: {figure(key)}", rows)
    recipes = _rows(metrics, "recipes", only)
    if recipes:
        yield turned(f"{name}: {figure('recipes')}", recipes)
    if not recipes and not any(rows for _, rows in tables):
        yield _leaves(name, metrics)


def _rows(metrics: Tree, key: str, only: str | None) -> dict[str, Tree]:
    """The figures of every source, or split, that are a row of them."""
    found = {name: _mapping(row) for name, row in _mapping(metrics.get(key)).items()}
    return {name: row for name, row in found.items() if row and (key == "splits" or only in (None, name))}


def _flow(name: str, metrics: Tree, only: str | None) -> Table:
    table = Table(in_language(said("source", "来源")), box=box.SIMPLE_HEAD, title=name)
    for _, head in _COUNTS:
        for end in (said("in", "入"), said("out", "出")):
            table.add_column(in_language(said(f"{head} {end}", f"{head.zh}{end.zh}")), justify="right")
    table.add_column(in_language(said("dropped, most frequent first", "丢弃原因（按频次）")))
    for source in (source for source in sources(metrics) if only in (None, source)):
        table.add_row(source, *_counts(_of(metrics, source)))
    if only is None:
        table.add_section()
        table.add_row(in_language(ALL), *_counts(metrics))
    return table


def _counts(flow: Tree) -> list[str]:
    numbers = [_amount(kind, flow.get(f"{kind}_{end}")) for kind, _ in _COUNTS for end in ("in", "out")]
    return [*numbers, in_language(reasons(_mapping(flow.get("dropped"))))]


def _amount(kind: str, value: Any) -> str:
    return "-" if value is None else megabytes(value) if kind == "bytes" else f"{value:,}"


def reasons(dropped: Tree) -> Said:
    """The most frequent reasons with their counts."""
    ordered = sorted(((name, count) for name, count in dropped.items() if count), key=lambda one: (-one[1], one[0]))
    shown = [f"{name} {count:,}" for name, count in ordered[:REASONS]]
    rest = sum(count for _, count in ordered[REASONS:])
    return listed([*shown, *([said(f"others {rest:,}", f"其他 {rest:,}")] if rest else [])])


def _languages(languages: Tree) -> Table:
    table = Table(in_language(said("language", "语言")), box=box.SIMPLE_HEAD)
    for head in (said("documents in", "文档入"), said("documents out", "文档出"), said("MB out", "MB出")):
        table.add_column(in_language(head), justify="right")
    table.add_column(in_language(said("dropped", "丢弃")))
    for name, flow in languages.items():
        size = megabytes(flow["bytes_out"]) if "bytes_out" in flow else "-"
        table.add_row(
            name, f"{flow['documents_in']:,}", f"{flow['documents_out']:,}", size, in_language(reasons(_mapping(flow.get("dropped"))))
        )
    return table


def _plain(title: str, rows: Mapping[str, Tree]) -> Table:
    """One row of figures each, columns in the order they are met; what is nested is told as reasons are."""
    heads = list(dict.fromkeys(head for row in rows.values() for head in row))
    table = Table("", box=box.SIMPLE_HEAD, title=title)
    for head in heads:
        table.add_column(figure(head), justify="right" if all(_is_number(row.get(head, 0)) for row in rows.values()) else "left")
    for name, row in rows.items():
        table.add_row(name, *(_shown(row.get(head)) for head in heads))
    return table


def _leaves(name: str, metrics: Tree) -> Table:
    table = Table("", "", box=box.SIMPLE, show_header=False, title=name)
    for key in (key for key in metrics if key != "warnings"):
        table.add_row(figure(key), _shown(metrics[key]))
    return table


def _shown(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, Mapping):
        counts = cast(Tree, value)
        return in_language(reasons(counts)) if all(_is_number(one) for one in counts.values()) else ", ".join(counts)
    if _is_number(value):
        return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"
    return in_language(listed(cast("Sequence[object]", value))) if isinstance(value, list) else str(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def megabytes(size: Any) -> str:
    """Bytes as MB of 1e6, to about three digits."""
    if size is None:
        return "-"
    amount = size / 1e6
    return f"{amount:,.1f}" if amount >= 10 else f"{amount:.2f}" if amount >= 0.095 or not amount else f"{amount:.2g}"


def _of(metrics: Tree, source: str) -> Tree:
    return _mapping(_mapping(metrics.get("sources")).get(source))


def _mapping(value: Any) -> Tree:
    return cast(Tree, value) if isinstance(value, Mapping) else {}
