"""The smallest experiment through all stages: what runs, what is restored, what is up to date."""

import json
import re

import pytest

from runtime.contracts.registry import CONTRACTS
from tests.e2e.conftest import Copy, commit, make_copy

pytestmark = pytest.mark.slow
ALL = {contract.name for contract in CONTRACTS}
AFTER_RANK = {"finetune", "merge", "export", "evaluate", "report"}
RESTORED = re.compile(r"^Stage '([^']+)' is cached - skipping run", re.MULTILINE)
RAN = re.compile(r"^Running stage '([^']+)'", re.MULTILINE)


def test_every_stage_leaves_what_its_contract_says(smoke: Copy) -> None:
    folder = smoke.root / "experiments/smoke"
    for contract in CONTRACTS:
        assert (folder / contract.output).exists(), contract.name
        assert not contract.metrics or json.loads((folder / contract.metrics_file).read_text("utf-8"), parse_constant=pytest.fail)
        assert all((folder / path).stat().st_size for path in (*contract.plots, *contract.records))


def test_a_second_repro_runs_nothing_and_the_status_is_clean(smoke: Copy) -> None:
    said = smoke.dvc("repro", folder="experiments/smoke").stdout
    assert "Data and pipelines are up to date." in said
    assert not RAN.search(said)
    assert "up to date" in smoke.dvc("status", "dvc.yaml", folder="experiments/smoke").stdout
    assert not smoke.run("git", "status", "--porcelain").stdout


def test_no_result_holds_a_path_of_this_machine(smoke: Copy) -> None:
    folder = smoke.root / "experiments/smoke"
    secret = str(smoke.root.parent).encode()
    for contract in CONTRACTS:
        files = [path for path in (folder / contract.output).rglob("*") if path.is_file()] or [folder / contract.output]
        for path in [*files, folder / contract.metrics_file, *(folder / one for one in contract.records)]:
            assert not path.exists() or secret not in path.read_bytes(), path


def test_changing_the_rank_reruns_what_depends_on_it_and_git_shows_the_change(smoke: Copy) -> None:
    outcome = json.loads(smoke.mindspec("run", "smoke", "finetune.lora.rank=2", "--json").stdout)
    ran = {stage for stage, verdict in outcome["stages"].items() if verdict == "ran"}
    assert ran == AFTER_RANK
    assert set(outcome["stages"]) == ALL
    params = json.loads(smoke.dvc("params", "diff", "--json").stdout)
    assert params["experiments/smoke/params.json"]["finetune.lora.rank"] == {"old": 4, "new": 2, "diff": -2}
    changed = json.loads(smoke.dvc("metrics", "diff", "--json").stdout)
    assert any(name.endswith("metrics/evaluate.json") for name in changed)
    again = json.loads(smoke.mindspec("run", "smoke", "--json").stdout)
    assert {stage: verdict for stage, verdict in again["stages"].items() if stage in AFTER_RANK} == {
        **dict.fromkeys(AFTER_RANK, "restored"),
        "report": "ran",
    }
    assert not smoke.run("git", "status", "--porcelain").stdout


def test_changing_title_or_workers_reruns_the_report_at_most(smoke: Copy) -> None:
    outcome = json.loads(smoke.mindspec("run", "smoke", "launch.workers=1", "launch.log_every=3", "--json").stdout)
    assert set(outcome["stages"].values()) <= {"unchanged"}
    outcome = json.loads(smoke.mindspec("run", "smoke", "title='Another title'", "--json").stdout)
    assert {stage for stage, verdict in outcome["stages"].items() if verdict == "ran"} == {"report"}
    smoke.mindspec("run", "smoke")
    assert not smoke.run("git", "status", "--porcelain").stdout


def test_a_sweep_runs_each_distinct_stage_once(smoke: Copy) -> None:
    """Rank 4 is the smoke experiment itself, so its point is restored, but for the report, which is always written again."""
    said = smoke.mindspec("-m", "experiment=smoke", "finetune.lora.rank=4,6")
    first, second = said.stderr.split("smoke--finetune-lora-rank-6", 1)
    assert set(RAN.findall(first)) == {"report"}
    assert set(RESTORED.findall(first)) == ALL - {"report"}
    assert set(RAN.findall(second)) == AFTER_RANK
    assert set(RESTORED.findall(second)) == ALL - AFTER_RANK
    assert "smoke--finetune-lora-rank-4" in said.stdout
    params = json.loads((smoke.root / "experiments/smoke--finetune-lora-rank-6/params.json").read_text())
    assert params["finetune"]["lora"]["rank"] == 6
    commit(smoke, "sweep")  # other tests look whether the work tree is clean


def test_two_clones_in_two_folders_write_the_same_bytes(smoke: Copy, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = make_copy(tmp_path_factory.mktemp("项目 two") / "另一个 project")
    other.mindspec("run", "smoke")
    assert other.lock("smoke") == smoke.lock("smoke")
    assert set(other.lock("smoke")) == ALL


def test_a_baseline_of_a_revision_and_the_comparison_with_it(smoke: Copy) -> None:
    assert smoke.mindspec("baseline", "set", "first", "--from", "smoke@HEAD").stdout.strip() == "baselines/first.json"
    done = smoke.mindspec("compare", "smoke", "--baseline", "first", "--gate")
    assert "first" in done.stdout
    broken = json.loads((smoke.root / "baselines/first.json").read_text("utf-8"))
    broken["evaluate"]["merged"]["bits_per_byte"] /= 2
    (smoke.root / "baselines/better.json").write_text(json.dumps(broken), "utf-8")
    assert smoke.mindspec("compare", "smoke", "--baseline", "better", "--gate", check=False).returncode == 1
    commit(smoke, "baselines")
