"""report: one HTML page and `record.json` (data version, model version, evaluation report)."""

from collections.abc import Sequence

from runtime.contracts.base import Contract, parameters

FUNNEL = "plots/funnel.csv"  # every step's text by source: no stage before the report knows them all
TEMPLATES = (
    "report.html.j2", "macros.html.j2", "curve.svg.j2", "funnel.svg.j2", "lineage.svg.j2", "style.css", "script.js",
    "sections/results.html.j2", "sections/training.html.j2", "sections/data.html.j2", "sections/dropped.html.j2",
    "sections/tokenizer.html.j2", "sections/evaluation.html.j2", "sections/settings.html.j2", "sections/lineage.html.j2",
    "sections/environment.html.j2", "sections/record.html.j2",
)  # fmt: skip


@parameters
class Report:
    """`experiment`: the name under which the record is compared with others; `optional`: the optional stages that it has."""

    experiment: str
    optional: tuple[str, ...] = ()


def contract(before: Sequence[Contract]) -> Contract:
    """The contract of a report on all stages before it; where an experiment lacks an optional one, the compiler leaves it out."""
    return Contract(
        name="report",
        program="runtime.report.report",
        parameters=Report,
        inputs=tuple(one.output for one in before),
        output="report.html",
        records=("record.json",),
        plots=(FUNNEL,),
        axes={FUNNEL: {"x": "bytes", "y": "step", "template": "bar_horizontal"}},
        metrics=False,
        reads_metrics=tuple(one.name for one in before),
        reads_plots=("plots/pretrain.csv", "plots/finetune.csv"),
        reads_files=("presentation.yaml", "config/environment.yaml", *(one.config for one in before)),
        resources=tuple(f"runtime/report/templates/{template}" for template in TEMPLATES),
        environment=("python", "jinja2", "markupsafe"),
    )
