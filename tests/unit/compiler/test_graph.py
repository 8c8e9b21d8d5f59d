"""The graph that DVC gets: one writer for each path, names and commands that every shell and DVC take as they are."""

import re
from dataclasses import replace

import pytest
import yaml

from compiler.graph import BrokenGraph, StageGraph, verify
from compiler.pipeline import compile_experiment, write
from compiler.point import point_name
from compiler.project import Project


@pytest.fixture
def graph(project: Project) -> StageGraph:
    return compile_experiment(project, "demo").graph


def with_stage(graph: StageGraph, name: str, **contract: object) -> StageGraph:
    """The graph with one stage's contract changed."""
    changed = (
        replace(node, contract=replace(node.contract, **contract)) if node.name == name else node  # type: ignore[arg-type]
        for node in graph.stages
    )
    return replace(graph, stages=tuple(changed))


@pytest.mark.parametrize("output", ["corpus/clean", "corpus", "corpus/clean/inner"])
def test_results_never_overlap(graph: StageGraph, output: str) -> None:
    with pytest.raises(BrokenGraph, match=rf"dedup writes {output} and clean writes corpus/clean|dedup writes {output} and ingest"):
        verify(with_stage(graph, "dedup", output=output))


def test_a_name_that_begins_alike_is_no_overlap(graph: StageGraph) -> None:
    clean = next(node for node in graph.stages if node.name == "report")
    assert verify(with_stage(graph, clean.name, output="corpus-report.html"))


def test_a_result_is_written_before_it_is_read(graph: StageGraph) -> None:
    with pytest.raises(BrokenGraph, match="ingest reads corpus/clean, which no earlier stage writes"):
        first, *rest = graph.stages
        verify(replace(graph, stages=(replace(first, dependencies=("corpus/clean",)), *rest)))


def test_stage_names_are_plain_and_unique(graph: StageGraph) -> None:
    names = [node.name for node in graph.stages]
    assert all(re.fullmatch(r"[a-z][a-z0-9-]*", name) for name in names)
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("overrides", [["seed=3"], ["pretrain.schedule.peak=1.0e-05"], ["title='org/m 1'", "finetune.lora.rank=4"]])
def test_dvc_finds_every_stage_by_its_address(graph: StageGraph, overrides: list[str]) -> None:
    from dvc.utils import parse_target

    file = f"experiments/{point_name('demo', overrides)}/dvc.yaml"
    for node in graph.stages:
        assert parse_target(node.name) == (None, node.name)
        assert parse_target(f"{file}:{node.name}") == (file, node.name)


def test_nothing_of_the_experiment_before_is_left(project: Project) -> None:
    """DVC reads `dvc.yaml` once, when it starts: it must be of the same compilation as the configuration."""
    first = compile_experiment(project, "demo")
    write(project, [first])
    second = compile_experiment(project, "demo", ["data.pretrain.sources.poems.path=data/raw/poems/tang.jsonl"])
    write(project, [second])
    for path, content in second.files.items():
        assert (project.root / path).read_bytes() == content
    stages = yaml.safe_load((project.root / "experiments/demo/dvc.yaml").read_text("utf-8"))["stages"]
    assert "../../data/raw/poems" not in stages["ingest"]["deps"]
    assert "../../data/raw/poems/tang.jsonl" in stages["ingest"]["deps"]
    found = {path.relative_to(project.root).as_posix() for path in (project.root / "experiments/demo").rglob("*") if path.is_file()}
    assert found == set(second.files)
