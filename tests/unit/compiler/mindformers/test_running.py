"""mindformers evaluates and answers from the files that are compiled for it; NumPy says what must come out."""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from sentencepiece import SentencePieceProcessor, SentencePieceTrainer

from compiler.emit.yaml_text import to_yaml
from compiler.lower.inference import evaluate_config, predict_config
from compiler.mindformers import written
from compiler.plan import Plan
from runtime.model import weights
from tests.unit.compiler.mindformers.plans import made
from tests.unit.runtime.model.numpy_reference import logits

HERE = Path(__file__).parent
ROOT = HERE.parents[3]
LENGTH, VOCABULARY, ROWS, BATCH = 16, 300, 8, 4
PROMPT = "the sea"
TINY = {
    "model.hidden_size": 32,
    "model.intermediate_size": 48,
    "model.num_layers": 2,
    "model.num_heads": 2,
    "model.num_kv_heads": 2,
    "model.seq_length": LENGTH,
    "tokenizer.vocab_size": VOCABULARY,
    "pretrain.micro_batch": BATCH,
}

pytestmark = pytest.mark.slow


def random_weights(width: int = 32, wide: int = 48, layers: int = 2) -> weights.Weights:
    """A Llama of the sizes above, by the names of mindformers."""
    random = np.random.default_rng(5)

    def matrix(rows: int, columns: int) -> np.ndarray:
        return random.normal(0, 0.3, (rows, columns)).astype(np.float32)

    made = {"model.tok_embeddings.embedding_weight": matrix(VOCABULARY, width), "lm_head.weight": matrix(VOCABULARY, width)}
    made["model.norm_out.weight"] = np.ones(width, np.float32)
    for layer in range(layers):
        name = f"model.layers.{layer}."
        made |= {f"{name}attention.w{part}.weight": matrix(width, width) for part in "qkvo"}
        made |= {f"{name}feed_forward.w{part}.weight": matrix(wide, width) for part in "13"}
        made |= {f"{name}feed_forward.w2.weight": matrix(width, wide)}
        made |= {f"{name}{norm}_norm.weight": np.ones(width, np.float32) for norm in ("attention", "ffn")}
    return made


def write_tokenizer(folder: Path) -> None:
    folder.mkdir()
    words = ["the sea", "a ship sails on the sea", "the wind is strong", "on the shore a child plays", "ships come home"]
    with (folder / "tokenizer.model").open("wb") as file:
        SentencePieceTrainer.train(
            sentence_iterator=iter(words * 20), model_writer=file, model_type="bpe", vocab_size=VOCABULARY, byte_fallback=True,
            normalization_rule_name="identity", remove_extra_whitespaces=False, add_dummy_prefix=False, hard_vocab_limit=False,
            pad_id=0, bos_id=1, eos_id=2, unk_id=3, pad_piece="<pad>",
        )  # fmt: skip


@pytest.fixture
def experiment(tmp_path: Path) -> Iterator[tuple[Path, Plan]]:
    """A folder with the results that the two files read."""
    plan = made(TINY)
    for name, block in {"evaluate": evaluate_config(plan), "predict": predict_config(plan)}.items():
        (tmp_path / f"{name}.yaml").write_bytes(to_yaml(written(block)))
    for name in ("base", "merged"):
        (tmp_path / name).mkdir()
        weights.save(tmp_path / name / "model.safetensors", random_weights())
    write_tokenizer(tmp_path / "tokenizer")
    yield tmp_path, plan


def run(folder: Path, *command: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "LOG_MF_PATH": str(folder / "log"), "OMP_NUM_THREADS": "2"}
    done = subprocess.run([sys.executable, *command], cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_evaluation_is_the_perplexity_of_the_base(experiment: tuple[Path, Plan]) -> None:
    folder, _ = experiment
    ids = np.random.default_rng(3).integers(4, VOCABULARY, (ROWS, LENGTH + 1))
    np.save(folder / "rows.npy", ids)
    write = (
        "import numpy as np\nfrom pathlib import Path\nfrom runtime.data import mindrecord\n"
        "folder = Path('packed/pretrain'); folder.mkdir(parents=True)\n"
        "rows = {'input_ids': np.load('rows.npy')}\n"
        "mindrecord.write(folder, 'validation', [rows], columns=('input_ids',), estimated_bytes=10000)"
    )
    run(folder, "-c", write)
    found = re.search(r"'PPL': ([0-9.]+)", run(folder, str(HERE / "running.py"), "evaluate.yaml"))
    assert found
    assert float(found[1]) == pytest.approx(perplexity(ids), rel=1e-4)


def perplexity(ids: np.ndarray) -> float:
    config = {"num_heads": 2, "rms_norm_eps": 1e-6, "hidden_size": 32, "num_layers": 2, "theta": 10000.0}
    scores = logits(random_weights(), config, ids)[:, :-1]
    log_probabilities = scores - np.log(np.exp(scores).sum(-1, keepdims=True))
    return float(np.exp(-np.take_along_axis(log_probabilities, ids[:, 1:, None], -1).mean()))


def test_prediction_is_the_greedy_answer_of_the_merged_model(experiment: tuple[Path, Plan]) -> None:
    folder, _ = experiment
    printed = run(folder, str(HERE / "running.py"), "predict.yaml", PROMPT)
    answer = next(line for line in printed.splitlines() if line.startswith("ANSWER"))
    pieces = SentencePieceProcessor(model_file=str(folder / "tokenizer" / "tokenizer.model"))
    ids = [1, *pieces.encode(PROMPT)]
    config = {"num_heads": 2, "rms_norm_eps": 1e-6, "hidden_size": 32, "num_layers": 2, "theta": 10000.0}
    while len(ids) < LENGTH and ids[-1] != 2:
        ids.append(int(logits(random_weights(), config, np.asarray([ids]))[0, -1].argmax()))
    told = ast.literal_eval(answer.removeprefix("ANSWER "))[0]["text_generation_text"][0]
    assert told == pieces.decode([one for one in ids if one > 2])
