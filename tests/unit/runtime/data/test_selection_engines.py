"""filter, mix and split: no number of workers and no engine changes a byte of their results."""

from pathlib import Path

import pytest
from corpora import Project, lines_of, source

from runtime import records
from runtime.records import Limit, Record

WORDS = ("bank", "river", "股票", "利率", "letter", "window", "garden", "老师", "station", "morning")


def documents() -> list[Record]:
    texts = [" ".join(WORDS[(number * step + step) % 10] for step in range(1, 9)) + f" {number}" for number in range(300)]
    return [
        Record(f"{number}", text, "甲" if number % 3 else "b", "zh" if number % 2 else "en", {"path": f"{number // 5}.html"})
        for number, text in enumerate(texts)
    ]


@pytest.mark.slow
def test_workers_and_ray_change_no_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "PART", Limit(120, 1 << 20))
    results: list[dict[str, bytes]] = []
    for number, placed in enumerate(("workers: 1", "workers: 4", "workers: 2\nengine: ray")):
        project = Project(tmp_path / str(number), {name: source("none", "text") for name in ("甲", "b")})
        project.made("dedup", documents())
        rows = [{"text": f"{WORDS[n % 5]} {n}", "label": "first" if n % 5 < 2 else "second"} for n in range(100)]
        project.put("data/rows.jsonl", lines_of(*rows))
        project.config["filter"].update(
            topics={"money": {"any": ["bank", "股票"]}}, classifier={"rows": "data/rows.jsonl", "keep": ["first", "second"]}
        )
        project.config["mix"].update(budget_bytes=30_000, epochs_max=3)
        project.tracked("mix.budget_bytes", 30_000)
        project.config["split"].update(by="file", long_bytes=55)
        (project.folder / "placement.yaml").write_text(placed + "\n")
        monkeypatch.chdir(project.folder)
        project.run("filter", "mix", "split")
        results.append(project.results())
    assert len([name for name in results[0] if name.startswith("corpus/mix/part-")]) > 1
    assert all(result == results[0] for result in results[1:])
