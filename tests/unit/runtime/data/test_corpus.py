"""The corpus stages together: same bytes whatever the machine does, counts that add up, nothing half-written."""

import gzip
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import pytest
import yaml
from corpora import STAGES, Project, lines_of, source

from runtime import engine, manifest, records
from runtime.data import pieces
from runtime.data.ordering import fingerprint
from runtime.faults import StageFault
from runtime.records import Limit

ROOT = Path(__file__).parents[4]
WORDS = ("library", "reader", "shelf", "window", "morning", "garden", "river", "letter", "teacher", "station")


def english(number: int) -> str:
    order = [WORDS[(number * step + step) % len(WORDS)] for step in range(1, 30)]
    return f"Page {number}. " + " ".join(f"the {word} of number {number * place}" for place, word in enumerate(order))


def chinese(number: int) -> str:
    return "".join(chr(0x4E00 + (number * 97 + place * place * 13) % 2000) for place in range(60)) + "。"


def fill(project: Project) -> None:
    for number in range(40):
        project.put(f"data/raw/pages/第{number}页.html", f"<html><body><nav>Home</nav><p>{english(number)}</p></body></html>")
    project.put("data/raw/poems/a.jsonl", lines_of(*({"text": chinese(number)} for number in range(60))))
    project.put("data/raw/poems/LICENSE", "terms")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    made = Project(tmp_path, {"pages": source("data/raw/pages", "html", language="en"), "poems": source("data/raw/poems", "jsonl", "text")})
    made.config["mix"]["budget_bytes"] = 100_000
    fill(made)
    monkeypatch.chdir(made.folder)
    return made


def test_what_leaves_a_stage_enters_the_next_and_every_drop_has_a_reason(project: Project) -> None:
    project.run(*STAGES)
    told = [project.metrics(name) for name in STAGES]
    for before, after in pairwise(told):
        for what in ("documents", "characters", "bytes"):
            assert before[f"{what}_out"] == after[f"{what}_in"]
    for metrics in (*told[:4], told[5]):
        for flow in (metrics, *metrics["sources"].values()):
            assert flow["documents_in"] == flow["documents_out"] + sum(flow["dropped"].values())
    for name, metrics in zip(STAGES, told, strict=True):
        assert manifest.verify(Path(f"corpus/{name}")).counts["documents"] == metrics["documents_out"]
        assert set(metrics["sources"]) == {"pages", "poems"}


def test_no_text_is_on_both_sides_though_the_mix_repeats_it(project: Project) -> None:
    project.run(*STAGES)
    assert project.metrics("mix")["mix"]["poems"]["epochs"] == 2
    sides = [{fingerprint(record.text) for record in project.records(f"corpus/split/{side}")} for side in ("train", "validation")]
    assert sides[0] and sides[1]
    assert not sides[0] & sides[1]


def test_workers_threads_and_hash_seeds_change_no_byte(project: Project) -> None:
    project.run(*STAGES)
    expected = project.results()
    (project.folder / "placement.yaml").write_text("workers: 4\nthreads: 1\n")
    for hash_seed in ("0", "1"):
        for name in STAGES:
            subprocess.run([sys.executable, "-m", "runtime", name], check=True, env=environment(hash_seed), capture_output=True)
        assert project.results() == expected


def pile(project: Project) -> None:
    """More of everything: copies, near copies, pages, tables, archives, rows that cannot be read, files of other encodings."""
    rows = [{"text": english(1000 + number // 2) + f" Row {number % 7}."} for number in range(300)]
    project.put("data/raw/rows/a.jsonl", lines_of(*rows[:150]) + "[]\n" + lines_of(*rows[150:]))
    project.put("data/raw/rows/b.jsonl.gz", gzip.compress(lines_of(*rows[:80]).encode()))
    table = "".join(f'{number},"{chinese(500 + number)}\n{chinese(507 + number)}"\n' for number in range(200))
    project.put("data/raw/table/a.csv", "id,text\n" + table + "1,2,3\n")
    for number in range(60):
        encoding = ("utf-8", "gb18030", "utf-16")[number % 3]
        text = f"这是第{number}篇说明文字，介绍图书馆的第{number * 7}间阅览室。\n\n读者可以在那里借阅{number * 13}本书。\n"
        project.put(f"data/raw/notes/{number % 5}/{number}.txt", text.encode(encoding))
    more = {
        "rows": source("data/raw/rows", "jsonl", "text"),
        "table": source("data/raw/table/*.csv", "csv", "text"),
        "notes": source("data/raw/notes/**/*.txt", "text", language="zh"),
    }
    project.config["ingest"]["sources"].update(more)
    project.config["mix"]["sources"].update({name: {"weight": 1.0, "synthetic": False} for name in more})


@pytest.mark.slow
def test_neither_workers_nor_the_engine_change_a_byte(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "PART", Limit(25, 20_000))
    monkeypatch.setattr(pieces, "GROUP", 10_000)
    pile(project)
    project.run(*STAGES)
    expected = project.results()
    assert min(len(records.parts(project.folder / "corpus" / name)) for name in STAGES[:4]) > 8
    assert project.metrics("ingest")["dropped"] == {"not_an_object": 1, "wrong_columns": 1}
    with one_cluster():
        for placement in ("workers: 2\n", "workers: 4\nthreads: 1\n", "workers: 2\nengine: ray\n"):
            (project.folder / "placement.yaml").write_text(placement)
            project.run(*STAGES)
            found = project.results()
            assert sorted(found) == sorted(expected)
            assert [name for name in expected if found[name] != expected[name]] == [], placement


@contextmanager
def one_cluster() -> Iterator[None]:
    """A Ray cluster that all stages use, since each of them would start one."""
    ray = engine._ray()
    code = {"env_vars": {"PYTHONPATH": os.pathsep.join(sys.path)}}
    ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False, runtime_env=code)
    try:
        yield
    finally:
        ray.shutdown()


def environment(hash_seed: str) -> dict[str, str]:
    """Of a process with its own order of sets and its own number of threads."""
    own = {"PYTHONPATH": str(ROOT), "PYTHONHASHSEED": hash_seed, "POLARS_MAX_THREADS": str(int(hash_seed) + 1)}
    return {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), **own}


def has_written(scratch: Path) -> bool:
    """Whether a stage has begun with its result, which may be moved into place while it is looked for."""
    try:
        return any(scratch.glob("*/out/*"))
    except FileNotFoundError:
        return True


@pytest.mark.parametrize("name", STAGES)
def test_killed_at_any_moment_a_stage_leaves_nothing_and_runs_again(project: Project, name: str) -> None:
    project.run(*STAGES[: STAGES.index(name)])
    (project.folder / f"config/{name}.yaml").write_text(yaml.safe_dump(project.config[name], allow_unicode=True))
    process = subprocess.Popen([sys.executable, "-m", "runtime", name], env=environment("0"), stderr=subprocess.DEVNULL)
    while process.poll() is None and not has_written(project.folder / ".scratch" / name):
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    killed = process.wait() == -signal.SIGKILL
    result = project.folder / "corpus" / name
    if killed and result.exists():
        manifest.verify(result)
    project.run(name)
    assert manifest.verify(result).counts["documents"] > 0
    assert [path.name for path in (project.folder / ".scratch" / name).iterdir()] == ["lock"]


def test_a_bad_pattern_is_refused_with_its_place(project: Project) -> None:
    project.config["filter"]["deny"] = ["fine", "(open"]
    project.run("ingest", "clean", "dedup")
    with pytest.raises(StageFault, match=r"deny\[1\] '\(open' is not a regular expression") as fault:
        project.run("filter")
    assert "data.pretrain.filter.deny[1]" in fault.value.fix


@pytest.mark.parametrize(
    ("settings", "kept", "dropped"),
    [
        ({"languages": []}, 100, {}),
        ({"languages": ["zh"]}, 60, {"language": 40}),
        ({"deny": [r"Page \d\."]}, 90, {"denied": 10}),
        ({"allow": [r"Page \d\.", r"Page 1\d\."]}, 20, {"not_allowed": 80}),
    ],
)
def test_languages_and_patterns_decide(project: Project, settings: dict[str, list[str]], kept: int, dropped: dict[str, int]) -> None:
    project.config["filter"].update(settings)
    project.run("ingest", "clean", "dedup", "filter")
    metrics = project.metrics("filter")
    assert (metrics["documents_out"], metrics["dropped"]) == (kept, dropped)


def test_a_filter_that_leaves_nothing_stops(project: Project) -> None:
    project.config["filter"]["languages"] = ["fr"]
    project.run("ingest", "clean", "dedup")
    with pytest.raises(StageFault, match="none of 100 documents is left") as fault:
        project.run("filter")
    assert fault.value.reason == "language: 100"


def test_a_source_that_lost_all_documents_is_named_by_the_mix(project: Project) -> None:
    project.config["filter"]["languages"] = ["zh"]
    project.run("ingest", "clean", "dedup", "filter")
    with pytest.raises(StageFault, match=r"the source pages has weight .* and no document"):
        project.run("mix")
