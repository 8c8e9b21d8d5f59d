"""The comparison on a terminal."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from runtime.evaluation.comparison import Cell, Comparison, Row, Verdict

STYLES = {Verdict.BETTER: "green", Verdict.WORSE: "bold red", Verdict.UNDECIDED: "bold red", Verdict.NOT_COMPARABLE: "yellow"}
ARROWS = {"lower": "↓", "higher": "↑"}
PIPED_WIDTH = 120


def console() -> Console:
    """Standard output; where that is no terminal, wide enough for a whole table."""
    made = Console(highlight=False)
    return made if made.is_terminal else Console(highlight=False, width=PIPED_WIDTH)


def show(comparison: Comparison, console: Console) -> None:
    """Print one table an experiment, why values cannot be compared, and the verdict of the gate."""
    for row in comparison.rows:
        console.print(table(row))
        for reason, metrics in obstacles(row).items():
            console.print(Text(f"  {', '.join(metrics)}: {reason}", "yellow"))
    console.print("arrows point to the better direction")
    if any(row.settings.gate for row in comparison.rows):
        console.print(Text("gate: passed", "green") if comparison.passes else Text("gate: failed", "bold red"))


def table(row: Row) -> Table:
    """Metrics of one experiment, beside its baseline where it has one."""
    against = row.settings.baseline
    made = Table(title=f"{row.scores.name} against {against}" if against else row.scores.name, title_justify="left")
    made.add_column("metric", no_wrap=True)
    for heading in ("value", "baseline", "difference", "allowed") if against else ("value",):
        made.add_column(heading, justify="right", no_wrap=True)
    if against:
        made.add_column("verdict", no_wrap=True)
    for cell in row.cells:
        compared = (number(cell.baseline), difference(cell), number(cell.allowed), Text(cell.verdict.value, STYLES.get(cell.verdict, "")))
        made.add_row(f"{cell.metric} {ARROWS[cell.direction]}", number(cell.value), *(compared if against else ()))
    return made


def obstacles(row: Row) -> dict[str, list[str]]:
    """Reason -> the metrics that it keeps from being shown or compared."""
    found: dict[str, list[str]] = {}
    for cell in row.cells:
        if cell.reason:
            found.setdefault(cell.reason, []).append(cell.metric)
    return found


def number(value: float | None) -> str:
    """Six significant digits; a dash for none."""
    return "–" if value is None else f"{value:.6g}"


def difference(cell: Cell) -> str:
    """The signed difference, with the share of the baseline where there is one."""
    if cell.delta is None:
        return "–"
    share = f" ({cell.relative:+.2%})" if cell.relative is not None else ""
    return f"{cell.delta:+.6g}{share}"
