"""A sweep: what is wrong is told in the terms of a spec, before Hydra starts."""

import pytest

from compiler import dvc, sweep
from compiler.diagnostics import Faults
from compiler.project import Project


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
