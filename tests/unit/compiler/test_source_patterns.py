"""Sources with wildcards: what DVC depends on, and which of them read the same files."""

import pytest
import yaml

from compiler.diagnostics import Faults
from compiler.pipeline import compile_experiment, write
from compiler.project import Project

ONE, TWO = "data.pretrain.sources.poems.path", "data.pretrain.sources.handbook_en.path"


@pytest.fixture
def project(project: Project) -> Project:
    """One whose data are its own, not those of the repository."""
    data = project.root / "data"
    shared = data.resolve()
    data.unlink()
    (data / "raw").mkdir(parents=True)
    for part in (*shared.iterdir(), *(shared / "raw").iterdir()):
        if part != shared / "raw":
            (data / part.relative_to(shared)).symlink_to(part)
    return project


def test_dvc_depends_on_the_folder_that_a_pattern_cannot_leave(project: Project) -> None:
    (project.root / "data/raw/verse/old").mkdir(parents=True)
    (project.root / "data/raw/verse/old/tang.jsonl").write_text('{"paragraphs": "a"}\n')
    compiled = compile_experiment(project, "demo", [f"{ONE}='data/raw/verse/**/t*.jsonl'"])
    write(project, [compiled])
    stages = yaml.safe_load((project.root / "experiments/demo/dvc.yaml").read_text("utf-8"))["stages"]
    assert "../../data/raw/verse" in stages["ingest"]["deps"]
    assert not any("*" in path for path in stages["ingest"]["deps"])


@pytest.mark.parametrize(
    ("one", "two", "same"),
    [
        ("data/raw/all/*.txt", "data/raw/all/*.html", False),
        ("data/raw/all/a*", "data/raw/all/*.txt", True),
        ("data/raw/all/**/*.html", "data/raw/all/deep", True),
        ("data/raw/all/*.html", "data/raw/all/deep", False),
        ("data/raw/all/*/*.html", "data/raw/all/deep/b.html", True),
    ],
)
def test_patterns_overlap_where_a_file_matches_both(project: Project, one: str, two: str, same: bool) -> None:
    for name in ("a.txt", "c.html", "deep/b.html"):
        path = project.root / "data/raw/all" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("text")
    overrides = [f"{ONE}='{one}'", f"{TWO}='{two}'"]
    if same:
        with pytest.raises(Faults) as faults:
            compile_experiment(project, "demo", overrides)
        assert {one.code for one in faults.value.diagnostics} == {"MS0330"}
    else:
        assert compile_experiment(project, "demo", overrides)
