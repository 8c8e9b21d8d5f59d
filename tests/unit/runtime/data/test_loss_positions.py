"""What mindformers' Llama scores in training, against NumPy over exactly the label positions that the packed rows state."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dialogue_samples import filled
from samples import texts

from runtime.data.chat import Message, Template, ids_of, labels_of, render
from runtime.data.encoding import Vocabulary
from runtime.data.rows import RowCutter, Stream, document_ids, scored

SEQ_LENGTH = 48


@pytest.fixture(scope="module")
def model(vocabulary: Vocabulary) -> Any:
    import mindspore

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # mindformers imports jieba, whose source Python 3.11 warns about
        from mindformers.models.llama import LlamaConfig, LlamaForCausalLM

    mindspore.set_context(mode=mindspore.GRAPH_MODE, device_target="CPU")
    mindspore.set_seed(3)
    types = dict.fromkeys(("compute_dtype", "param_init_type", "layernorm_compute_type", "softmax_compute_type", "rotary_dtype"), "float32")
    sizes = {"num_layers": 1, "num_heads": 2, "hidden_size": 32, "intermediate_size": 64, "seq_length": SEQ_LENGTH, "batch_size": 2}
    on_cpu = {"use_flash_attention": False, "use_rope_slice": True, "fused_rms_norm": False}
    ids = {"pad_token_id": vocabulary.pad, "bos_token_id": vocabulary.bos, "eos_token_id": vocabulary.eos, "vocab_size": vocabulary.size}
    return LlamaForCausalLM(LlamaConfig(**types, **sizes, **on_cpu, **ids))


def losses(model: Any, ids: np.ndarray, *labels: np.ndarray) -> tuple[float, np.ndarray]:
    """(the loss that training sees, log-probabilities of all tokens at positions 0 ... seq_length - 1)."""
    from mindspore import Tensor

    model.set_train(True)
    loss = float(model(*(Tensor(column.astype(np.int32)) for column in (ids, *labels))).asnumpy().item())
    model.set_train(False)
    logits = model(Tensor(ids[:, :-1].astype(np.int32)))[0].asnumpy().astype(np.float64)
    return loss, logits - np.log(np.exp(logits).sum(-1, keepdims=True))


def mean_loss(log_probabilities: np.ndarray, labels: np.ndarray, positions: np.ndarray) -> float:
    wanted = np.where(positions, labels[:, 1:], 0)[..., None]
    return float(-np.take_along_axis(log_probabilities, wanted, -1)[..., 0][positions].mean())


@pytest.mark.slow
def test_dialogues_are_scored_at_their_labels_and_nowhere_else(
    model: Any, template: Template, vocabulary: Vocabulary, tmp_path: Path
) -> None:
    packed = []
    for asked, answer in (("fox?", "lazy dogs"), ("第一只狐狸", "是")):
        row = render(template, vocabulary, [Message("user", asked), Message("assistant", answer)])
        packed.append({"input_ids": ids_of(row), "labels": labels_of(row)})
    ids, labels = filled(packed, SEQ_LENGTH + 1, vocabulary.pad)
    positions = scored(ids, labels, vocabulary.pad)
    assert positions.sum() == sum(len(vocabulary.encode(answer)) + 1 for answer in ("lazy dogs", "是"))
    loss, log_probabilities = losses(model, ids, labels)
    assert loss == pytest.approx(mean_loss(log_probabilities, labels, positions), abs=1e-5)
    shifted = np.roll(positions, 1, axis=1)
    assert abs(loss - mean_loss(log_probabilities, np.where(labels < 0, 0, labels), shifted)) > 1e-4


@pytest.mark.slow
def test_dialogues_of_one_row_are_scored_at_their_answers_and_attention_crosses(
    model: Any, template: Template, vocabulary: Vocabulary
) -> None:
    made = []
    for asked, answer in (("f", "o"), ("a", "n")):
        row = render(template, vocabulary, [Message("user", asked), Message("assistant", answer)])
        made.append({"input_ids": ids_of(row), "labels": labels_of(row)})
    ids, labels = (np.repeat(one, 2, axis=0) for one in filled(made, SEQ_LENGTH + 1, vocabulary.pad, [[0, 1]]))
    positions = scored(ids, labels, vocabulary.pad)
    assert positions[0].sum() == sum(len(vocabulary.encode(answer)) + 1 for answer in ("o", "n"))
    assert not positions[0, len(made[0]["input_ids"]) - 1], "the end of one dialogue does not predict the next"
    loss, log_probabilities = losses(model, ids, labels)
    assert loss == pytest.approx(mean_loss(log_probabilities, labels, positions), abs=1e-5)
    changed = ids.copy()
    changed[:, 3] = (changed[:, 3] + 1) % vocabulary.size
    second = len(made[0]["input_ids"])
    assert not np.allclose(losses(model, changed, labels)[1][:, second:-1], log_probabilities[:, second:-1])


@pytest.mark.slow
def test_packed_text_is_scored_at_all_positions_and_sees_the_document_before(model: Any, vocabulary: Vocabulary) -> None:
    cutter = RowCutter(SEQ_LENGTH)
    rows = np.concatenate([block.ids for block in cutter.add(Stream.of(document_ids(vocabulary, text) for text in texts(6)))])[:2]
    loss, log_probabilities = losses(model, rows)
    assert loss == pytest.approx(mean_loss(log_probabilities, rows, np.ones((2, SEQ_LENGTH), bool)), abs=1e-5)
    changed = rows.copy()
    changed[:, 1] = (changed[:, 1] + 1) % vocabulary.size
    assert vocabulary.eos in rows[0, 2:-1]
    assert not np.allclose(losses(model, changed)[1][:, -1], log_probabilities[:, -1])
