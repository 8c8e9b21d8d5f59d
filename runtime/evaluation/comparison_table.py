"""The comparison on a terminal."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from runtime.evaluation.comparison import Cell, Comparison, Row, Verdict

STYLES = {Verdict.BETTER: "green", Verdict.WORSE: "bold red", Verdict.UNDECIDED: "bold red", Verdict.NOT_COMPARABLE: "yellow"}
ARROWS = {"lower": "↓", "higher": "↑"}


def show(comparison: Comparison, console: Console) -> None:
    """Print one table an experiment and the verdict of the gate."""
    for row in comparison.rows:
        console.print(table(row))
    gated = [row for row in comparison.rows if row.settings.gate]
    if gated:
        console.print(Text("gate: passed", "green") if comparison.passes else Text("gate: failed", "bold red"))


def table(row: Row) -> Table:
    """Metrics of one experiment beside its baseline."""
    against = f" against {row.settings.baseline}" if row.settings.baseline else ""
    made = Table(title=f"{row.scores.name}{against}", title_justify="left", caption="arrow: the better direction", caption_justify="left")
    made.add_column("metric")
    for heading in ("value", "baseline", "difference", "allowed"):
        made.add_column(heading, justify="right")
    made.add_column("verdict")
    for cell in row.cells:
        verdict = Text(cell.verdict.value + (f": {cell.reason}" if cell.reason else ""), STYLES.get(cell.verdict, ""))
        made.add_row(
            f"{cell.metric} {ARROWS[cell.direction]}",
            number(cell.value),
            number(cell.baseline),
            difference(cell),
            number(cell.allowed),
            verdict,
        )
    return made


def number(value: float | None) -> str:
    """Six significant digits; a dash for none."""
    return "–" if value is None else f"{value:.6g}"


def difference(cell: Cell) -> str:
    """The signed difference, with the share of the baseline where there is one."""
    if cell.delta is None:
        return "–"
    share = f" ({cell.relative:+.2%})" if cell.relative is not None else ""
    return f"{cell.delta:+.6g}{share}"
