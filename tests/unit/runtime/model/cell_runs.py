"""Updates by the training cell on a CPU, in a process of its own.

    python cell_runs.py RESULT.json

writes what came out of the runs that test_training_cell.py judges.
"""

import json
import sys
from pathlib import Path
from typing import Any

import mindspore as ms
import numpy as np
from mindformers.core.optim import AdamW
from mindformers.models.llama import LlamaConfig, LlamaForCausalLM
from mindspore import nn, ops

from runtime.model.training_cell import CpuTrainOneStepCell, counted_tokens, micro_batches

ROWS, LENGTH, VOCABULARY, UPDATES = 8, 16, 64, 6


def network(compute: str = "float32") -> Any:
    ms.set_seed(3)
    np.random.seed(3)
    config = LlamaConfig(
        batch_size=ROWS, seq_length=LENGTH, hidden_size=32, num_layers=2, num_heads=2, vocab_size=VOCABULARY, intermediate_size=48,
        pad_token_id=0, ignore_token_id=-100, compute_dtype=compute, layernorm_compute_type="float32", softmax_compute_type="float32",
        rotary_dtype="float32", param_init_type="float32", use_flash_attention=False, use_rope_slice=True, fused_rms_norm=False,
    )  # fmt: skip
    made: Any = LlamaForCausalLM(config)
    return made.set_train(True)


def ragged() -> list[tuple[np.ndarray, ...]]:
    """Batches of rows with 1 to 16 trained tokens, one row with none, one with padding."""
    random = np.random.default_rng(0)
    batches = []
    for _ in range(UPDATES):
        ids = random.integers(3, VOCABULARY, (ROWS, LENGTH + 1)).astype(np.int32)
        masked = np.arange(LENGTH + 1) < random.integers(1, LENGTH + 1, ROWS)[:, None]
        masked[4] = True
        ids[1, 10:] = 0
        batches.append((ids, np.where(masked, -100, ids).astype(np.int32)))
    return batches


def train(model: Any, batches: list[tuple[np.ndarray, ...]], rate: float = 1.0e-3, **settings: Any) -> dict[str, Any]:
    """Outputs of every update (loss, overflow, scale, rate, norm) and the weights after each."""
    optimizer = AdamW(model.trainable_params(), learning_rate=rate, weight_decay=0.1)
    cell: Any = CpuTrainOneStepCell(model, optimizer, use_clip_grad=True, **settings)
    cell.set_train(True)
    outputs, weights = [], []
    for batch in batches:
        made = cell(*tensors(batch))
        outputs.append([float(value.asnumpy().reshape(-1)[0]) for value in made])
        weights.append([parameter.asnumpy().astype(float).reshape(-1).tolist() for parameter in model.trainable_params()])
    return {"outputs": outputs, "weights": weights, "saved": [name for name in cell.parameters_dict() if "accu_grads" not in name]}


class RowLoss(nn.Cell):
    """Mean over counted tokens of w x the first id of their row: rows of known loss and known numbers of tokens."""

    pad_token_id, ignore_token_id = 0, -100

    def __init__(self) -> None:
        super().__init__()
        self.w = ms.Parameter(ms.Tensor([1.0], ms.float32), name="w")

    def construct(self, ids: ms.Tensor, labels: ms.Tensor) -> Any:
        counted: Any = ops.cast(labels[:, 1:] != -100, ms.float32)
        first: Any = ops.cast(ids[:, :1], ms.float32)
        return ops.div(ops.reduce_sum(counted * first * self.w), ops.reduce_sum(counted))


def two_rows() -> tuple[np.ndarray, ...]:
    """Losses 1.0 and 3.0 over 11 and 101 trained tokens."""
    ids = np.broadcast_to(np.array([[1], [3]], np.int32), (2, 102)).copy()
    return ids, np.where(np.arange(102) > np.array([[90], [0]]), ids, -100).astype(np.int32)


def denominators(batch: tuple[np.ndarray, ...]) -> dict[str, list[int]]:
    """Tokens that the network itself divides by, and those that are counted for it, of each micro batch; with and without labels."""
    model = network()
    model.loss.calculate_per_token_loss = True
    parts = [columns[:count] for columns in micro_batches(batch, 4) for count in (1, 2)]
    return {
        "network": [round(float(divided(model, part).asnumpy().reshape(-1)[0])) for part in parts],
        "counted": [counted_tokens(part, 0, -100) for part in parts],
    }


def divided(model: Any, part: tuple[np.ndarray, ...]) -> Any:
    """The denominator of the network's loss."""
    both: Any = model(*tensors(part))
    return both[1]


def tensors(batch: tuple[np.ndarray, ...]) -> list[Any]:
    return [ms.Tensor(column) for column in batch]


def dynamic(initial: float, window: int = 1000) -> Any:
    return nn.DynamicLossScaleUpdateCell(initial, 2, window)


def main(result: Path) -> None:
    ms.set_context(mode=0, device_target="CPU")
    batches, ids_only = ragged(), [(ids,) for ids, _ in ragged()]
    made = {
        "once": train(network(), batches, max_grad_norm=0.5),
        "twice": train(network(), batches, max_grad_norm=0.5, accumulation=2),
        "each row": train(network(), batches, max_grad_norm=0.5, accumulation=ROWS),
        "ids once": train(network(), ids_only, max_grad_norm=0.5),
        "ids twice": train(network(), ids_only, max_grad_norm=0.5, accumulation=4),
        "scaled": train(network(), batches, max_grad_norm=0.5, accumulation=2, scale_sense=dynamic(1024.0, 3)),
        "rows at once": train(RowLoss(), [two_rows()], max_grad_norm=100.0),
        "rows apart": train(RowLoss(), [two_rows()], max_grad_norm=100.0, accumulation=2),
        "overflow": train(network("float16"), batches, max_grad_norm=0.5, accumulation=2, scale_sense=dynamic(2.0**24)),
        "denominators": denominators(batches[0]),
    }
    result.write_text(json.dumps(made))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
