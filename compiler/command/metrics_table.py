"""The headline metrics of experiments, side by side on the terminal."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from rich.console import Console
from rich.table import Table

# Metric -> (title, digits); shown for the base and the merged model.
SHOWN = {
    "bits_per_byte": ("bits per byte", 4),
    "perplexity": ("perplexity", 2),
    "answer_loss": ("answer loss", 4),
    "exact_match": ("exact match", 4),
}


WIDE = 200


def console() -> Console:
    """Standard output; where it is no terminal, wide enough that no name is cut."""
    made = Console()
    return made if made.is_terminal else Console(width=WIDE)


def read_headline(experiment: Path) -> dict[str, dict[str, float | None]]:
    """Model (unigram, base, merged) -> metric -> value, from `metrics/evaluate.json`; empty where there is none."""
    try:
        content: Any = json.loads((experiment / "metrics" / "evaluate.json").read_bytes())
    except (OSError, ValueError):
        return {}
    metrics = cast(dict[str, Any], content) if isinstance(content, dict) else {}
    models = {model: metrics[model] for model in ("unigram", "base", "merged") if isinstance(metrics.get(model), Mapping)}
    return {model: {name: values[name] for name in SHOWN if name in values} for model, values in models.items()}


def headline_table(headlines: Mapping[str, Mapping[str, Mapping[str, float | None]]]) -> Table:
    """One row for each experiment and model."""
    table = Table("experiment", "model")
    for title, _ in SHOWN.values():
        table.add_column(title, justify="right")
    for name, models in headlines.items():
        for model, values in models.items():
            table.add_row(name, model, *(_number(values.get(metric), digits) for metric, (_, digits) in SHOWN.items()))
    return table


def _number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"
