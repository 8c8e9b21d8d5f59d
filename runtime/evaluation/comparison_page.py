"""The comparison as one self-contained HTML page: no script, no link to another file."""

from jinja2 import Environment, StrictUndefined

from runtime.evaluation.comparison import Cell, Comparison, Row
from runtime.evaluation.comparison_table import ARROWS, difference, number

TEMPLATE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Comparison of experiments</title>
<style>
:root { color-scheme: light dark; --line: #8883; --faint: #6b6b6b; --good: #1a7f37; --bad: #cf222e; --odd: #9a6700; }
@media (prefers-color-scheme: dark) { :root { --faint: #a0a0a0; --good: #3fb950; --bad: #f85149; --odd: #d29922; } }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 76rem; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.5rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { border-bottom: 1px solid var(--line); padding: .35rem .7rem; text-align: right; vertical-align: top; }
th:first-child, td:first-child, .text { text-align: left; }
thead th { font-weight: 600; border-bottom-width: 2px; white-space: nowrap; }
small { color: var(--faint); display: block; }
.better { color: var(--good); } .worse, .undecided { color: var(--bad); font-weight: 600; } .not-comparable { color: var(--odd); }
.gate { border: 1px solid currentColor; border-radius: .3rem; padding: .1rem .5rem; }
code { overflow-wrap: anywhere; }
</style>
</head>
<body>
<h1>Comparison of experiments</h1>
{% if gated %}
<p>Gate: <span class="gate {{ 'better' if comparison.passes else 'worse' }}">{{ 'passed' if comparison.passes else 'failed' }}</span></p>
{% endif %}
<p>↓ lower is better, ↑ higher is better. A difference is the experiment minus its baseline. Metrics that begin with
<code>base.</code> are those of the model before fine-tuning.</p>
<div class="wide"><table>
<thead><tr><th>experiment</th>{% for metric in headings %}<th>{{ metric }} {{ arrows[directions[metric]] }}</th>{% endfor %}</tr></thead>
<tbody>
{% for row in comparison.rows %}<tr><td><a href="#{{ row.scores.name }}">{{ row.scores.name }}</a>
{%- if row.settings.baseline %}<small>against {{ row.settings.baseline }}</small>{% endif %}</td>
{%- for cell in across(row) %}
<td>{% if cell %}{{ number(cell.value) }}<small class="{{ css(cell) }}">{{ brief(cell) }}</small>{% else %}–{% endif %}</td>
{%- endfor %}</tr>
{% endfor %}</tbody>
</table></div>
{% for row in comparison.rows %}
<h2 id="{{ row.scores.name }}">{{ row.scores.name }}{% if row.settings.baseline %} against {{ row.settings.baseline }}{% endif %}</h2>
<div class="wide"><table>
<thead><tr><th>metric</th><th>value</th><th>baseline</th><th>difference</th><th>allowed</th><th class="text">verdict</th></tr></thead>
<tbody>
{% for cell in row.cells %}<tr><td>{{ cell.metric }} {{ arrows[cell.direction] }}</td>
<td>{{ number(cell.value) }}</td><td>{{ number(cell.baseline) }}</td><td>{{ difference(cell) }}</td><td>{{ number(cell.allowed) }}</td>
<td class="text {{ css(cell) }}">{{ cell.verdict.value }}
{%- if cell.reason %}<small>{{ cell.reason }}</small>{% endif %}</td></tr>
{% endfor %}</tbody>
</table></div>
<p><small>data <code>{{ shown(row.scores.data_version) }}</code></small>
<small>model <code>{{ shown(row.scores.model_version) }}</code></small></p>
{% endfor %}
</body>
</html>
"""


def render(comparison: Comparison) -> str:
    """The page; its bytes depend on the comparison alone."""
    environment = Environment(autoescape=True, undefined=StrictUndefined, keep_trailing_newline=True)
    directions = {cell.metric: cell.direction for row in comparison.rows for cell in row.cells}
    headings = [metric for metric in comparison.metrics if not metric.startswith(("base.", "core.exact_match."))]
    return environment.from_string(TEMPLATE).render(
        comparison=comparison,
        gated=any(row.settings.gate for row in comparison.rows),
        headings=headings,
        directions=directions,
        arrows=ARROWS,
        across=lambda row: _across(row, headings),
        number=number,
        difference=difference,
        brief=_brief,
        css=lambda cell: cell.verdict.value.replace(" ", "-"),
        shown=_shown,
    )


def _across(row: Row, headings: list[str]) -> list[Cell | None]:
    """The cells of a row under the headings; None where it lacks one."""
    cells = {cell.metric: cell for cell in row.cells}
    return [cells.get(metric) for metric in headings]


def _brief(cell: Cell) -> str:
    if cell.delta is None:
        return "" if cell.verdict.value == "no baseline" else cell.verdict.value
    return f"{difference(cell)} {cell.verdict.value}"


def _shown(version: object) -> str:
    """A version record on one line: its plain values, nested parts left to `record.json`."""
    if isinstance(version, dict):
        return ", ".join(f"{key} {value}" for key, value in version.items() if isinstance(value, str | int | float))
    return "–" if version is None else str(version)
