"""A sweep: what is wrong is told in the terms of a spec, before Hydra starts."""

import logging
from collections.abc import Iterator

import pytest

from compiler import dvc, sweep
from compiler.diagnostics import Faults
from compiler.project import Project


@pytest.fixture(autouse=True)
def _logs_as_before() -> Iterator[None]:
    """Hydra configures the log of the whole process, which is its own when it runs a sweep."""
    level, handlers = logging.root.level, [*logging.root.handlers]
    yield
    logging.root.setLevel(level)
    logging.root.handlers[:] = handlers


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["-m", "experiment=nope", "seed=1,2"], "MS0001"),
        (["-m", "experiment=smoke,nope"], "MS0001"),
        (["-m", "experiment=smoke", "seed=1,"], "MS0107"),
        (["-m", "seed=1,2"], "MS0001"),
        (["experiment=smoke", "title=中文"], "MS0108"),
    ],
)
def test_arguments_that_cannot_be_read(project: Project, arguments: list[str], code: str) -> None:
    with pytest.raises(Faults) as caught:
        sweep.checked(project, arguments)
    assert code in [fault.code for fault in caught.value.diagnostics]


@pytest.mark.parametrize(
    ("override", "code"),
    [("+seed=1,2", "MS0118"), ("~nothing", "MS0118"), ("finetune.lora.targets.9=wq,wk", "MS0119"), ("model=lama,large", "MS0106")],
)
def test_what_hydra_refuses_is_told_before_it_starts(project: Project, override: str, code: str) -> None:
    with pytest.raises(Faults) as caught:
        sweep.checked(project, ["-m", "experiment=smoke", "hydra.sweep.dir=x", "title=[", override])
    assert [(fault.code, str(fault.place).split(":")[0]) for fault in caught.value.diagnostics] == [
        ("MS0107", "<override 1>"),
        (code, "<override 2>"),
    ]


@pytest.mark.parametrize(
    ("override", "points"), [("title='\"你好,世界\"'", 1), ('title="a,b"', 1), ("seed=1,2", 2), ("seed=range(1,4)", 3)]
)
def test_a_comma_within_quotes_makes_no_points(
    project: Project, override: str, points: int, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The number of points is said before the first one starts."""
    ran: list[str] = []
    monkeypatch.setattr(sweep, "run_point", lambda _project, name, given: ran.append(name) or sweep.Point(name, tuple(given), 0))
    monkeypatch.setattr("sys.argv", ["compiler", "-m", "experiment=smoke", override])
    assert sweep.main() == 0
    assert len(ran) == points
    assert f"Launching {points} jobs locally" in capfd.readouterr().err


def test_every_point_that_is_refused_is_told_and_the_others_run(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(dvc, "repro", lambda _folder: dvc.Outcome(project.root))
    monkeypatch.setattr("sys.argv", ["compiler", "-m", "experiment=smoke", "finetune.lora.rank=4,x,-1"])
    assert sweep.main() == 1
    told = capsys.readouterr()
    assert (told.err.count("error MS0203"), told.err.count("error MS0205"), told.out.count("refused")) == (1, 1, 2)


def test_a_spec_that_cannot_be_read(project: Project) -> None:
    (project.root / "specs/model/llama-tiny.yaml").write_bytes("# 中文".encode("gbk"))
    with pytest.raises(Faults, match="MS0101"):
        sweep.checked(project, ["-m", "experiment=smoke", "seed=1,2"])


def test_plain_overrides_are_forced_and_the_rest_is_left_to_hydra(project: Project) -> None:
    given = ["-m", "experiment=smoke", "seed=1,2", "model=llama-tiny", "~title", "hydra.sweep.dir=x", "--cfg", "job"]
    assert sweep.checked(project, given) == [*given[:2], "++seed=1,2", *given[3:]]


def test_points_are_named_by_what_was_given_and_refused_one_by_one(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ran: list[str] = []

    def repro(folder: object) -> dvc.Outcome:
        ran.append(str(folder).rpartition("/")[2])
        return dvc.Outcome(project.root)

    monkeypatch.setattr(dvc, "repro", repro)
    monkeypatch.setattr("sys.argv", ["compiler", "-m", "experiment=smoke", "finetune.lora.rank=4,x", "seed=5"])
    assert sweep.main() == 1
    said = capsys.readouterr()
    assert ran == ["smoke--finetune-lora-rank-4--seed-5"]
    assert "MS0203: finetune.lora.rank: expected an integer" in said.err
    assert "refused" in said.out
