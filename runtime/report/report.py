"""report: one self-contained HTML page for people, `record.json` for programs."""

from runtime.contracts.report import FUNNEL, Report
from runtime.report.evidence import gather
from runtime.report.funnel import funnel, plot
from runtime.report.page import render
from runtime.report.record import record
from runtime.stage import Stage


def run(stage: Stage[Report]) -> None:
    """Write `report.html`, `record.json` and the plot of the funnel from what the other stages left behind."""
    evidence = gather(stage)
    written = record(evidence)
    stage.plot(FUNNEL, ("step", "source", "documents", "bytes"), plot(funnel(evidence)))
    stage.record("record.json", written)
    (stage.out / "report.html").write_text(render(evidence, written), "utf-8", newline="\n")
