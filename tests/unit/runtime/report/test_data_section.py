"""What the report says of the data beyond the funnel: texts behind the counts, sizes, the plot, stages that only some have."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from runtime.contracts.registry import REPORT
from runtime.faults import InputFault
from runtime.report.funnel import STEPS
from runtime.stage import execute
from tests.unit.runtime.report.conftest import sign
from tests.unit.runtime.report.test_report import change, page, parsed, visible_in

CLEAN, DEDUP = Path("corpus/clean"), Path("corpus/dedup")


def write_rows(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    sign(path.parent, path.parent.name)


def dropped(reason: str, text: str) -> dict[str, Any]:
    return {"id": "x", "source": "poems", "reason": reason, "text": text}


def test_dropped_texts_are_shown_by_reason_and_stay_text(experiment: Path) -> None:
    texts = [f"<i>short {number}</i>" for number in range(5)]
    write_rows(CLEAN / "dropped.jsonl", [*(dropped("too_few_words", text) for text in texts), dropped("han_share", "字 太少")])
    words = visible_in(parsed(page(experiment)), "en")
    assert [text in words for text in texts] == [True, True, True, False, False]
    assert "Examples of what was dropped: clean" in words and "字 太少" in words
    assert "丢弃内容示例：清洗" in visible_in(parsed(page(experiment)), "zh-Hans")


def test_a_text_that_is_empty_is_said_to_be_so(experiment: Path) -> None:
    write_rows(CLEAN / "dropped.jsonl", [dropped("empty", " ")])
    assert "no text" in visible_in(parsed(page(experiment)), "en")


def test_groups_of_duplicates_begin_with_what_stays(experiment: Path) -> None:
    members = [{"id": name, "source": "poems", "text": f"text {name}"} for name in "abcdef"]
    write_rows(DEDUP / "clusters.jsonl", [{"kind": "near_duplicate", "kept": "c", "similarity": 0.876, "size": 9, "members": members}])
    words = visible_in(parsed(page(experiment)), "en")
    order = [words.index(f"text {name}") for name in "cabd"]
    assert order == sorted(order) and "text e" not in words
    assert "similarity 0.88" in words and "and 5 more" in words


def test_examples_that_were_changed_are_refused(experiment: Path) -> None:
    write_rows(CLEAN / "dropped.jsonl", [dropped("empty", "")])
    (CLEAN / "dropped.jsonl").write_text("{}\n")
    with pytest.raises(InputFault, match="not what its stage wrote") as fault:
        execute(REPORT)
    assert fault.value.where == "corpus/clean/dropped.jsonl"


def test_sizes_are_drawn_where_a_stage_has_counted_them(experiment: Path) -> None:
    assert "Tokens of a document" not in visible_in(parsed(page(experiment)), "en")
    change("metrics/dedup.json", lambda content: content.update(cluster_sizes={"exact_duplicate": {"2-3": 40, "4-7": 10}}))
    change("metrics/pack-pretrain.json", lambda content: content.update(lengths={"train": {"at_most": {"64": 3, "1024": 12}}}))
    change("metrics/format.json", lambda content: content.update(lengths={"up_to": {"32": 7}}))
    text = page(experiment)
    words = visible_in(parsed(text), "en")
    assert all(label in words for label in ("Documents in a group of duplicates", "4-7", "≤ 1,024", "Tokens of an instruction row"))
    assert 'style="width:25.0%"' in text


def test_the_plot_of_the_funnel_has_every_source_at_every_step(experiment: Path) -> None:
    execute(REPORT)
    with Path("plots/funnel.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    steps = list(dict.fromkeys(row["step"] for row in rows))
    assert steps == ["raw", *STEPS]
    metrics = json.loads(Path("metrics/dedup.json").read_text())
    told = {row["source"]: (int(row["documents"]), int(row["bytes"])) for row in rows if row["step"] == "dedup"}
    assert told == {name: (flow["documents_out"], flow["bytes_out"]) for name, flow in metrics["sources"].items()}


def test_a_plot_without_measurements_has_its_head_alone(experiment: Path) -> None:
    for path in Path("metrics").iterdir():
        path.unlink()
    execute(REPORT)
    assert Path("plots/funnel.csv").read_text() == "step,source,documents,bytes\n"


def leave_synthetic() -> None:
    """What a stage leaves that only some experiments have."""
    folder = Path("synthetic")
    folder.mkdir()
    (folder / "part-00000.jsonl.zst").write_bytes(b"")
    sign(folder, "synthesize")
    Path("config/synthesize.yaml").write_text("recipes: {}\nseed: 1\n")
    Path("metrics/synthesize.json").write_text('{"rows": 3, "warnings": ["two rows were refused"]}')


def test_a_stage_that_the_experiment_does_not_have_is_not_read(experiment: Path) -> None:
    execute(REPORT)
    before = Path("report.html").read_bytes(), Path("record.json").read_bytes()
    leave_synthetic()
    execute(REPORT)
    assert (Path("report.html").read_bytes(), Path("record.json").read_bytes()) == before


def test_a_stage_that_the_experiment_has_is_in_page_and_record(experiment: Path) -> None:
    leave_synthetic()
    Path("config/report.yaml").write_text(yaml.safe_dump({"experiment": "demo", "optional": ["synthesize"]}))
    assert "two rows were refused" in visible_in(parsed(page(experiment)), "en")
    assert "synthesize" in json.loads(Path("record.json").read_text())["data_version"]["datasets"]


def test_the_report_reads_every_stage_before_it() -> None:
    from runtime.contracts.registry import BEFORE_REPORT

    assert set(REPORT.inputs) == {one.output for one in BEFORE_REPORT}
    assert len(set(REPORT.inputs)) == len(BEFORE_REPORT)


def test_of_data_alone_the_page_shows_what_has_been_measured(experiment: Path) -> None:
    for name in ("mix", "split", "pretrain", "finetune", "evaluate"):
        Path(f"metrics/{name}.json").unlink()
    words = visible_in(parsed(page(experiment)), "en")
    assert "No model has been evaluated." in words and "Mix: asked for and realised" not in words and "Bits per byte" not in words
    with Path("plots/funnel.csv").open(newline="") as file:
        assert list(dict.fromkeys(row["step"] for row in csv.DictReader(file))) == ["raw", "ingest", "clean", "dedup", "filter"]
