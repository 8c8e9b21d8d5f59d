"""A checkpoint as the model that is asked."""

import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny_checkpoint
from kitchen import ROOT, Project, endpoint, recipe, sieve
from samples import settings, texts

from runtime.data import tokenizer
from runtime.data.synthetic.checkpoint import Sampling
from runtime.faults import StageFault
from runtime.model import description

LOGITS = np.log(np.array([0.5, 0.3, 0.15, 0.05]))


def draws(sampling: Sampling, count: int) -> Counter[int]:
    model = sampling.over(lambda ids, lengths: np.tile(LOGITS, (len(ids), 1)))
    ids = np.arange(count, dtype=np.int32)[:, None]
    return Counter(int(token) for token in model(ids, np.ones(count, np.int32)).argmax(axis=1))


def test_tokens_are_drawn_with_their_probabilities() -> None:
    found = draws(Sampling(1.0, None, 7), 4000)
    assert all(abs(found[token] / 4000 - share) < 0.03 for token, share in enumerate(np.exp(LOGITS)))
    cold = np.exp(LOGITS / 0.5) / np.exp(LOGITS / 0.5).sum()
    found = draws(Sampling(0.5, None, 7), 4000)
    assert all(abs(found[token] / 4000 - share) < 0.03 for token, share in enumerate(cold))


def test_top_p_leaves_unlikely_tokens_out_and_no_temperature_leaves_all_to_the_likeliest() -> None:
    assert set(draws(Sampling(1.0, 0.75, 7), 500)) == {0, 1}
    assert set(draws(Sampling(1.0, 0.01, 7), 50)) == {0}
    assert set(draws(Sampling(0.0, None, 7), 50)) == {0}


def test_noise_follows_from_what_stands_before_a_token_alone() -> None:
    model = Sampling(1.0, None, 7).over(lambda ids, lengths: np.zeros((len(ids), 50)))
    ids = np.array([[3, 4, 0, 0], [5, 6, 7, 0]], np.int32)
    both = model(ids, np.array([2, 3], np.int32))
    alone = model(np.array([[5, 6, 7, 9, 9]], np.int32), np.array([3], np.int32))
    assert (both[1] == alone[0]).all()
    assert (both[0] != both[1]).any()
    assert (Sampling(1.0, None, 8).over(lambda ids, lengths: np.zeros((1, 50)))(ids[:1], np.array([2], np.int32)) != both[0]).any()


@pytest.fixture
def writer(project: Project) -> Path:
    """The folder of a checkpoint, with a description in the place of weights."""
    folder = project.root / "data/writer"
    (folder / "tokenizer").mkdir(parents=True)
    tokenizer.write(folder / "tokenizer", tokenizer.train(tokenizer.Sentences().of(texts()), settings()), settings())
    shutil.copy(ROOT / "specs/template/chatml.yaml", folder / "template.yaml")
    description.Description("LlamaForCausalLM", dict(tiny_checkpoint.config(420)), "0" * 64).write(folder)
    (project.root / "specs/prompt/short.yaml").write_text('user: "{seed}"\n')
    return folder


def run(command: list[str], folder: Path, code: int = 0) -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, *command], cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    return done.stderr


def settings_of(texts: list[str], project: Project, **changes: Any) -> dict[str, Any]:
    project.seeds([{"text": text} for text in texts], "data/texts.jsonl")
    local = endpoint("", model="", checkpoint="data/writer", temperature=1.0, max_tokens=6)
    loose = sieve(min_characters=1, copied=1.0, near=1.0, refusals=[])
    seeds = {"path": "data/texts.jsonl", "format": "jsonl", "field": "text"}
    return recipe("", kind="text", seeds=seeds, prompt="specs/prompt/short.yaml", generator=local, sieve=loose, examples=1, **changes)


def test_prompts_beyond_the_window_have_no_answer(project: Project, writer: Path) -> None:
    with pytest.raises(StageFault, match="0 of 3 rows after 4 requests") as fault:
        project.run(settings_of(["far too long " * 90], project, count=3, requests_max=4))
    assert fault.value.reason == "dropped: context_length_exceeded: 4"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("template.yaml", "template.yaml is missing"),
        ("tokenizer/special_tokens.json", "special_tokens.json is missing"),
        ("model.json", "model"),
    ],
)
def test_what_the_folder_lacks_is_told(project: Project, writer: Path, name: str, told: str) -> None:
    (writer / name).unlink()
    with pytest.raises(StageFault, match=told):
        project.run(settings_of(["Fox"], project))


@pytest.mark.slow
def test_a_checkpoint_writes_rows_and_a_killed_run_goes_on(project: Project, writer: Path) -> None:
    run([str(Path(__file__).parent / "tiny_checkpoint.py"), str(writer), "420"], project.root)
    project.configure(settings_of([f"Fox {index} jumps" for index in range(40)], project, count=4, requests_max=10, incomplete="keep"))
    run(["-m", "runtime", "synthesize"], project.folder)
    first, metrics = project.tree(), project.metrics()
    assert metrics["rows"] > 1
    assert metrics["tokens"]["not_counted"] == 0
    lines = project.kept.read_bytes().splitlines(keepends=True)
    project.kept.write_bytes(b"".join(lines[:-1]) + b'{"half')
    run(["-m", "runtime", "synthesize"], project.folder)
    assert project.tree() == first
