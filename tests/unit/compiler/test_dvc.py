"""What DVC says it did is counted from its own words."""

from pathlib import Path

from compiler.dvc import Outcome

OUTPUT = """\
Stage 'ingest' didn't change, skipping
Stage 'clean' is cached - skipping run, checking out outputs
Running stage 'finetune':
> python -m runtime finetune
Updating lock file 'dvc.lock'
"""


def test_stages_are_counted_by_what_happened_to_them() -> None:
    outcome = Outcome(Path("experiments/demo"))
    for line in OUTPUT.splitlines():
        outcome.read(line)
    assert outcome.stages == {"ingest": "unchanged", "clean": "restored", "finetune": "ran"}
    assert outcome.summary() == "1 ran, 1 restored, 1 unchanged"
    assert outcome.last_stage == (Path("experiments/demo"), "finetune")


def test_a_stage_of_another_folder_is_told_apart() -> None:
    outcome = Outcome(Path("/project"))
    outcome.read("Running stage 'experiments/demo/dvc.yaml:pretrain':")
    assert outcome.last_stage == (Path("/project/experiments/demo"), "pretrain")
