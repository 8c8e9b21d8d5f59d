"""report: one self-contained HTML page for people, `record.json` for programs."""

from runtime.contracts.report import Report
from runtime.report.evidence import gather
from runtime.report.page import render
from runtime.report.record import record
from runtime.stage import Stage


def run(stage: Stage[Report]) -> None:
    """Write `report.html` and `record.json` from what the other stages left behind."""
    evidence = gather(stage)
    written = record(evidence)
    stage.record("record.json", written)
    (stage.out / "report.html").write_text(render(evidence, written), "utf-8", newline="\n")
