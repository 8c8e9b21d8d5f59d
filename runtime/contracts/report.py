"""report: one HTML page and `record.json` (data version, model version, evaluation report)."""

from runtime.contracts.base import Contract, parameters

STAGES = (
    "synthesize", "ingest", "clean", "dedup", "filter", "mix", "split", "tokenizer", "pack-pretrain", "pretrain",
    "format", "pack-instruct", "finetune", "merge", "export", "evaluate",
)  # fmt: skip
FOLDERS = (
    "synthetic", "corpus/ingest", "corpus/clean", "corpus/dedup", "corpus/filter", "corpus/mix", "corpus/split", "tokenizer",
    "packed/pretrain", "base", "instruct", "packed/instruct", "adapter", "merged", "mindir", "evaluation",
)  # fmt: skip
TEMPLATES = (
    "report.html.j2", "macros.html.j2", "curve.svg.j2", "funnel.svg.j2", "lineage.svg.j2", "style.css", "script.js",
    "sections/results.html.j2", "sections/training.html.j2", "sections/data.html.j2", "sections/tokenizer.html.j2",
    "sections/evaluation.html.j2", "sections/settings.html.j2", "sections/lineage.html.j2",
    "sections/environment.html.j2", "sections/record.html.j2",
)  # fmt: skip


@parameters
class Report:
    """`experiment`: the name under which the record is compared with others."""

    experiment: str


CONTRACT = Contract(
    name="report",
    program="runtime.report.report",
    parameters=Report,
    inputs=FOLDERS,
    output="report.html",
    records=("record.json",),
    metrics=False,
    reads_metrics=STAGES,
    reads_plots=("plots/pretrain.csv", "plots/finetune.csv"),
    reads_files=("presentation.yaml", "config/environment.yaml", *(f"config/{stage}.yaml" for stage in STAGES)),
    resources=tuple(f"runtime/report/templates/{template}" for template in TEMPLATES),
    environment=("python", "jinja2", "markupsafe"),
)
